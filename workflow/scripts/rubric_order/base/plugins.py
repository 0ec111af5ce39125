"""Classes that packages add by entry points: probes, adapters of datasets, importers of recorded answers, engines.

An entry point names a class, such as ``letter_order = my_package.letters:LetterOrder`` in group
``rubric_order.probes``. Ours stand in ``entry_points.txt`` of this library, in the form that the metadata of every
installed package have, and nowhere else: setuptools copies the file into the metadata of the library (``dynamic`` in
pyproject.toml). The file is read also where the library is installed, and the copy is left alone. The workflow runs
without being installed, and an editable install keeps the copy of the day on which it was made.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from rubric_order.base.errors import InputError, nearest

if TYPE_CHECKING:
    from importlib import metadata

OURS = "rubric-order"

Plugin = TypeVar("Plugin")


class Plugins(Generic[Plugin]):
    """Classes of one group of entry points, by name.

    Attributes:
        group: name of the group.
        base: abstract class that each of them inherits.
    """

    def __init__(self, group: str, base: type) -> None:
        self.group = group
        self.base = base

    def names(self) -> tuple[str, ...]:
        """Names of the classes: ours in the order of their file, then others, sorted. No module is imported."""
        return tuple(dict.fromkeys(entry.name for _, entry in _entries(self.group)))

    def module(self, name: str) -> str:
        """Dotted name of the module of a class, as `code_version` takes it.

        A class of another package is loaded, so that what is wrong with it is said before any job runs. Ours are not
        loaded: some take long.

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
            InputError: no package or several register the name, or the class cannot be imported, does not inherit the
                base, or lacks something that the base asks for.
        """
        package, entry = self._entry(name)
        base = f"{self.base.__module__}.{self.base.__qualname__}"
        expected = f"package {package}: entry point {name!r} of {self.group}: expected a subclass of {base}"
        try:
            plugin: Any = entry.load()
        except Exception as error:
            if package == OURS:
                raise  # a defect of the program, which keeps its traceback
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{expected}, but {entry.value!r} cannot be imported: {reason}") from error
        if not (isinstance(plugin, type) and issubclass(plugin, self.base)):
            raise InputError(f"{expected}, found {plugin!r:.80} in {entry.value!r}")
        missing = sorted(getattr(plugin, "__abstractmethods__", ()))
        missing += [attribute for attribute in self.base.__annotations__ if not hasattr(plugin, attribute)]
        if missing:
            raise InputError(f"{expected} with all that it asks for, but {entry.value!r} lacks {', '.join(missing)}")
        return cast(type[Plugin], plugin)

    def _entry(self, name: str) -> tuple[str, metadata.EntryPoint]:
        """Package and entry point of a name."""
        entries = [(package, entry) for package, entry in _entries(self.group) if entry.name == name]
        if not entries:
            known = ", ".join(map(repr, self.names()))
            raise InputError(f"{name!r:.80} is not one of {known}{nearest(name, self.names())}")
        if len(entries) > 1:
            packages = " and ".join(package for package, _ in entries)
            raise InputError(f"{name!r:.80} is registered in {self.group} by {packages}; expected one package")
        return entries[0]


@functools.cache
def _entries(group: str) -> tuple[tuple[str, metadata.EntryPoint], ...]:
    """Entry points of a group, each with the package that registers it: ours, and those of other installed packages."""
    from importlib import metadata  # slow to import

    ours = metadata.Distribution.at(Path(__file__).parents[1]).entry_points.select(group=group)
    installed = sorted(metadata.entry_points(group=group), key=lambda entry: entry.name)
    others = ((entry.dist.name if entry.dist else "", entry) for entry in installed)
    is_ours = re.compile(OURS.replace("-", "[-_.]"), re.IGNORECASE).fullmatch
    return (*((OURS, entry) for entry in ours), *((name, entry) for name, entry in others if not is_ours(name)))
