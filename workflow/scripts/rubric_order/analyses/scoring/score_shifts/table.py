"""Shifts of the same items' scores by conditions and orders of a prompt."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, OfRows, PValue, Row, cell, each_row, texts
from rubric_order.tables.spec import Rows, Table, taken

KEYS = ["judge", "profile", "dataset", "n", "varied", "order", "kind", "readout"]
OF_EACH = ["estimate", "ci_low", "ci_high", "p", "p_holm", "verdict", "floor_neutral", "floor_repeats", "n_neutral"]
QUANTITIES = ("mean_shift", "mean_change", "share_changed", "total_variation")
VALUES = [*(taken(name, *OF_EACH, prefix=f"{name}_") for name in QUANTITIES)]
VALUES += [taken("mean_shift", "n_items", "n_clusters", "n_failed")]
SHIFT_ENDS = ("mean_shift_ci_low", "mean_shift_ci_high")


def _floors(name: str, form: str) -> OfRows:

    def write(row: Row) -> str:
        floors = [f"{floor:{form}}" for of in ("neutral", "repeats") if pd.notna(floor := row[f"{name}_floor_{of}"])]
        return f" ({', '.join(floors)})" if floors else ""

    return each_row(write)


def _size(name: str, head: str, form: str) -> Number:
    return Number(f"{name}_estimate", form, name=head, marks=_floors(name, form))


TABLE = Table(
    rows=Rows("score_shifts", "study", "profile", "cluster", keys=KEYS, values=VALUES),
    columns=[
        *texts("judge", "dataset"),
        cell("changed", "{varied}, {order}".format_map),
        *texts("readout", n_items="items"),
        Estimated(
            "mean_shift_estimate", "+.2f", name="mean shift", ends=SHIFT_ENDS, marks=_floors("mean_shift", ".2f")
        ),
        PValue("mean_shift_p", name="p"),
        *texts(mean_shift_verdict="small"),
        _size("share_changed", "changed items", ".0%"),
        _size("mean_change", "mean change", ".2f"),
        _size("total_variation", "total variation", ".2f"),
        Flags(),
    ],
)
