"""Spread of the order's effects between single items, and the share of items that move."""

from rubric_order.tables.columns import Estimated, Flags, Number, estimates, texts
from rubric_order.tables.spec import Rows, Table, Value, taken

KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
VALUES: list[Value] = ["spread", "within", "changed", "best_changed"]
VALUES += [taken("spread", "margin", "verdict", high="at_most"), taken("within", "known_from", "n_items", "n_clusters")]
NOT_KNOWN = "not known"

TABLE = Table(
    rows=Rows("order_spread", "study", "cluster", keys=KEYS, values=VALUES),
    columns=[
        *texts("judge", "profile", "dataset", "strategy", "n", "readout", n_items="items"),
        Estimated("spread", ".2f", name="SD between items", missing=NOT_KNOWN),
        Number("at_most", ".2f", name="at most", missing=""),
        *texts(verdict="below the margin"),
        Estimated("within", ".2f", name="SD of reads of an item", missing=NOT_KNOWN),
        *estimates(".0f", changed="scores changed %", best_changed="best changed %", times=100, missing=NOT_KNOWN),
        *texts(known_from="known from"),
        Flags(),
    ],
)
