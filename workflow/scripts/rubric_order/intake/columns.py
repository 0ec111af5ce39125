"""Columns of a table under the names that this project has for them, whatever names the file has."""

import csv
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import files
from rubric_order.base.errors import InputError, nearest
from rubric_order.intake.aliases import LIKELY, SHOWN_FIRST, SIDES

PAGE = "docs/audit.md"  # says what a file needs
PROBABILITY = re.compile(r"[pP]_(?P<label>\S{1,20})")
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
OF_JUDGE = re.compile("(?:llm_)?(?:judge|grader|evaluator|llm)_")  # begins columns of a judge: `judge_answer`


@dataclass(frozen=True)
class Columns:
    """Names that a file has for columns: by our name, its name or a path into a column, such as ``grading.score``.

    >>> Columns.parse(["item=sample_id,score=grading.score"]).names["score"]
    'grading.score'
    """

    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, texts: Iterable[str], option: str = "--columns") -> "Columns":
        """Names from texts such as ``item=sample_id,score=judge_score``; a name with a comma stands in quotes."""
        columns: dict[str, str] = {}
        for part in (part for text in texts for part in next(csv.reader([text], skipinitialspace=True), [])):
            name, sign, of_file = (word.strip() for word in part.partition("="))
            if not (name and sign and of_file):
                raise InputError(f"{option}: expected parts such as item=sample_id, found {part!r:.60}")
            if name in columns:
                raise InputError(f"{option}: {name!r:.60} stands twice; expected once")
            columns[name] = of_file
        return cls(columns).checked(option)

    @classmethod
    def given(cls, names: "Mapping[str, str] | Columns | None", others: Sequence[str] = ()) -> "Columns":
        """Names from the argument `columns` of a function; `others` are known besides the columns of reads."""
        return names if isinstance(names, cls) else cls(dict(names or {})).checked("columns", others)  # type: ignore[arg-type]

    def checked(self, option: str, others: Sequence[str] = ()) -> "Columns":
        """The names, after a check that each is known: a column of reads, or one of `others`."""
        expected = [*LIKELY, *others]
        for name in self.names:
            if name not in expected and not PROBABILITY.fullmatch(name):
                hint = nearest(name, expected)
                raise InputError(
                    f"{option}: {name!r:.60}: expected one of {', '.join(expected)} or p_1, p_2, ...{hint}"
                )
        return self


def fold(name: object) -> str:
    """A name in lower case, with underscores for blanks and hyphens.

    >>> fold(" Human-Score")
    'human_score'
    """
    return re.sub(r"[\s-]+", "_", str(name).strip()).lower()


def known(name: str) -> bool:
    """True for a name that this project has for a column."""
    match = PROBABILITY.fullmatch(name)
    return name in LIKELY or (match is not None and NUMBER.fullmatch(match["label"]) is not None)


def named(table: pd.DataFrame, columns: Columns, where: str | Path) -> pd.DataFrame:
    """A table with our names for columns that `columns` gives, or whose names become ours by `fold`; others stay."""
    taken: dict[str, Any] = {}
    absent = []
    for name, path in columns.names.items():
        series = _at(table, path)
        if series is None:
            absent.append(path)
        else:
            taken[name] = series
    if absent:
        raise InputError(f"{where}: {_not_there(absent, table)}")
    used = {id_of for path in columns.names.values() if (id_of := _column(table, path)) is not None}
    left = {}
    for name in table.columns:
        if name in taken:
            continue
        target = fold(name)
        if name not in used and name != target and target not in taken and target not in table and known(target):
            if target in left:
                first = next(other for other in table.columns if fold(other) == target)
                raise InputError(
                    f"{where}: columns {first!r:.60} and {name!r:.60} could both be {target!r}; say which one by"
                    f" --columns {target}=NAME"
                )
            left[target] = table[name]
        else:
            left[name] = table[name]
    return pd.DataFrame(left | taken, index=table.index) if (taken or [*left] != [*table.columns]) else table


def sides(table: pd.DataFrame) -> tuple[str, str] | None:
    """The two columns of candidates of a table of pairs, as the table names them; None if it has none."""
    by_fold = {fold(name): str(name) for name in table.columns}
    return next(((by_fold[a], by_fold[b]) for a, b in SIDES if a in by_fold and b in by_fold), None)


def shown_first(table: pd.DataFrame) -> str | None:
    """Column that names which of two columns' candidates was shown first; None if the table has none."""
    by_fold = {fold(name): str(name) for name in table.columns}
    return next((by_fold[name] for name in SHOWN_FIRST if name in by_fold), None) if sides(table) else None


def has_choices(table: pd.DataFrame) -> bool:
    """True for a table of choices: one with our columns of choices, or with columns that nearly all such logs have."""
    if "choice" in table:
        return "score" not in table or ("first" in table and ("second" in table or sides(table) is not None))
    if "score" in table:
        return False
    named_winner = any(fold(name) == "winner" for name in table.columns)
    pair = sides(table)
    return named_winner or ("ordering" not in table and pair is not None and len(pair[0]) > 1)  # `a` may be anything


