"""Python functions that judge: finding them, their kind of prompt, and their version, which shows changes."""

import contextlib
import functools
import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal

from rubric_order.base.errors import InputError
from rubric_order.base.plugins import code_of_others
from rubric_order.judging.engines.failures import one_line
from rubric_order.settings.judges.python_functions import OF_SOURCE, PythonCallable

Function = Callable[[Any], Any]

ABSENT = object()
MESSAGES = "messages"  # name of the first parameter of a function that takes messages


def find(judge: PythonCallable) -> Function:
    """Import the function of a judge, from the installed packages or else `PythonCallable.folder`, which stays on the
    path. What the module prints goes to the standard error, and a change of the working directory is undone.
    """
    name, _, attributes = judge.function.partition(":")
    folder = os.path.abspath(judge.folder)
    if folder not in sys.path:
        sys.path.append(folder)
    importlib.invalidate_caches()
    expected = "expected module:name of a function of one argument"
    try:
        with contextlib.redirect_stdout(sys.stderr), contextlib.chdir(os.curdir):
            target: Any = importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `sys.exit` would end the program
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{name}.".startswith(f"{missing}."):
            places = f"neither among the installed packages nor in {folder}"
            raise InputError(f"function: {judge.function!r}: no module {missing!r}, {places}; {expected}") from None
        reason = f"{type(error).__name__}: {one_line(str(error))}"
        raise InputError(f"function: {judge.function!r}: module {name!r} cannot be imported: {reason}") from error
    for attribute in attributes.split("."):
        with code_of_others(f"function: {judge.function!r}: {attribute!r} of {name!r}"):
            target = getattr(target, attribute, ABSENT)
        if target is ABSENT:
            raise InputError(f"function: {judge.function!r}: {name!r} has no {attribute!r}; {expected}")
        name = f"{name}.{attribute}"
    if not callable(target):
        raise InputError(f"function: {judge.function!r}: {expected}, found {target!r:.80}")
    takes(target, judge.function)
    return target


def takes(function: Function, name: str) -> Literal["prompt", "messages"]:
    """``messages`` if the first parameter has this name, else ``prompt``; an InputError if one argument is not
    enough.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a function in another language may have no signature
        return "prompt"
    try:
        signature.bind("prompt")
    except TypeError as error:
        expected = f"expected a function that can be called with one argument, found {signature!s:.80}"
        raise InputError(f"function: {name!r}: {expected}: {error}") from None
    return "messages" if next(iter(signature.parameters)) == MESSAGES else "prompt"


def is_async(function: Function) -> bool:
    """True if a call of a function returns an awaitable, as far as this is known without a call."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def version(function: Function, module: str, name: str) -> str:
    """A function's own ``__version__``, or a digest of the source files of the module in which it was found and the one
    in which it was written. Imported modules do not count.
    """
    declared = getattr(function, "__version__", None)
    if isinstance(declared, str | int | float) and str(declared).strip():
        return str(declared).strip()
    written = getattr(function, "__module__", None) if inspect.isfunction(function) else None
    sources = [_source(sys.modules.get(place), name) for place in dict.fromkeys((module, written or module))]
    digest = hashlib.blake2b("\0".join(sources).encode(), digest_size=16)
    return f"{OF_SOURCE}{digest.hexdigest()}"


def _source(module: ModuleType | None, name: str) -> str:
    path = getattr(module, "__file__", None)
    try:
        if path is None:
            raise OSError
        source = inspect.getsourcefile(module) if module is not None else None
        return Path(source or path).read_text(encoding="utf-8").replace("\r\n", "\n")
    except (OSError, TypeError, UnicodeDecodeError):
        expected = "expected a version, in the settings or as its __version__"
        raise InputError(f"function: {name!r}: its module has no source file to be known by; {expected}") from None


def is_as_written(function: Function) -> bool:
    """True if a function's code is found in its module's present source file: not if the file has changed since its
    import, or modules are rewritten on import.
    """
    written = inspect.unwrap(function)
    source = _source(sys.modules.get(written.__module__), written.__module__)
    pending = [compile(source, "", "exec", dont_inherit=True)]
    while pending:
        code = pending.pop()
        if code == written.__code__:
            return True
        pending += (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return False


def resolved(judge: PythonCallable, function: Function) -> PythonCallable:
    known_version = judge.version or version(function, judge.function.partition(":")[0], judge.function)
    return judge.resolved(takes=takes(function, judge.function), version=known_version)
