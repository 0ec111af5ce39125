"""Results that a config can name: the results of the catalogue, and the results that other packages register.

A package registers a result by an entry point. The name of the entry point is the name of the result, and its object is
a `catalogue.Result`. Nothing of a package is imported before its result is asked for. Then only its record is imported.
The modules that estimate and show the result are parsed, not imported.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from rubric_order import catalogue
from rubric_order.base import code_hash, plugins
from rubric_order.base.errors import InputError, nearest
from rubric_order.catalogue import Result, Shown, Statistic

Kind: TypeAlias = Literal["statistics", "tables", "figures"]

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
CITED = re.compile(r"@([\w:-]+)")  # a citation key in `Statistic.methods`
OURS: Mapping[Kind, Mapping[str, Statistic] | Mapping[str, Shown]] = {
    "statistics": catalogue.STATISTICS,
    "tables": catalogue.TABLES,
    "figures": catalogue.FIGURES,
}
SHOWN: tuple[Kind, ...] = ("figures", "tables")  # kinds of results that a reader sees


def _reserved() -> set[str]:
    """Names that no package may register: names of our results, and of other inputs of statistics."""
    return {"scores", *catalogue.INPUTS, *(name for ours in OURS.values() for name in ours)}


RECORDS: plugins.Records[Result] = plugins.Records(plugins.RESULTS, Result, _reserved)


@functools.cache
def ours(kind: Kind) -> tuple[str, ...]:
    """Names of our results of a kind, in the order of their records."""
    return tuple(sorted(OURS[kind], key=lambda name: catalogue.result(name).order))


def names(kind: Kind) -> tuple[str, ...]:
    """Names of our results of a kind, then of all results of other packages, with or without a record of this kind."""
    return (*ours(kind), *(name for name in RECORDS.names() if name not in OURS[kind]))


def is_other(name: str) -> bool:
    """True if another package registers a result of this name."""
    return name in RECORDS.names()


def statistic(name: str) -> Statistic:
    """A statistic by its name.

    Raises:
        InputError: see `load`; or no result has this name.
    """
    entry = _entry("statistics", name)
    assert isinstance(entry, Statistic)
    return entry


def shown(kind: Kind, name: str) -> Shown:
    """A table or a figure by its name.

    Raises:
        InputError: see `load`; or no result has this name.
    """
    entry = _entry(kind, name)
    assert isinstance(entry, Shown)
    return entry


def _entry(kind: Kind, name: str) -> Statistic | Shown:
    RECORDS.check(name)
    if name in OURS[kind]:
        return OURS[kind][name]
    if not is_other(name):
        raise InputError(f"{name!r:.80} is no {catalogue.RECORDS[kind]}; expected one of {', '.join(ours(kind))}")
    record = load(name)
    entry: Statistic | Shown | None = catalogue.complete(record.value, kind, name)
    if entry is None:
        raise InputError(f"{record.where}: it has no {catalogue.RECORDS[kind]}")
    return entry


def module(kind: Kind, name: str) -> str:
    """Dotted name of the module that makes a result."""
    if not is_other(name):
        return catalogue.module(kind, name)
    _entry(kind, name)
    return f"{load(name).value.folder}.{catalogue.MODULES[kind]}"


def code(kind: Kind, name: str) -> str:
    """The module that makes a result, in the form that `code_version` takes."""
    return module(kind, name) if is_other(name) else catalogue.module_file(kind, name)


def caption(kind: Kind, name: str) -> str:
    """Caption and notes of a table or figure, with fields for settings still to be filled in."""
    entry = shown(kind, name)
    if entry.caption:
        return " ".join(text for text in (entry.caption, entry.notes) if text)
    path = code_hash.module_file(module(kind, name))
    assert path is not None  # `load` has read it
    return str(code_hash.constant(path, "CAPTION"))


def probes(statistics: Iterable[str]) -> set[str]:
    """The probes whose scores the given statistics read, directly or through other statistics."""
    return {probe for name in behind(statistics) for probe in statistic(name).probes}


def behind(statistics: Iterable[str]) -> list[str]:
    """The given statistics, and the statistics that they read, directly or through others."""
    every: dict[str, None] = {}
    pending = [*statistics]
    while pending:
        name = pending.pop(0)
        if name not in every:
            every[name] = None
            pending += [other for other in statistic(name).reads if other not in catalogue.INPUTS]
    return [*every]


@functools.cache
def load(name: str) -> plugins.Record[Result]:
    """The record of a result of another package.

    Raises:
        InputError: the name is registered by no package or by several, or is the name of one of our results; the object
            cannot be imported or is no record; a module or a part of a module is missing; or the record names something
            that does not exist. The message names the package.
    """
    record = RECORDS.load(name)
    problem = next(_problems(name, record.value), None)
    if problem is not None:
        raise InputError(f"{record.where}: {problem}")
    return record


def _problems(name: str, result: Result) -> Iterator[str]:
    if not NAME.fullmatch(name):
        yield f"expected a name of small letters, digits and single underscores, found {name!r:.80}"
    parts: dict[Kind, Statistic | Shown | None] = {kind: catalogue.complete(result, kind, name) for kind in OURS}
    entries = {kind: entry for kind, entry in parts.items() if entry is not None}
    if not entries:
        yield "expected a statistic, a table or a figure, found none"
    for kind, entry in entries.items():
        wanted = Statistic if kind == "statistics" else Shown
        if not isinstance(entry, wanted):
            yield f"{catalogue.RECORDS[kind]}: expected a catalogue.{wanted.__name__}, found {entry!r:.80}"
            return
        expected = names("statistics")
        statistics = [one for one in entry.reads if one not in catalogue.INPUTS] if isinstance(entry, Statistic) else []
        for key, used in (("statistics", entry.statistics),) if isinstance(entry, Shown) else (("reads", statistics),):
            for other in used:
                if other not in expected:
                    yield f"{catalogue.RECORDS[kind]}: {key}: {other!r:.80} is no statistic{nearest(other, expected)}"
        if isinstance(entry, Shown) and not (entry.category and entry.title):
            yield f"{catalogue.RECORDS[kind]}: expected a category and a title, found {entry[1:3]!r:.80}"
        for argument in entry.derived:
            if argument not in catalogue.DERIVED:
                listed = ", ".join(catalogue.DERIVED)
                yield f"{catalogue.RECORDS[kind]}: derived: {argument!r:.80} is not one of {listed}"
        wanted_names = catalogue.PARTS[kind] if getattr(entry, "caption", kind) else ("CAPTION", *catalogue.PARTS[kind])
        yield from _problems_of_module(f"{result.folder}.{catalogue.MODULES[kind]}", wanted_names)
    keys = re.findall(r"^@\w+\{([^,\s]+),", result.references, re.MULTILINE)
    for key in CITED.findall(result.statistic.methods) if result.statistic else ():
        if key not in keys:
            yield f"statistic: methods: {key!r:.80} is cited; expected an entry of this key in references"


def _problems_of_module(module: str, parts: Iterable[str]) -> Iterator[str]:
    """Problems of a module of a result: it is missing, cannot be parsed, or lacks parts."""
    try:
        with plugins.code_of_others(f"module {module!r} cannot be read"):
            path = code_hash.module_file(module)
            body = [] if path is None else ast.parse(path.read_bytes()).body
    except InputError as error:
        yield str(error)
        return
    if path is None:
        yield f"module {module!r} is missing"
        return
    missing = [part for part in parts if part not in {name for node in body for name in _defined(node)}]
    if missing:
        yield f"module {module!r} lacks {', '.join(missing)}"
    elif "CAPTION" in parts:
        try:
            code_hash.constant(path, "CAPTION")
        except ValueError:
            yield f"module {module!r}: CAPTION: expected a plain text, found something that is computed"


def _defined(node: ast.stmt) -> Iterator[str]:
    """Names that a statement of a module defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases)
