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
    """A table: `rows` makes the rows of its CSV file, without `hidden`; `printed` selects those that are printed.

    An entry of `columns` can be a function from the rows to several columns.
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

    def printout(self, rows: pd.DataFrame) -> pd.DataFrame:
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

    `source`: a statistic, or a function of chosen rows by statistic. `by`: settings, see `SETTINGS`, or columns, that
    choose rows; statistics without the column are whole. `where` chooses always; `keys`, `values` as in `wide`.
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
        arguments = inspect.signature(source).parameters.values() if callable(source) else [_argument(source)]
        self.statistics = [argument.name for argument in arguments if argument.kind is not argument.KEYWORD_ONLY]
        self.own = [argument.name for argument in arguments if argument.kind is argument.KEYWORD_ONLY]
        self.by, self.where, self.keys, self.values = by, where or {}, [*keys], [*values]
        self.columns, self.drop, self.sort = [*columns], [*drop], [*sort]
        chosen = [_argument(name, by_keyword=True) for name in by if name not in self.own]
        self.__signature__ = inspect.Signature([*arguments, *chosen])

    def __call__(self, *statistics: pd.DataFrame, **named: Any) -> pd.DataFrame:
        call = self.__signature__.bind(*statistics, **named)
        call.apply_defaults()
        settings = call.arguments
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
    """Rows that have the given value, one of a list, or None for no value, in the given columns."""
    return estimates[_has(estimates, where)]


def _has(estimates: pd.DataFrame, where: Mapping[str, object]) -> np.ndarray:
    """Mask of the rows that have the given values, see `select`."""
    mask: np.ndarray = np.ones(len(estimates), dtype=bool)
    for name, value in where.items():
        column = estimates[name]
        if value is None:
            mask &= column.isna().to_numpy()
        else:
            mask &= column.isin(value if isinstance(value, list | tuple) else [value]).to_numpy()
    return mask


class Taken(NamedTuple):
    """Columns that `wide` takes from the rows with the values `where`. `columns` maps each to its new name."""

    columns: Mapping[str, str]
    where: Mapping[str, object]


Value: TypeAlias = "str | Taken | pd.DataFrame | pd.Series"  # a quantity to take, columns to take, or values


def estimate(quantity: str, name: str = "", *more: str, **where: object) -> Taken:
    """Estimate of a quantity with the ends of its interval: ``name``, ``name_low``, ``name_high``, from the rows of
    `where`.

    `more` columns of the same rows become ``{name}_{column}``.
    """
    name = name or quantity
    columns = {column: f"{name}{end}" for column, end in ENDS.items()} | {column: f"{name}_{column}" for column in more}
    return Taken(columns, {"quantity": quantity} | where)


def same(*columns: str) -> Taken:
    """Columns to take from the first row of each key, because their values are equal in all rows of a key."""
    return Taken(dict(zip(columns, columns, strict=True)), {})


def taken(where: str | Mapping[str, object], *columns: str, prefix: str = "", **renamed: str) -> Taken:
    """Columns of the rows of one quantity, or of the rows with given values, with `prefix` or renamed."""
    names = {column: f"{prefix}{column}" for column in columns}
    return Taken(renamed | names, {"quantity": where} if isinstance(where, str) else where)


def wide(estimates: pd.DataFrame, keys: Sequence[str], values: Iterable[Value]) -> pd.DataFrame:
    """One row for each value of the keys, in the order of the estimates, with values of several rows side by side.

    `values`: choices of columns, from at most one row a key, or tables indexed by the keys; cells without a row are
    missing.
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
        mask = _has(estimates, part.where) if part.where else is_first
        rows = estimates.loc[mask, [*dict.fromkeys(part.columns)]].set_axis(number[mask]).reindex(firsts.index)
        parts.append(rows.set_axis([part.columns[column] for column in rows], axis=1))
    return pd.concat(parts, axis=1)


def significant(tests: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Numbers of tests with a significant p-value: a row for each value of the keys, a column for each of `columns`."""
    return (tests[[*columns]] < SIGNIFICANT).groupby([tests[key] for key in keys]).sum()


def card_tests(order_tests: pd.DataFrame, keys: list[str], test: str, name: str = "p_card") -> pd.Series:
    """Adjusted p-values of one test by keys, from the rows of `order_tests` in which it is a finding of a bias card."""
    return select(order_tests, finding=True, test=test).groupby(keys)["p_card"].min().astype(float).rename(name)


def join_flags(rows: pd.DataFrame, others: pd.DataFrame, keys: list[str], name: str) -> list[str]:
    """Flags of each row, then those of `others` (at most one a row) for the same keys after `name`, none twice."""
    index = pd.MultiIndex.from_frame(rows[keys])
    of_others = others.set_index(keys)["flag"].reindex(index).fillna("")
    joined = []
    for flag, other in zip(rows["flag"].fillna(""), of_others, strict=True):
        parts = [part for part in flag.split(", ") if part]
        joined.append(
            ", ".join([*parts, *(f"{name} {part}" for part in other.split(", ") if part and part not in parts)])
        )
    return joined


# From a part of a difference between strategies (`strategy_comparison.paired_differences`) to the part's name if the
# two strategies change sides.
PARTS = {"order": "order", "averaging": "averaging_baseline", "averaging_baseline": "averaging"}


def differences_from(differences: pd.DataFrame, strategy: str) -> pd.DataFrame:
    """Differences of a strategy from each other one, from pairs that have it on either side; it is `strategy` in each
    row.

    Where it was the `baseline`, estimates change sign, but ``averaging`` and ``averaging_baseline`` swap names instead.
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