def _column(table: pd.DataFrame, path: str) -> str | None:
    """The column that a path names or begins with."""
    if path in table:
        return path
    alike = [name for name in table.columns if fold(name) == fold(path)]
    if len(alike) == 1:
        return alike[0]
    parts = path.split(".")
    begins = (".".join(parts[:k]) for k in range(len(parts) - 1, 0, -1))
    return next((begin for begin in begins if begin in table), None)


def _at(table: pd.DataFrame, path: str) -> pd.Series | None:
    """Values at a path, row by row; None if no row has a value there."""
    name = _column(table, path)
    if name is None:
        return None
    if name == path or fold(name) == fold(path):
        return table[name]
    parts = path[len(name) + 1 :].split(".")
    values = [_inside(value, parts) for value in table[name]]
    if all(value is None for value in values):
        return None
    return pd.Series(values, index=table.index, dtype=object)


def _inside(value: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple | np.ndarray) and re.fullmatch("[0-9]{1,6}", part):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            return None
    return value


def paths(table: pd.DataFrame, rows: int = 20) -> list[str]:
    """Names of columns. For a column with objects, paths to the values inside, as the first `rows` rows have them."""
    listed: dict[str, None] = {}
    for name in table.columns:
        inner = [value for value in table[name].head(rows) if isinstance(value, Mapping)]
        if not inner:
            listed[str(name)] = None
        for value in inner:
            listed |= dict.fromkeys(f"{name}.{path}" for path in _leaves(value))
    return [*listed]


def _leaves(value: Mapping[str, Any], depth: int = 4) -> Iterable[str]:
    for name, inner in value.items():
        if isinstance(inner, Mapping) and depth:
            yield from (f"{name}.{path}" for path in _leaves(inner, depth - 1))
        else:
            yield str(name)


def _not_there(absent: Sequence[str], table: pd.DataFrame) -> str:
    present = paths(table)
    hints = [close[0] for path in absent if (close := difflib.get_close_matches(path, present, n=1))]
    hint = f"; did you mean {' and '.join(map(repr, hints))}?" if hints else ""
    return f"no {_and([f'column {path!r:.60}' for path in absent])}; found {files.listed(present)}{hint}"


def unread_judges(table: pd.DataFrame) -> str:
    """A sentence about a column that may name several judges, but is not read; empty if there is no such column."""
    if "judge" in table:
        return ""
    by_fold = {fold(name): name for name in reversed(table.columns)}
    for alias in LIKELY["judge"]:
        name = by_fold.get(alias)
        if name is not None and (count := table[name].map(str).nunique()) > 1:
            return (
                f"Column {name!r:.60} has {count:,} values and is not read: all reads count as those of one judge."
                f" If it names judges, say --columns judge={name:.60}."
            )
    return ""


def missing(absent: Sequence[str], table: pd.DataFrame, where: str | Path, useful: Sequence[str] = ()) -> InputError:
    """The error that columns are missing, with columns of the file that could be meant, also for optional ones
    (`useful`).
    """
    present = paths(table)
    free = [name for name in present if not known(name)]
    pair = ("first", "second") if {"ordering", "choice"} <= {*absent} and sides(table) else ()
    needed = [name for name in absent if not (pair and name == "ordering")]
    suggested: dict[str, str] = {}
    for name in (*needed, *pair, *(name for name in useful if name not in table)):
        if hit := _likely(name, [other for other in free if other not in suggested.values()]):
            suggested[name] = hit
    kinds = "column {} is missing" if len(absent) == 1 else "columns {} are missing"
    text = f"{kinds.format(_and([repr(name) for name in absent]))}; found {files.listed(present)}"
    if suggested:
        names = ",".join(f"{name}={path}" for name, path in suggested.items())
        text += f"; did you mean --columns {names}?"
        if extra := [name for name in suggested if name in useful]:
            text += f" Optional: {_and(extra)}"
    return InputError(f"{where}: {text} ({PAGE} says what a file needs)")


def _likely(name: str, names: Sequence[str]) -> str | None:
    """The column that is most likely meant by our name; None if there is none."""
    by_fold = {fold(other): other for other in reversed(names)}
    by_leaf = {fold(other).rpartition(".")[2]: other for other in reversed(names)}
    by_end = {OF_JUDGE.sub("", leaf, count=1): other for leaf, other in by_leaf.items() if OF_JUDGE.match(leaf)}
    for known_names in (by_fold, by_leaf, *([by_end] if name in ("score", "choice") else [])):
        for alias in (name, *LIKELY[name]):
            if alias in known_names:
                return known_names[alias]
    close = difflib.get_close_matches(name, [*by_leaf], n=1, cutoff=0.75)
    ends = [leaf for leaf in by_leaf if leaf.endswith(f"_{name}") or leaf.startswith(f"{name}_")]
    chosen = next(iter([*close, *ends]), None)
    return None if chosen is None else by_leaf[chosen]


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
