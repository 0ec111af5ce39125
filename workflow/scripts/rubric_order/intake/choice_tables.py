"""A plain table of choices between candidates, in pairs or lists, as the table of scores that statistics read."""

import string
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rubric_order.base import files, records
from rubric_order.base.errors import InputError
from rubric_order.intake import columns as column_names
from rubric_order.intake.aliases import SHOWN_FIRST
from rubric_order.intake.choices import FEWEST, LETTERS, MOST, NAMED, TIE, TURNS, Labels, candidates, meaning
from rubric_order.intake.choices import named as index_named
from rubric_order.intake.columns import Columns
from rubric_order.intake.score_tables import ABOUT
from rubric_order.intake.words import Words, check_cells, fail, names_of, words_of
from rubric_order.parsing.choices import OUT_OF_RANGE

USEFUL = ("judge", "group", "gold")
USED = ("item", "ordering", "first", "second", "judge", "group")


def as_comparisons(
    table: pd.DataFrame,
    where: str | Path = "choices",
    *,
    columns: Columns | None = None,
    labels: Labels | None = None,
) -> pd.DataFrame:
    """Choices as scores of comparisons, in the form of probe ``pair_order``, with one row per read; docs/audit.md has
    the columns.

    Candidates are numbered in the order of their names; `gold` is a candidate's number, 0 for a tie; `longest` is a
    position.
    """
    records.check_names(table.columns, where)
    table, labels, file = table.reset_index(drop=True), labels or Labels(), table
    table = column_names.named(table, columns or Columns(), where)
    if "choice" not in table and "score" in table:
        table = table.rename(columns={"score": "choice"})
    _check_first(file.reset_index(drop=True), table, columns or Columns(), where)
    table, sides = _turned(table, labels, where)
    pair = "first" in table and "second" in table and "ordering" not in table
    absent = [name for name in ("item", *(() if pair else ("ordering",)), "choice") if name not in table]
    if absent:
        raise column_names.missing(absent, table, where, USEFUL)
    if not len(table):
        raise InputError(f"{where}: no rows")
    check_cells(table[[name for name in USED if name in table]], where)
    item, judge = names_of(table, "item", where), names_of(table, "judge", where, default="judge")
    named = "group" in table and not words_of(table["group"]).empty
    group = names_of(table, "group", where) if named else item
    code, lists = _shown(table, pair, where)
    place, reason = _places(words_of(table["choice"]), code, lists, labels, "choice", where)
    if "tie" in table:
        refused = (place == 0) & ~table["tie"].astype(bool).to_numpy()
        place, reason = np.where(refused, np.nan, place), reason.mask(refused, OUT_OF_RANGE)
    order = [_numbers(listed) for listed in lists]
    canonical = [sorted(listed) for listed in lists]
    sizes = np.array([len(listed) for listed in lists])[code]
    chosen = _candidates(place, code, order)
    unit = _units(item, code, canonical)
    by_list: np.ndarray = np.empty(len(lists), dtype=object)
    by_order: np.ndarray = np.empty(len(lists), dtype=object)
    for k, listed in enumerate(canonical):
        by_list[k], by_order[k] = listed, np.array(order[k])
    result = pd.DataFrame(
        ABOUT
        | {"judge": judge.series(), "n": sizes, "unit_id": unit, "item_id": unit, "group_id": group.series()}
        | {"source_id": group.series(), "strategy": "recorded"}
        | {"benchmark": "reads", "task": ""}
        | {"candidate": pd.Series([None] * len(table), dtype=object), "candidates": by_list[code]}
        | {"ordering": by_order[code], "score": chosen, "position": pd.array(place, dtype="Float64").astype("Int8")}
        | {"pattern": pd.Series([None] * len(table), dtype=object), "failure": reason, "named_groups": named}
    )
    result["first_verdict"] = pd.array([pd.NA] * len(table), dtype="Int8")
    keys = ["judge", "unit_id"]
    result["repeat"] = result.assign(code=code).groupby([*keys, "code"]).cumcount().to_numpy()
    result["read_index"] = result.groupby(keys).cumcount().to_numpy()
    result["gold"] = _gold(table, unit, code, lists, order, labels, where)
    result["longest"] = _longest(table, where)
    result["sides"], result["unread_judges"] = ", ".join(sides), column_names.unread_judges(table)
    result["letters"] = _letters(words_of(table["choice"]), lists, labels)
    return result


