"""Additions by entry points: probes, adapters of datasets, importers of recorded answers, engines and results.

An entry point names a class, such as ``letter_order = my_package.letters:LetterOrder`` in group
``rubric_order.probes``, or the record of a result (`catalogue.Result`).

Our own entry points are only in ``entry_points.txt`` of this library, in the form of the metadata of installed
packages. Our results are in `catalogue` instead. setuptools copies the file into the metadata of the library
(``dynamic`` in pyproject.toml), but the program never reads the copy: the workflow runs without being installed, and an
editable install keeps the copy of the day of the install.
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
RESULTS = "rubric_order.results"  # group of the records of results

Plugin = TypeVar("Plugin")


class _Group:
    """Entry points of one group.

    Attributes:
        group: name of the group.
    """

    def __init__(self, group: str) -> None:
        self.group = group

    def names(self) -> tuple[str, ...]:
        """Names of the entry points: first ours in the order of their file, then others, sorted. Imports no module."""
        return tuple(dict.fromkeys(entry.name for _, entry in _entries(self.group)))

    def _packages(self, name: str) -> list[tuple[str, metadata.EntryPoint]]:
        """The packages that register a name, each with its entry point."""
        return [(package, entry) for package, entry in _entries(self.group) if entry.name == name]

    def _refuse(self, name: str, packages: Collection[str]) -> InputError:
        """Error about a name that several packages register."""
        return InputError(
            f"{name!r:.80} is registered in {self.group} by {' and '.join(packages)}; expected one package"
        )

    def _entry(self, name: str) -> tuple[str, metadata.EntryPoint]:
        """Package and entry point of a name."""
        entries = self._packages(name)
        if not entries:
            registered = ", ".join(map(repr, self.names()))
            raise InputError(f"{name!r:.80} is not one of {registered}{nearest(name, self.names())}")
        if len(entries) > 1:
            raise self._refuse(name, [package for package, _ in entries])
        return entries[0]

    def _load(self, name: str, wanted: str) -> tuple[Any, str, str]:
        """The object of an entry point, the entry point's value, and the beginning of an error message about it.

        Args:
            wanted: description of the object that is expected.
        """
        package, entry = self._entry(name)
        expected = f"package {package}: entry point {name!r} of {self.group}: expected {wanted}"
        with code_of_others(None if package == OURS else f"{expected}, but {entry.value!r} cannot be imported"):
            return entry.load(), entry.value, expected


class Plugins(_Group, Generic[Plugin]):
    """Classes of one group of entry points.

    Attributes:
        group: name of the group.
        base: abstract class that all these classes inherit.
    """

    def __init__(self, group: str, base: type) -> None:
        super().__init__(group)
        self.base = base

    def module(self, name: str) -> str:
        """Dotted name of the module of a class, as `code_version` takes it.

        A class of another package is loaded, so that an error in it is found before any job runs. Our own classes are
        not loaded, because some take long to load.

        Raises:
            InputError: see `load`.
        """
        package, entry = self._entry(name)
        if package != OURS:
            self.load(name)
        return entry.module

    def load(self, name: str) -> type[Plugin]:
        """Import a class.

        Raises:
            InputError: no package or several packages register the name; or the class cannot be imported, does not
                inherit the base, or lacks something that the base requires.
        """
        plugin, value, expected = self._load(name, f"a subclass of {self.base.__module__}.{self.base.__qualname__}")
        if not (isinstance(plugin, type) and issubclass(plugin, self.base)):
            raise InputError(f"{expected}, found {plugin!r:.80} in {value!r}")
        missing = sorted(getattr(plugin, "__abstractmethods__", ()))
        missing += [attribute for attribute in self.base.__annotations__ if not hasattr(plugin, attribute)]
        if missing:
            raise InputError(f"{expected} with all that it asks for, but {value!r} lacks {', '.join(missing)}")
        return cast(type[Plugin], plugin)


class Record(NamedTuple, Generic[Plugin]):
    """A record that a package registers.

    Attributes:
        value: the record.
        package: name of the package.
        version: version of the package.
        where: beginning of a message about the record; it names package and entry point.
    """

    value: Plugin
    package: str
    version: str
    where: str


class Records(_Group, Generic[Plugin]):
    """Records of one group of entry points, without our own records.

    Attributes:
        group: name of the group.
        kind: class of the records.
        ours: function that returns the names of our own records, which no package may register.
    """

    def __init__(self, group: str, kind: type[Plugin], ours: Callable[[], Collection[str]]) -> None:
        super().__init__(group)
        self.kind, self.ours = kind, ours

    def check(self, name: str) -> None:
        """Check that no package registers a name of ours.

        Raises:
            InputError: a package registers the name. The message names the package.
        """
        if others := [package for package, _ in self._packages(name) if name in self.ours()]:
            raise self._refuse(name, [OURS, *others])

    def load(self, name: str) -> Record[Plugin]:
        """Import a record.

        Raises:
            InputError: no package or several packages register the name, or a record of ours has the name. Or the
                object cannot be imported or is no such record.
        """
        self.check(name)
        record, value, expected = self._load(name, f"a record of {self.kind.__module__}.{self.kind.__qualname__}")
        if not isinstance(record, self.kind):
            raise InputError(f"{expected}, found {record!r:.80} in {value!r}")
        package, entry = self._entry(name)
        version = entry.dist.version if entry.dist else ""
        return Record(record, package, version, f"package {package}: entry point {name!r} of {self.group}")


def imported(module: str) -> ModuleType:
    """Import a module that makes a result, of ours or of another package.

    Raises:
        InputError: a module of another package cannot be imported. The message names the package.
    """
    top = module.partition(".")[0]
    package = next((package for package, entry in _entries(RESULTS) if entry.module.partition(".")[0] == top), top)
    ours = top == __name__.partition(".")[0]
    with code_of_others(None if ours else f"package {package}: {module!r} cannot be imported"):
        return importlib.import_module(module)


@contextlib.contextmanager
def code_of_others(what: str | None) -> Iterator[None]:
    """Make an `InputError` of all that code of another package raises, as of ``sys.exit``, which would end the program.

    Args:
        what: beginning of the message; None for our own code, whose defects keep their traceback.
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
    """Entry points of our file, and entry points of all installed packages. Finding them takes milliseconds."""
    from importlib import metadata  # slow to import

    return metadata.Distribution.at(Path(__file__).parents[1]).entry_points, metadata.entry_points()


def forget() -> None:
    """Look for entry points anew, after packages have been installed."""
    _entries.cache_clear()
    _every_entry.cache_clear()
