"""Additions by entry points: probes, adapters of datasets, importers of recorded answers, engines, records of results.

Ours, and the commands of the program, stand in ``entry_points.txt`` alone: the workflow runs uninstalled, and an
editable install keeps a stale copy.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from rubric_order.base.errors import InputError, nearest

if TYPE_CHECKING:
    from importlib import metadata

OURS = "rubric-order"
EXTRAS = "rubric_order.extras"  # group of what extras do for parts of the core
RESULTS = "rubric_order.results"  # group of the records of results

Plugin = TypeVar("Plugin")


class _Group:
    """Entry points of one group."""

    def __init__(self, group: str) -> None:
        self.group = group

    def names(self) -> tuple[str, ...]:
        """Names of the entry points: first ours in the order of their file, then others, sorted. Imports no module."""
        return tuple(dict.fromkeys(entry.name for _, entry in _entries(self.group)))

    def _packages(self, name: str) -> list[tuple[str, metadata.EntryPoint]]:
        return [(package, entry) for package, entry in _entries(self.group) if entry.name == name]

    def _refuse(self, name: str, packages: Collection[str]) -> InputError:
        return InputError(
            f"{name!r:.80} is registered in {self.group} by {' and '.join(packages)}; expected one package"
        )

    def _entry(self, name: str) -> tuple[str, metadata.EntryPoint]:
        entries = self._packages(name)
        if not entries:
            registered = ", ".join(map(repr, self.names()))
            raise InputError(f"{name!r:.80} is not one of {registered}{nearest(name, self.names())}")
        if len(entries) > 1:
            raise self._refuse(name, [package for package, _ in entries])
        return entries[0]

    def _load(self, name: str, wanted: str) -> tuple[Any, str, str]:
        """Object of an entry point, the entry point's value, and the beginning of a message about it."""
        package, entry = self._entry(name)
        expected = f"package {package}: entry point {name!r} of {self.group}: expected {wanted}"
        with code_of_others(None if package == OURS else f"{expected}, but {entry.value!r} cannot be imported"):
            return entry.load(), entry.value, expected


class Plugins(_Group, Generic[Plugin]):
    """Classes of one group of entry points, all of which inherit `base`."""

    def __init__(self, group: str, base: type) -> None:
        super().__init__(group)
        self.base = base

    def module(self, name: str) -> str:
        """Dotted name of a class's module. Classes of others are loaded, to find errors before any job; ours may load
        slowly.
        """
        package, entry = self._entry(name)
        if package != OURS:
            self.load(name)
        return entry.module

    def load(self, name: str) -> type[Plugin]:
        """Import a class, which must inherit the base and have all that the base requires."""
        plugin, value, expected = self._load(name, f"a subclass of {self.base.__module__}.{self.base.__qualname__}")
        if not (isinstance(plugin, type) and issubclass(plugin, self.base)):
            raise InputError(f"{expected}, found {plugin!r:.80} in {value!r}")
        missing = sorted(getattr(plugin, "__abstractmethods__", ()))
        missing += [attribute for attribute in self.base.__annotations__ if not hasattr(plugin, attribute)]
        if missing:
            raise InputError(f"{expected} with all that it asks for, but {value!r} lacks {', '.join(missing)}")
        return cast(type[Plugin], plugin)


class Record(NamedTuple, Generic[Plugin]):
    """A registered record, the package and its version; `where` begins messages about it."""

    value: Plugin
    package: str
    version: str
    where: str


class Records(_Group, Generic[Plugin]):
    """Records of one group without our own, whose names, from `ours`, no package may register."""

    def __init__(self, group: str, kind: type[Plugin], ours: Callable[[], Collection[str]]) -> None:
        super().__init__(group)
        self.kind, self.ours = kind, ours

    def check(self, name: str) -> None:
        if others := [package for package, _ in self._packages(name) if name in self.ours()]:
            raise self._refuse(name, [OURS, *others])

    def load(self, name: str) -> Record[Plugin]:
        """Import a record of the group's kind."""
        self.check(name)
        record, value, expected = self._load(name, f"a record of {self.kind.__module__}.{self.kind.__qualname__}")
        if not isinstance(record, self.kind):
            raise InputError(f"{expected}, found {record!r:.80} in {value!r}")
        package, entry = self._entry(name)
        version = entry.dist.version if entry.dist else ""
        return Record(record, package, version, f"package {package}: entry point {name!r} of {self.group}")


def imported(module: str) -> ModuleType:
    """Import a module that makes a result, of ours or of another package, which an error names."""
    top = module.partition(".")[0]
    package = next((package for package, entry in _entries(RESULTS) if entry.module.partition(".")[0] == top), top)
    ours = top == __name__.partition(".")[0]
    with code_of_others(None if ours else f"package {package}: {module!r} cannot be imported"):
        return importlib.import_module(module)


@contextlib.contextmanager
def code_of_others(what: str | None) -> Iterator[None]:
    """Make an `InputError` of all that code of another package raises, as of ``sys.exit``, which would end the program.

    `what` begins the message; None for our own code, whose defects keep their traceback.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if what is None:
            raise
        raise InputError(f"{what}: {type(error).__name__}: {error}") from error


@functools.cache
def _entries(group: str) -> tuple[tuple[str, metadata.EntryPoint], ...]:
    """Entry points of a group, each with the package that registers it: ours, then those of other packages."""
    ours, installed = _every_entry()
    others = sorted(installed.select(group=group), key=lambda entry: entry.name)
    is_ours = re.compile(OURS.replace("-", "[-_.]"), re.IGNORECASE).fullmatch
    named = (((entry.dist and entry.dist.name) or "", entry) for entry in others)  # a half-written package has no name
    return (
        *((OURS, entry) for entry in ours.select(group=group)),
        *((name, entry) for name, entry in named if not is_ours(name)),
    )


@functools.cache
def _every_entry() -> tuple[metadata.EntryPoints, Any]:
    """Ours, and those of all installed packages, which takes milliseconds."""
    from importlib import metadata  # slow to import

    return _our_entries(), metadata.entry_points()


@functools.cache
def _our_entries() -> metadata.EntryPoints:
    from importlib import metadata  # slow to import

    return metadata.Distribution.at(Path(__file__).parents[1]).entry_points


def ours(group: str) -> dict[str, metadata.EntryPoint]:
    """Our own entry points of a group by name, in the order of their file."""
    return {entry.name: entry for entry in _our_entries().select(group=group)}


def forget() -> None:
    """Look for entry points anew, after packages have been installed."""
    _entries.cache_clear()
    _every_entry.cache_clear()
