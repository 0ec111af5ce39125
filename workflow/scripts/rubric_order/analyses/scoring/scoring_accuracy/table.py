"""Agreement of scores with golden scores under conditions and orders of a prompt."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Flags, PValue, Row, Text, cell, different, numbers, texts, written
from rubric_order.tables.spec import Rows, Table, Value, taken, wide

KEYS = ["judge", "profile", "dataset", "n", "varied", "order", "kind", "readout", "golden"]
DIFFERENCE = ["difference", "difference_low", "difference_high", "p", "p_holm"]
VALUES: list[Value] = ["spearman", "pearson", "kappa", "mean_absolute_error"]
VALUES += [taken(name, *DIFFERENCE, prefix=f"{name}_") for name in ("spearman", "pearson")]
VALUES += [taken("pearson", "bound_low", "bound_high", "n_items", "n_clusters", "n_failed")]
FLUCTUATION = "fluctuation_"
OF_PROMPT = different("varied", "")  # rows of one prompt; all other rows are fluctuations over prompts


def _rows(scoring_accuracy: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset, variant, readout and source of golden scores; and the rows of fluctuations."""
    is_largest = scoring_accuracy["quantity"].str.startswith(FLUCTUATION)
    largest = scoring_accuracy[is_largest].sort_values([*KEYS, "quantity"], kind="stable")
    sizes = [
        taken(name, **{column: f"{name}{end}"})
        for column, end in (("estimate", ""), ("floor", "_floor"))
        for name, values in largest.groupby("quantity")[column]
        if values.notna().any()
    ]
    fluctuations = wide(largest, KEYS, [*sizes, largest.groupby(KEYS)["above_by_chance"].first()])
    return pd.concat([wide(scoring_accuracy[~is_largest], KEYS, VALUES), fluctuations], ignore_index=True)


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["dataset"].ne(EVERY) | ~OF_PROMPT(rows)]


def _is_variant(rows: pd.DataFrame) -> pd.Series:
    return OF_PROMPT(rows) & (rows["kind"] != "base")


def _prompt(row: Row) -> str:
    return f"{row['varied']}, {row['order']}" if row["varied"] else f"fluctuation, {row['kind']}"


def _correlation(quantity: str, head: str) -> Text:
    """A column of a correlation. Rows of fluctuations have their size, floor and `above_by_chance` in this column."""
    size = f"{FLUCTUATION}{quantity}"

    def write(row: Row) -> str:
        if row["varied"] or size not in row:
            return written(row[quantity], ".2f")
        often = "" if pd.isna(row["above_by_chance"]) else f"; above by chance in {row['above_by_chance']:.0%}"
        return f"{written(row[size])} ({written(row.get(f'{size}_floor', float('nan')))}{often})"

    return cell(head, write)


def _bounds(row: Row) -> str:
    return f"{written(row['bound_low'], '.2f')} to {written(row['bound_high'], '.2f')}" if row["n_failed"] else ""


TABLE = Table(
    rows=Rows(_rows, "study", "profile", "cluster"),
    columns=[
        *texts("judge", "dataset"),
        cell("prompt", _prompt),
        *texts("readout", "golden"),
        _correlation("spearman", "ρ"),
        _correlation("pearson", "r"),
        Estimated("pearson_difference", "+.3f", name="difference of r", where=_is_variant),
        PValue("pearson_p", name="p", where=_is_variant),
        *numbers(".3f", "kappa", mean_absolute_error="MAE", where=OF_PROMPT),
        cell("bounds of r", _bounds, where=OF_PROMPT),
        Flags(),
    ],
    printed=_shown,
)
