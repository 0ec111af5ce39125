"""Command lines of the entry scripts, made from the signature of their job."""

import argparse
import errno
import inspect
import json
import logging
import os
import re
import sys
import threading
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rubric_order.base import signals
from rubric_order.base.errors import InputError, printable

log = logging.getLogger("rubric_order")

LEFT_SECONDS = 15.0  # time in which threads that code of others has left can end after `main`
_left = threading.Event()  # set where there may be such threads

# Errors about the path of an output: it leads through a file, is a folder, is too long, or its folder does not exist.
OF_A_PATH = {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOENT, errno.ENAMETOOLONG}
OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}  # faults of the disk, not bugs


def run(main: Callable[..., object]) -> None:
    """Call `main` with the options of the command line, one per parameter that is no keyword, read as annotated.

    ``dict[str, Path]``: words ``name=path``. ``dict[str, list[Path]]``: a name and its paths, option repeated. Another
    ``dict``, or a named tuple: a file of JSON, or JSON itself. A class with ``from_file``: a path. Lists: several
    words. All else: one word.
    """
    begin()
    _left.clear()  # what ran in this process before is no part of `main`
    status = 1
    try:
        arguments = vars(parser(main).parse_args())
        try:
            main(**arguments)
            status = 0
        except SystemExit as end:  # our own code gives a message
            sys.exit(end.code or "error: code of another package has called sys.exit, and the job is not done")
    except InputError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        if error.errno not in OF_THE_DISK:
            raise
        sys.exit(f"error: {told(error)}")
    except KeyboardInterrupt:
        sys.exit("ended on request")
    finally:
        if _left.is_set():
            leave = threading.Timer(LEFT_SECONDS, os._exit, (status,))
            leave.daemon = True
            leave.start()


def leave_threads() -> None:
    """Let this program end after `run` even if threads go on, as where code of others has begun them."""
    _left.set()


def parser(main: Callable[..., object]) -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=inspect.getdoc(main))
    for name, parameter in inspect.signature(main).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:  # for callers in Python
            continue
        required = parameter.default is inspect.Parameter.empty
        default = None if required else parameter.default
        option = f"--{name.replace('_', '-')}"
        options.add_argument(option, required=required, default=default, **_reader(parameter.annotation))
    return options


def begin() -> None:
    """Log to the standard error, and end at the first signal."""
    log_to_stderr(logging.INFO)
    signals.end_once()  # SIGTERM comes from a scheduler or at the time limit


def log_to_stderr(level: int) -> None:
    """Log to the standard error: messages of this program at `level` or above, and warnings of libraries."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Printable("%(asctime)s %(message)s", datefmt="%H:%M:%S"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    log.setLevel(level)


class _Printable(logging.Formatter):
    """Lines of a log that goes to a terminal. A line may quote answers and names, so unseen characters are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def told(error: OSError) -> str:
    """Message of the system about a file or folder, on one line."""
    path = error.filename2 or error.filename  # if there are two names, the second is the output
    return printable(f"{f'{path}: ' if path else ''}{os.strerror(error.errno or 0)}")


def _reader(annotation: Any) -> dict[str, Any]:
    if annotation in (list[Path], list[str]):
        return {"type": typing.get_args(annotation)[0], "nargs": "*"}
    if annotation == dict[str, Path]:
        return {"type": _named_path, "nargs": "*", "action": _Named}
    if annotation == dict[str, list[Path]]:
        return {"nargs": "+", "action": _Grouped}
    if annotation == Path | None:
        return {"type": _optional_path, "nargs": "?"}
    kind = typing.get_origin(annotation) or annotation
    if kind is dict or hasattr(kind, "_fields"):
        return {"type": lambda text: kind(**_settings(text))}
    return {"type": getattr(annotation, "from_file", annotation)}


def _settings(text: str) -> dict[str, Any]:
    """Settings from a file, or from JSON. A file holds long or private ones: all users can see command lines."""
    try:
        content = json.loads(text if text.startswith("{") else Path(text).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text:.200}: expected JSON or a file of JSON: {error}") from None
    if not isinstance(content, dict):
        raise argparse.ArgumentTypeError(f"{text:.200}: expected a mapping, found {content!r:.60}")
    return content


class _Named(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, dict(values))


class _Grouped(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        name, *paths = values
        setattr(namespace, self.dest, (getattr(namespace, self.dest) or {}) | {name: [Path(path) for path in paths]})


def _optional_path(text: str) -> Path | None:
    return Path(text) if text else None


def _named_path(text: str) -> tuple[str, Path]:
    name, _, path = text.partition("=")
    return name, Path(path)


def is_asked_for(pattern: str, variable: str) -> bool:
    """True if `pattern` matches a word of this program's command line, or of that of the program that started it.

    Snakemake starts programs for single jobs without naming its targets: the environment variable `variable` says so.
    """
    if any(re.fullmatch(pattern, word) for word in sys.argv[1:]):
        os.environ[variable] = "1"
    return variable in os.environ
