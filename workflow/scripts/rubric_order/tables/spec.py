"""Tables as data: the choice of the statistics' rows that a table has, and the table's columns."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, DEFAULT_PROFILE
from rubric_order.base.readouts import READ, Readout
from rubric_order.tables.columns import SIGNIFICANT, Column

ENDS = {"estimate": "", "ci_low": "_low", "ci_high": "_high"}


@dataclass(frozen=True)
class Table:
    """A table: `table` returns the rows of its CSV file, `for_print` returns the printed rows.

    Attributes:
        rows: function from statistics and settings to the rows; usually `Rows`.
        columns: columns of the printed table. An entry can also be a function from the rows to several columns.
        printed: selection of the rows that are printed: a dictionary from column to values, or a function from rows to
            rows.
        hidden: columns of the rows that the CSV file leaves out.
    """

    rows: Callable[..., pd.DataFrame]
    columns: Sequence[Column | Callable[[pd.DataFrame], Iterable[Column]]]
    _: KW_ONLY
    printed: Mapping[str, object] | Callable[[pd.DataFrame], pd.DataFrame] = field(default_factory=dict)
    hidden: Sequence[str] = ()

    @property
    def table(self) -> Callable[..., pd.DataFrame]:
        """Function from statistics and settings to the rows, with every digit."""
        return self.rows

    def for_print(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The printed rows and columns, rounded."""
        rows = self.printed(rows) if callable(self.printed) else select(rows, **self.printed)
        rows = rows.reset_index(drop=True)
        cells: dict[str, Iterable[object]] = {}
        for column in self.columns:
            for part in [column] if isinstance(column, Column) else column(rows):
                cells |= part.write(rows)
        return pd.DataFrame(cells)


class Setting(NamedTuple):
    """A setting that chooses rows by their values in `column`."""

    column: str
    default: object = inspect.Parameter.empty


SETTINGS = {
    "profile": Setting("profile", DEFAULT_PROFILE),
    "cluster": Setting("cluster", "group"),
    "strategy": Setting("strategy", "balanced"),
    "n": Setting("n", 5),
    "readout": Setting("readout", Readout.HARD),
    "readouts": Setting("readout", READ),
    "studies": Setting("study"),
}


class Rows:
    """Rows of statistics, chosen by settings and arranged.

    Args:
        source: name of a statistic, or a function that returns rows. The function takes the chosen rows of statistics,
            each as the argument of the statistic's name, and further settings by keyword.
        by: names of settings that choose rows, see `SETTINGS`. A name that is not in `SETTINGS` is that of the column
            whose values the setting selects. A statistic without the column is taken whole.
        where: dictionary from column to values that choose rows independently of the settings.
        keys, values: if `keys` are given, there is one row for each value of the keys, see `wide`.
        columns: columns that are kept.
        drop: columns that are left out, if `columns` is empty.
        sort: columns by which rows are sorted.
    """

    def __init__(
        self,
        source: str | Callable[..., pd.DataFrame],
        *by: str,
        where: Mapping[str, object] | None = None,
        keys: Sequence[str] = (),
        values: "Iterable[Value]" = (),
        columns: Sequence[str] = (),
        drop: Sequence[str] = (),
        sort: Sequence[str] = (),
    ) -> None:
        self.make = source if callable(source) else None
        own = inspect.signature(source).parameters.values() if callable(source) else [_argument(source)]
        self.statistics = [argument.name for argument in own if argument.kind is not argument.KEYWORD_ONLY]
        self.own = [argument.name for argument in own if argument.kind is argument.KEYWORD_ONLY]
        self.by, self.where, self.keys, self.values = by, where or {}, [*keys], [*values]
        self.columns, self.drop, self.sort = [*columns], [*drop], [*sort]
        chosen = [_argument(name, by_keyword=True) for name in by if name not in self.own]
        self.__signature__ = inspect.Signature([*own, *chosen])

    def __call__(self, *statistics: pd.DataFrame, **named: Any) -> pd.DataFrame:
        given = self.__signature__.bind(*statistics, **named)
        given.apply_defaults()
        settings = given.arguments
        where = {**self.where} | {SETTINGS.get(name, Setting(name)).column: settings[name] for name in self.by}
        if where.get("cluster") == "both":
            where["cluster"] = CLUSTERS
        frames = [_chosen(settings[name], where) for name in self.statistics]
        rows = self.make(*frames, **{name: settings[name] for name in self.own}) if self.make else frames[0]
        rows = wide(rows, self.keys, self.values) if self.keys else rows
        rows = rows.sort_values(self.sort, kind="stable") if self.sort else rows
        return (rows[self.columns] if self.columns else rows.drop(columns=self.drop)).reset_index(drop=True)


