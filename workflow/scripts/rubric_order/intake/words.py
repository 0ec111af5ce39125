"""Columns of a table as texts, names and numbers, with errors that name row and field."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.errors import InputError
from rubric_order.base.records import SURROGATE
from rubric_order.intake import scales
from rubric_order.intake.choices import MISSING


class Words(NamedTuple):
    """A column of texts: the index of each row's text, shape (rows,), and the texts without blanks around them."""

    codes: np.ndarray
    values: np.ndarray

    @property
    def empty(self) -> bool:
        """True if no row has a text."""
        return not any(self.values)

    def series(self) -> pd.Series:
        """The text of each row."""
        return pd.Series(pd.array(self.values, dtype="str").take(self.codes))


def words_of(column: pd.Series) -> Words:
    """A column as text without blanks around it; a missing value is empty."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy().astype(np.int64), column.cat.categories
    else:
        codes, values = pd.factorize(column.map(word_of) if column.dtype == object else column)
    texts = [word_of(value) for value in np.asarray(values, dtype=object).tolist()]
    if (codes < 0).any():
        texts.append("")
        codes = np.where(codes < 0, len(texts) - 1, codes)
    number, distinct = pd.factorize(np.array(texts, dtype=object))
    codes = number[codes]
    used, first = np.unique(codes, return_index=True)
    order = used[np.argsort(first)]  # in the order in which they first appear in the table
    place: np.ndarray = np.empty(len(distinct), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Words(place[codes], np.asarray(distinct, dtype=object)[order])


def word_of(value: object) -> str:
    if type(value) is str:  # nearly all
        return value.strip()
    if isinstance(value, list | tuple | np.ndarray):
        return " ".join(word_of(part) for part in value)
    if isinstance(value, float | np.floating):
        whole = np.isfinite(value) and value == int(value)
        return "" if np.isnan(value) else str(int(value)) if whole else repr(float(value))
    return "" if value is None or value is pd.NA else str(value).strip()


def fail(where: str | Path, bad: np.ndarray | pd.Series, field: str, expected: str, found: pd.Series | Words) -> None:
    """Raise an error about the first bad row, if there is one."""
    rows = np.flatnonzero(bad)
    if len(rows):
        value = str(found.values[found.codes[rows[0]]] if isinstance(found, Words) else found.iloc[rows[0]])
        raise InputError(f"{where}: row {rows[0] + 1}: field {field!r}: expected {expected}, found {value!r:.60}")


def names_of(reads: pd.DataFrame, field: str, where: str | Path, default: str | None = None) -> Words:
    if field not in reads:
        return Words(np.zeros(len(reads), dtype=np.int64), np.array([default], dtype=object))
    return check_named(words_of(reads[field]), field, where)


def check_named(words: Words, field: str, where: str | Path) -> Words:
    """A column of names."""
    if not all(words.values):
        fail(where, (words.values == "")[words.codes], field, "a name", words)
    return words


def check_alike(key: Words, value: np.ndarray, names: np.ndarray, field: str, what: str, where: str | Path) -> None:
    """Check that every key, such as a judge, has one value, such as a number of levels, in all its rows."""
    number, keys = pd.factorize(key.codes)
    first: np.ndarray = np.empty(len(keys), dtype=value.dtype)
    first[number[::-1]] = value[::-1]  # from the last row to the first, so that the first value stays
    first = first[number]
    rows = np.flatnonzero(value != first)
    if len(rows):
        row = rows[0]
        name = key.values[key.codes[row] % len(key.values)]
        both = f"{names[first[row]]} in an earlier row, {names[value[row]]} here"
        raise InputError(f"{where}: row {row + 1}: field {field!r}: {name!r:.60} has two {what}: {both}; expected one")


def numbers_of(column: pd.Series, field: str, where: str | Path) -> np.ndarray:
    """A column as numbers, NaN for empty cells."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        fail(where, np.isinf(values), field, "a number, or nothing", column)
        return values
    words = words_of(column)
    missing = np.array([text.lower() in MISSING for text in words.values])
    texts = [text.replace(",", ".") if scales.NUMBER.fullmatch(text) else text for text in words.values]
    values = pd.to_numeric(pd.Series(texts, dtype=object).mask(missing), errors="coerce").to_numpy(dtype=float)
    fail(where, (~missing & ~np.isfinite(values))[words.codes], field, "a number, or nothing", words)
    return values[words.codes]


def one_human(values: np.ndarray, item: Words, where: str | Path) -> np.ndarray:
    """The human score of each row's item, NaN if no row of the item has one; two are an error."""
    first = pd.Series(values).groupby(item.codes).transform("first").to_numpy()
    rows = np.flatnonzero(~np.isnan(values) & (values != first))
    if len(rows):
        row, names = rows[0], pd.Series(item.values)
        of_row: np.ndarray = item.codes % len(names)
        n_bad, n_rated = (names[np.unique(of_row[part])].nunique() for part in (rows, ~np.isnan(values)))
        raise InputError(
            f"{where}: row {row + 1}: field 'human_score': item {names[of_row[row]]!r:.60} has two human scores:"
            f" {first[row]:g} in an earlier row, {values[row]:g} here; so have {n_bad:,} of {n_rated:,} items. Expected"
            " one per item: give each item the mean of its human scores, in all of its rows or in one"
        )
    return first


def check_cells(table: pd.DataFrame, where: str | Path) -> None:
    """Check that no cell holds an object, or a lone surrogate, which JSON can write but UTF-8 cannot."""
    for name in (name for name in table.columns if table[name].dtype == object):
        fail(where, table[name].map(_is_nested), name, "a text, a number, or a list of them", table[name])
        bad = table[name].map(lambda value: SURROGATE.search(word_of(value)) is not None)
        fail(where, bad, name, "text that UTF-8 can write", table[name])


def _is_nested(value: object) -> bool:
    inner = value if isinstance(value, list | tuple | np.ndarray) else ()
    return isinstance(value, dict) or any(isinstance(part, dict | list | tuple | np.ndarray) for part in inner)