def notes(own: pd.DataFrame) -> list[str]:
    """Sentences on how the choices of `as_comparisons` were read."""
    sentences = [text for name in ("unread_judges", "letters") if (text := own[name].iloc[0])]
    if sides := own["sides"].iloc[0]:
        a, b = sides.split(", ")
        sentences.append(
            f"A choice such as A is read as the candidate that was shown first, and not as {a}."
            f" If A stands for {a}, say --map A={a},B={b}."
        )
    return sentences


def _first_place(word: str, pair: Sequence[str], sides: Sequence[str]) -> int | None:
    columns = [column_names.fold(side) for side in sides]
    ends = [column.rpartition("_")[2] for column in columns]
    for names in ([column_names.fold(name) for name in pair], columns, ends):
        if column_names.fold(word) in names:
            return names.index(column_names.fold(word))
    return None


def _turned(table: pd.DataFrame, labels: Labels, where: str | Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A table of pairs with `first` and `second` from two columns of candidates and the one that says which came first.

    A choice that names such a column becomes its candidate; the columns are named where a choice is read as a position.
    """
    sides, column = column_names.sides(table), column_names.shown_first(table)
    if "ordering" in table or ("first" in table and "second" in table) or sides is None or column is None:
        return table, ()
    pair = [names_of(table, side, where).series() for side in sides]
    words = names_of(table, column, where).series()
    places = [_first_place(word, listed, sides) for word, *listed in zip(words, *pair, strict=True)]
    if None in places:
        row = places.index(None)
        expected = f"{pair[0][row]} or {pair[1][row]}, the one of {sides[0]} and {sides[1]} that was shown first"
        fail(where, np.array([place is None for place in places]), column, expected, words)
    is_turned = np.array(places) == 1
    table = table.assign(
        first=pair[0].mask(is_turned, pair[1]),
        second=pair[1].mask(is_turned, pair[0]),
    )
    if "lengths" not in table and {"length_a", "length_b"} <= {*table.columns}:  # not in the order shown
        lengths = zip(table["length_a"], table["length_b"], is_turned, strict=True)
        table["lengths"] = [[b, a] if turned else [a, b] for a, b, turned in lengths]
    are_places = False
    for name in (name for name in ("choice", "gold") if name in table):
        table[name], has_places = _chosen(words_of(table[name]), pair, sides, labels)
        are_places |= has_places
    return table, sides if are_places else ()


def _chosen(words: Words, pair: Sequence[pd.Series], sides: Sequence[str], labels: Labels) -> tuple[pd.Series, bool]:
    """Choices in which a candidate replaces the name of its column; and True if any other choice is a position."""
    columns = [column_names.fold(side) for side in sides]
    options = [labels.options.get(word.casefold()) for word in words.values]
    meant = [
        column_names.fold(option if option is not None else word if len(word) > 1 else "")
        for word, option in zip(words.values, options, strict=True)
    ]
    chosen = words.series()
    for column, names in zip(columns, pair, strict=True):
        chosen = chosen.mask(np.array([name == column for name in meant])[words.codes], names)
    candidates_of_all = {name.casefold() for names in pair for name in names.unique()}
    has_places = any(
        option is None and name not in columns and word.casefold() not in candidates_of_all and NAMED.fullmatch(word)
        for word, name, option in zip(words.values, meant, options, strict=True)
    )
    return chosen, has_places


def _check_first(file: pd.DataFrame, table: pd.DataFrame, columns: Columns, where: str | Path) -> None:
    """Check that no column of the file contradicts the candidates that are named as shown first and second."""
    paths = {name: columns.names.get(name) for name in ("first", "second")}
    column = next((str(name) for name in file.columns if column_names.fold(name) in SHOWN_FIRST), None)
    if column is None or None in paths.values() or column in paths.values():
        return
    sides = [str(path) for path in paths.values()]
    pair = [words_of(table[name]).series() for name in paths]
    words = words_of(file[column]).series()
    places = [_first_place(word, listed, sides) for word, *listed in zip(words, *pair, strict=True)]
    if 1 in places:
        row = places.index(1)
        raise InputError(
            f"{where}: row {row + 1}: field {column!r}: {words[row]!r:.60} was shown first, but --columns takes"
            f" {sides[0]} ({pair[0][row]:.60}) for it; leave first and second out of --columns: they follow from"
            f" {sides[0]}, {sides[1]} and {column}"
        )


def _shown(table: pd.DataFrame, pair: bool, where: str | Path) -> tuple[np.ndarray, list[list[str]]]:
    """Index of each row's list of candidates, from 0, and the distinct lists, as they were shown."""
    if pair:
        first, second = (names_of(table, name, where) for name in ("first", "second"))
        both, codes = np.unique(first.codes * len(second.values) + second.codes, return_inverse=True)
        lists = [[first.values[k // len(second.values)], second.values[k % len(second.values)]] for k in both]
        bad = np.array([listed[0] == listed[1] for listed in lists])[codes]
        fail(where, bad, "second", "another candidate than the first", second)
        return codes, lists
    column = table["ordering"]
    if column.dtype == object:
        column = column.map(_joined)
    words = words_of(column)
    lists = [candidates(text) for text in words.values]
    bad = np.array([not FEWEST <= len(listed) <= MOST or len({*listed}) < len(listed) for listed in lists])
    expected = f"{FEWEST} to {MOST} different candidates, with commas between them"
    fail(where, bad[words.codes], "ordering", expected, words)
    return words.codes, lists


def _joined(value: object) -> object:
    return "\n".join(map(str, value)) if isinstance(value, list | tuple | np.ndarray) else value


def _numbers(names: Sequence[str]) -> list[int]:
    ranks = {name: rank for rank, name in enumerate(sorted(names), start=1)}
    return [ranks[name] for name in names]


def _places(
    words: Words,
    code: np.ndarray,
    lists: Sequence[Sequence[str]],
    labels: Labels,
    field: str,
    where: str | Path,
) -> tuple[np.ndarray, pd.Series]:
    """Position of each row's choice, 0 for a tie, NaN for no choice; and the reason why there is no choice."""
    cells, cell = np.unique(words.codes * len(lists) + code, return_inverse=True)
    meant = [
        meaning(words.values[key // len(lists)], lists[key % len(lists)], labels, answers=field == "choice")
        for key in cells
    ]
    bad = np.array([row is None for row in meant])[cell]
    rows = np.flatnonzero(bad)
    if len(rows):
        listed = lists[code[rows[0]]]
        options = f"{', '.join(LETTERS[: len(listed)])}, tie, or {files.listed(listed)}"
        fail(where, bad, field, f"{options}, or --map", words)
    place = np.array([np.nan if row is None or row.place is None else row.place for row in meant], dtype=float)[cell]
    reason = pd.Series([row and row.reason for row in meant], dtype=object).take(cell).reset_index(drop=True)
    if field == "choice" and np.isnan(place).all():
        raise InputError(f"{where}: field {field!r}: expected choices, found none in any row")
    return place, reason


def _letters(words: Words, lists: Sequence[Sequence[str]], labels: Labels) -> str:
    """Note on a letter or digit that is read as the name of a candidate or as a position, and could be the other."""
    written = {*words.values}
    for names in lists:
        n = len(names)
        for marks in (LETTERS[:n], LETTERS[:n].lower(), string.digits[1 : n + 1]):
            alike = {mark: name for mark in marks for name in names if name.casefold() == mark.casefold()}
            alike = {mark: name for mark, name in alike.items() if mark.casefold() not in labels.options}
            for text in sorted(alike.keys() & written):
                if index_named(text, names) is None:
                    return f"A choice such as {text} is read as a position, not as the candidate {alike[text]}."
                turns = ",".join(map("=".join, zip(marks, TURNS, strict=False)))
                reading = "is read as the candidate of this name, not as a position"
                return f"A choice such as {text} {reading}. If it is a position, say --map {turns}."
    return ""


def _candidates(
    place: np.ndarray, code: np.ndarray, order: Sequence[Sequence[int]]
) -> pd.api.extensions.ExtensionArray:
    numbers = [
        None if np.isnan(at) else 0 if at == 0 else order[k][int(at) - 1] for at, k in zip(place, code, strict=True)
    ]
    return pd.array(numbers, dtype="Int8")


def _units(item: Words, code: np.ndarray, canonical: Sequence[Sequence[str]]) -> pd.Series:
    """Name of each row's comparison: its item and, if the item has several sets of candidates, the candidates."""
    number, sets = pd.factorize(pd.Series(["\n".join(listed) for listed in canonical], dtype=object))
    of_row = number[code]
    several = pd.Series(of_row).groupby(item.codes).nunique().to_numpy()[item.codes] > 1
    cells, cell = np.unique(np.column_stack([item.codes, of_row, several]), axis=0, return_inverse=True)
    units = [
        f"{item.values[i]} ({sets[s].replace(chr(10), ', ')})" if is_several else item.values[i]
        for i, s, is_several in cells
    ]
    return Words(cell.ravel(), np.array(units, dtype=object)).series()


def _gold(
    table: pd.DataFrame,
    unit: pd.Series,
    code: np.ndarray,
    lists: Sequence[Sequence[str]],
    order: Sequence[Sequence[int]],
    labels: Labels,
    where: str | Path,
) -> np.ndarray:
    """Number of the candidate that people chose in each row's comparison, 0 for a tie, NaN if it is not known."""
    if "gold" not in table:
        return np.full(len(table), np.nan)
    words = words_of(table["gold"])
    place, _ = _places(words, code, lists, labels, "gold", where)
    chosen = pd.Series(_candidates(place, code, order)).to_numpy(dtype=float, na_value=np.nan)
    units = pd.factorize(unit)[0]
    first = pd.Series(chosen).groupby(units).transform("first").to_numpy()
    rows = np.flatnonzero(~np.isnan(chosen) & (chosen != first))
    if len(rows):
        row = rows[0]
        ordered = sorted(lists[code[row]])
        both = [TIE if value == 0 else ordered[int(value) - 1] for value in (first[row], chosen[row])]
        raise InputError(
            f"{where}: row {row + 1}: field 'gold': {unit.iloc[row]!r:.60} has two: {both[0]} in an earlier row,"
            f" {both[1]} here; expected one. A place such as A is that of the row"
        )
    return first


def _longest(table: pd.DataFrame, where: str | Path) -> np.ndarray:
    """Position of the longest candidate of each row; NaN if lengths are not known, or several are the longest."""
    longest: np.ndarray = np.full(len(table), np.nan)
    if "lengths" not in table:
        return longest
    for row, lengths in enumerate(table["lengths"]):
        values = [*lengths] if isinstance(lengths, list | tuple | np.ndarray) else []
        if not values or any(value is None for value in values):
            continue
        if not all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values):
            raise InputError(f"{where}: row {row + 1}: field 'lengths': expected numbers, found {values!r:.60}")
        if values.count(max(values)) == 1:
            longest[row] = values.index(max(values)) + 1
    return longest