def _argument(name: str, *, by_keyword: bool = False) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY if by_keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD
    default = SETTINGS[name].default if by_keyword and name in SETTINGS else inspect.Parameter.empty
    return inspect.Parameter(name, kind, default=default)


def _chosen(estimates: pd.DataFrame, where: Mapping[str, object]) -> pd.DataFrame:
    return select(estimates, **{name: value for name, value in where.items() if name in estimates})


def select(estimates: pd.DataFrame, **where: object) -> pd.DataFrame:
    """Rows that have the given values in the given columns.

    A value can be a list of accepted values. None accepts rows without a value in the column.
    """
    return estimates[_has(estimates, where)]


def _has(estimates: pd.DataFrame, where: Mapping[str, object]) -> np.ndarray:
    """Mask of the rows that have the given values, see `select`."""
    kept: np.ndarray = np.ones(len(estimates), dtype=bool)
    for name, value in where.items():
        column = estimates[name]
        if value is None:
            kept &= column.isna().to_numpy()
        else:
            kept &= column.isin(value if isinstance(value, list | tuple) else [value]).to_numpy()
    return kept


class Taken(NamedTuple):
    """Columns that `wide` takes from the rows with the values `where`. `columns` maps each to its new name."""

    columns: Mapping[str, str]
    where: Mapping[str, object]


Value: TypeAlias = "str | Taken | pd.DataFrame | pd.Series"  # a quantity to take, columns to take, or values


def estimate(quantity: str, name: str = "", *more: str, **where: object) -> Taken:
    """The estimate of a quantity with the ends of its interval: ``name``, ``name_low``, ``name_high``.

    Args:
        name: prefix of the new columns; by default the quantity.
        more: other columns to take from the same rows. Column `p` becomes ``{name}_p``.
        where: values that the rows must have, by column, see `select`.
    """
    name = name or quantity
    columns = {column: f"{name}{end}" for column, end in ENDS.items()} | {column: f"{name}_{column}" for column in more}
    return Taken(columns, {"quantity": quantity} | where)


def same(*columns: str) -> Taken:
    """Columns to take from the first row of each key, because their values are equal in all rows of a key."""
    return Taken(dict(zip(columns, columns, strict=True)), {})


def taken(where: str | Mapping[str, object], *columns: str, prefix: str = "", **renamed: str) -> Taken:
    """Columns to take from the rows of one quantity, or from the rows that have given values in given columns.

    Each column keeps its name or gets a new one.

    Args:
        where: the quantity, or a dictionary from column to the accepted values.
        columns: columns that keep their names, after `prefix`.
        prefix: text before the names in `columns`.
        renamed: dictionary from column to new name.
    """
    kept = {column: f"{prefix}{column}" for column in columns}
    return Taken(renamed | kept, {"quantity": where} if isinstance(where, str) else where)


