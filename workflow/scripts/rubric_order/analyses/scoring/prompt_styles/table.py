"""Two prompts of one judge, from recorded answers."""

import pandas as pd

from rubric_order.tables.columns import Flags, PValue, Row, cell, each_row, estimate_text, numbers, texts, written
from rubric_order.tables.spec import Rows, Table

VALUES = ["study", "profile", "dataset", "n", "model", "style", "other_style", "judge", "other", "criterion"]
VALUES += ["quantity", "score", "of_one", "of_other", "of_human", "estimate", "ci_low", "ci_high", "p", "p_holm"]
VALUES += ["bound_low", "bound_high", "floor", "at_repeats", "repeats_of", "repeated", "n_repeats"]
VALUES += ["n_items", "n_clusters", "n_reads_one", "n_failed_one", "n_reads_other", "n_failed_other"]
# Name and format of each quantity.
HEADS = {
    "mean_shift": ("mean score", ".2f"),
    "mean_change": ("mean change", ".2f"),
    "share_changed": ("changed", ".0%"),
    "total_variation": ("total variation", ".2f"),
    "share": ("share of {score}", ".0%"),
    "spearman": ("ρ", ".3f"),
    "pearson": ("r", ".3f"),
    "kappa": ("kappa", ".3f"),
    "mean_absolute_error": ("MAE", ".2f"),
}
SIZES = ("mean_change", "share_changed", "total_variation")  # quantities without a sign
REPEATS = " ({n_repeats} items of {repeated}, {repeats_of})"
FAILED = "{n_failed_one} of {n_reads_one}, {n_failed_other} of {n_reads_other}"


def _quantity(row: Row) -> str:
    return HEADS[row["quantity"]][0].format_map(row)


def _form(row: Row) -> str:
    return HEADS[row["quantity"]][1]


def _difference(row: Row) -> str:
    form = ("" if row["quantity"] in SIZES else "+") + _form(row)
    value, low, high = row["estimate"], row["ci_low"], row["ci_high"]
    text = written(value, form) if pd.isna(low) else estimate_text(value, low, high, form=form)
    return f"{text} ({row['bound_low']:{form}}, {row['bound_high']:{form}})" if pd.notna(row["bound_low"]) else text


def _repeats(row: Row) -> str:
    form = _form(row)
    return f"{row['floor']:{form}} against {row['at_repeats']:{form}}{REPEATS.format_map(row)}"


TABLE = Table(
    rows=Rows("prompt_styles", "study", "profile", "cluster", columns=VALUES),
    columns=[
        *texts("model", "dataset"),
        cell("prompts", "{style}, {other_style}".format_map),
        *texts("criterion"),
        cell("quantity", _quantity),
        *texts(n_items="items"),
        *numbers(each_row(_form), of_one="first", of_other="other", of_human="people", missing=""),
        cell("difference", _difference),
        PValue("p", missing=""),
        cell("repeats", _repeats, where="floor"),
        cell("without a score", FAILED.format_map),
        Flags(),
    ],
)
