"""Columns of printed tables: texts, numbers, estimates with their intervals, p-values and warnings."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import pandas as pd

from rubric_order.base import flags as flags_of_estimates
from rubric_order.base.keys import FEW_CLUSTERS
from rubric_order.base.readouts import Readout

UNDEFINED = "undefined"
SIGNIFICANT = 0.05
READOUT_NAMES: dict[str, str] = {
    Readout.HARD: "selected option",
    Readout.SOFT: "option probabilities",
    Readout.CALIBRATED: "calibrated",
}
ACCURACY_NAMES = {"spearman": "ρ", "pearson": "r", "kappa": "kappa", "mean_absolute_error": "MAE"}

Row = Mapping[str, Any]  # from column to value
OfRows = Callable[[pd.DataFrame], Any]  # takes the rows of a table, and returns one value per row


def written(value: float, form: str = ".3f", *, times: float = 1, missing: str = UNDEFINED) -> str:
    """A number in a format, or the text for a missing number. `times` is a factor, such as 100 for percentages."""
    return missing if pd.isna(value) else f"{times * value:{form}}"


def interval(low: float, high: float, form: str = ".3f", *, times: float = 1, missing: str = f"[{UNDEFINED}]") -> str:
    """The ends of an interval in brackets; arguments as in `written`."""
    return missing if pd.isna(low) or pd.isna(high) else f"[{times * low:{form}}, {times * high:{form}}]"


def estimate_text(value: float, low: float, high: float, *, form: str = ".3f", times: float = 1) -> str:
    """An estimate with its interval; arguments as in `written`."""
    return UNDEFINED if pd.isna(value) else f"{times * value:{form}} {interval(low, high, form, times=times)}"


def count(number: float) -> str:
    """A whole number; empty if it is missing."""
    return "" if pd.isna(number) else f"{number:,.0f}"


def percent(part: float, whole: float) -> str:
    """A share in percent; empty if the part is missing or the whole is 0."""
    return "" if pd.isna(part) or pd.isna(whole) or not whole else f"{100 * part / whole:.0f} %"


def flags(n_clusters: Iterable[float], *others: Iterable[str]) -> list[str]:
    """Warnings on each row, empty without any: few clusters, on whose choice intervals and tests depend, and
    `others`.
    """
    few = [flags_of_estimates.FEW_CLUSTERS if number < FEW_CLUSTERS else "" for number in n_clusters]
    return [", ".join(filter(None, row)) for row in zip(few, *others, strict=True)]


@dataclass(frozen=True)
class Column(ABC):
    """Column of a printed table, from a column of the rows or a function of them; `name` is its head.

    `where`: rows with a cell (a function, or a column that has a value there). `when`: whether the table has the
    column. `marks`: one text a row, appended to the cell.
    """

    source: str | OfRows
    _: KW_ONLY
    name: str = ""
    missing: str = UNDEFINED
    where: str | OfRows | None = None
    when: Callable[[pd.DataFrame], bool] | None = None
    marks: OfRows | None = None

    @abstractmethod
    def cells(self, rows: pd.DataFrame) -> Iterable[object]:
        """Cell of each row."""

    def values(self, rows: pd.DataFrame) -> Any:
        """Values of the source, one per row."""
        return rows[self.source] if isinstance(self.source, str) else self.source(rows)

    def write(self, rows: pd.DataFrame) -> dict[str, Iterable[object]]:
        """Cells under their head; empty if the table does not have the column."""
        if self.when is not None and not self.when(rows):
            return {}
        cells = self.cells(rows)
        if self.marks is not None:
            cells = [f"{cell}{mark}" for cell, mark in zip(cells, self.marks(rows), strict=True)]
        if self.where is not None:
            there = rows[self.where].notna() if isinstance(self.where, str) else self.where(rows)
            cells = [cell if is_there else "" for cell, is_there in zip(cells, there, strict=True)]
        return {self.name or str(self.source): cells}


@dataclass(frozen=True)
class Text(Column):
    """Unchanged values, also missing ones unless `missing` is given; `names` replaces some, `spaced` replaces
    underscores.
    """

    _: KW_ONLY
    missing: str | None = None  # type: ignore[assignment]
    names: Mapping[str, str] = field(default_factory=dict)
    spaced: bool = False

    def cells(self, rows: pd.DataFrame) -> Iterable[object]:
        cells = self.values(rows)
        if self.names:
            cells = pd.Series([self.names.get(cell, cell) for cell in cells], dtype=object)
        if self.missing is not None:
            cells = cells.fillna(self.missing)
        return [cell.replace("_", " ") for cell in cells] if self.spaced else cells


@dataclass(frozen=True)
class Number(Column):
    """A number without an interval; `form` is a format, or a function from the rows to one format each, `times` as in
    `written`.
    """

    form: str | OfRows = ".3f"
    _: KW_ONLY
    times: float = 1

    def forms(self, rows: pd.DataFrame) -> Sequence[str]:
        return [self.form] * len(rows) if isinstance(self.form, str) else self.form(rows)

    def cells(self, rows: pd.DataFrame) -> Iterable[object]:
        values = zip(self.values(rows), self.forms(rows), strict=True)
        return [written(value, form, times=self.times, missing=self.missing) for value, form in values]


@dataclass(frozen=True)
class Estimated(Number):
    """An estimate with its interval, whose `ends` by default are named as by `spec.estimate`, or as statistics name
    them.
    """

    _: KW_ONLY
    ends: tuple[str, str] | None = None

    def cells(self, rows: pd.DataFrame) -> Iterable[object]:
        of_statistic = self.source == "estimate"
        low, high = self.ends or (
            ("ci_low", "ci_high") if of_statistic else (f"{self.source}_low", f"{self.source}_high")
        )
        intervals = zip(rows[self.source], rows[low], rows[high], self.forms(rows), strict=True)
        return [
            self.missing if pd.isna(row[0]) else estimate_text(*row, form=form, times=self.times)
            for *row, form in intervals
        ]


@dataclass(frozen=True)
class PValue(Column):
    """A p-value, starred if significant after Holm's adjustment; `least` is the column of the smallest p that draws can
    give, which is written as an upper bound.
    """

    _: KW_ONLY
    least: str | None = None

    def cells(self, rows: pd.DataFrame) -> Iterable[object]:
        floors = rows[self.least] if self.least else [0.0] * len(rows)
        return [self._cell(*row) for row in zip(self.values(rows), rows[f"{self.source}_holm"], floors, strict=True)]

    def _cell(self, p: float, holm: float, least: float) -> str:
        if pd.isna(p):
            return self.missing
        return (f"< {least:.2g}" if p <= least * (1 + 1e-9) else f"{p:.3g}") + star(holm)


@dataclass(frozen=True)
class OrderPValue(Column):
    """A p-value of an effect of the order, starred if it is a finding of a bias card; `card`: column of
    `spec.card_tests`.
    """

    _: KW_ONLY
    card: str | None = None

    def cells(self, rows: pd.DataFrame) -> Iterable[object]:
        stars = rows[self.card].notna() if self.card else [False] * len(rows)
        return [
            self.missing if pd.isna(p) else ("<.001" if p < 0.001 else f"{p:.3f}") + "*" * is_finding
            for p, is_finding in zip(self.values(rows), stars, strict=True)
        ]


@dataclass(frozen=True)
class Flags(Column):
    """Warnings on each row, see `flags`: `source` gives the number of clusters, `others` further texts."""

    source: str | OfRows = "n_clusters"
    others: Sequence[str | OfRows] = ()
    _: KW_ONLY
    name: str = "flag"

    def cells(self, rows: pd.DataFrame) -> Iterable[object]:
        others = [rows[other] if isinstance(other, str) else other(rows) for other in self.others]
        return flags(self.values(rows), *others)


def texts(*sources: str, **names: str) -> list[Text]:
    """Columns of texts, with readouts in words. `sources` keep their names, `names` has heads (``n_items="items"``)."""
    in_words = {"readout": READOUT_NAMES}
    return [Text(source, name=name, names=in_words.get(source, {})) for source, name in _heads(sources, names)]


def numbers(form: str | OfRows, *sources: str, **named: Any) -> list[Number]:
    """Columns of numbers in one format, named as in `texts`. `times`, `missing` and `where` apply to all of them."""
    return [Number(source, form, name=name, **_options(named)) for source, name in _heads(sources, named)]


def estimates(form: str | OfRows, *sources: str, **named: Any) -> list[Estimated]:
    """Columns of estimates with their intervals in one format, see `numbers`."""
    return [Estimated(source, form, name=name, **_options(named)) for source, name in _heads(sources, named)]


def counts(*sources: str, missing: str = "", **names: str) -> list[Number]:
    """Columns of whole numbers with commas."""
    return numbers(",.0f", *sources, missing=missing, **names)


def _options(named: Mapping[str, Any]) -> dict[str, Any]:
    return {name: named[name] for name in ("times", "missing", "where") if name in named}


def _heads(sources: Sequence[str], named: Mapping[str, str]) -> list[tuple[str, str]]:
    others = {source: name for source, name in named.items() if source not in _options(named)}
    return [*(dict.fromkeys(sources, "") | others).items()]


def each_row(write: Callable[[Row], object]) -> OfRows:
    return lambda rows: [write(row) for row in rows.to_dict("records")]


def cell(name: str, write: Callable[[Row], object], *, where: str | OfRows | None = None) -> Text:
    """A column of texts in which `write` makes the cell of each row."""
    return Text(each_row(write), name=name, where=where)


def filled(text: str) -> OfRows:
    """Make a function of rows that fills a text, such as ``"{style}, {other_style}"``, with the values of each row."""
    return each_row(text.format_map)


def equal(column: str, value: object) -> OfRows:
    return lambda rows: rows[column] == value


def different(column: str, value: object) -> OfRows:
    return lambda rows: rows[column] != value


def star(holm: float) -> str:
    return "*" if pd.notna(holm) and holm < SIGNIFICANT else ""


def stars(column: str) -> OfRows:
    """Marks of `star`, from a column of adjusted p-values."""
    return lambda rows: [star(holm) for holm in rows[column]]


def away_from_zero(name: str) -> OfRows:
    """Marks on estimates: a star if the interval does not contain 0, two stars if the adjusted p is significant too."""

    def mark(row: Row) -> str:
        low, high, holm = (row[f"{name}_{end}"] for end in ("low", "high", "p_holm"))
        return "" if pd.isna(low) or low <= 0 <= high else "**" if holm < SIGNIFICANT else "*"

    return each_row(mark)


def there(column: str) -> Callable[[pd.DataFrame], bool]:
    """Condition for a column to be in the table: the rows have a column of this name."""
    return lambda rows: column in rows


def known(column: str) -> Callable[[pd.DataFrame], bool]:
    """Condition for a column to be in the table: some row has a value in it."""
    return lambda rows: bool(rows[column].notna().any())


def varied(column: str) -> Callable[[pd.DataFrame], bool]:
    """Condition for a column to be in the table: rows have different values in it."""
    return lambda rows: rows[column].nunique() > 1