def wide(estimates: pd.DataFrame, keys: Sequence[str], values: Iterable[Value]) -> pd.DataFrame:
    """One row for each value of the keys, in the order of the estimates, with values of several rows side by side.

    Args:
        estimates: a table with the keys and the columns that `values` take.
        values: choices of columns, each from at most one row per value of the keys; or tables and series with the keys
            as their index. A cell is missing if there is no such row.
    """
    keys = [*keys]
    is_first = ~estimates.duplicated(keys).to_numpy()
    number = estimates.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    firsts = estimates.loc[is_first, keys].reset_index(drop=True)
    parts = [firsts]
    for part in values:
        if isinstance(part, pd.DataFrame | pd.Series):
            parts.append(firsts.join(part, on=keys).drop(columns=keys))
            continue
        part = estimate(part) if isinstance(part, str) else part
        kept = _has(estimates, part.where) if part.where else is_first
        rows = estimates.loc[kept, [*dict.fromkeys(part.columns)]].set_axis(number[kept]).reindex(firsts.index)
        parts.append(rows.set_axis([part.columns[column] for column in rows], axis=1))
    return pd.concat(parts, axis=1)


def significant(tests: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Numbers of tests with a significant p-value: a row for each value of the keys, a column for each of `columns`."""
    return (tests[[*columns]] < SIGNIFICANT).groupby([tests[key] for key in keys]).sum()


def card_tests(order_tests: pd.DataFrame, keys: list[str], test: str, name: str = "p_card") -> pd.Series:
    """Adjusted p-values of one test, from the rows in which it is a finding of a bias card. The index is the keys.

    Args:
        order_tests: see `estimate` of `order_tests`.
        keys: columns that identify a row of the table.
        test: name of the test.
        name: name of the result.
    """
    return select(order_tests, finding=True, test=test).groupby(keys)["p_card"].min().astype(float).rename(name)


def with_flags_of(rows: pd.DataFrame, others: pd.DataFrame, keys: list[str], name: str) -> list[str]:
    """Flags of each row, followed by the flags of other estimates for the same keys, each after `name`.

    Args:
        others: estimates with the keys and `flag`, at most one per row.
        name: name of the other estimates. A flag that the row itself has is not repeated.
    """
    index = pd.MultiIndex.from_frame(rows[keys])
    of_others = others.set_index(keys)["flag"].reindex(index).fillna("")
    joined = []
    for flag, other in zip(rows["flag"].fillna(""), of_others, strict=True):
        own = [part for part in flag.split(", ") if part]
        joined.append(", ".join([*own, *(f"{name} {part}" for part in other.split(", ") if part and part not in own)]))
    return joined


# From a part of a difference between strategies (`strategy_comparison.paired_differences`) to the part's name if the
# two strategies change sides.
PARTS = {"order": "order", "averaging": "averaging_baseline", "averaging_baseline": "averaging"}


def from_strategy(differences: pd.DataFrame, strategy: str) -> pd.DataFrame:
    """Differences of a strategy from each other strategy.

    The statistic has each pair of strategies once, with the strategy on either side.

    Args:
        differences: rows of `estimate` of `strategy_comparison`.
        strategy: the strategy.

    Returns:
        The rows of pairs with this strategy, which is in column `strategy` of each row. In rows in which it was the
        `baseline`, estimates change their sign. But ``averaging`` and ``averaging_baseline`` keep their estimates, and
        swap their names.
    """
    turned = differences[differences["baseline"] == strategy]
    sign = np.where(turned["quantity"].isin(["averaging", "averaging_baseline"]), 1, -1)
    low, high = (
        np.where(sign > 0, *(turned[end] for end in ends)) for ends in (("ci_low", "ci_high"), ("ci_high", "ci_low"))
    )
    turned = turned.assign(
        strategy=strategy,
        baseline=turned["strategy"],
        quantity=turned["quantity"].replace(PARTS),
        estimate=sign * turned["estimate"],
        ci_low=sign * low,
        ci_high=sign * high,
    )
    return pd.concat([differences[differences["strategy"] == strategy], turned], ignore_index=True)
