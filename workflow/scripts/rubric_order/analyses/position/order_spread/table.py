"""Spread of the order's effects between single items, and the share of items that move."""

from rubric_order.tables.columns import Estimated, Flags, Number, estimates, texts
from rubric_order.tables.spec import Rows, Table, Value, taken

CAPTION = (
    "What an ordering does to single items, beyond what it does to all of them alike: the standard deviation of this "
    "effect between items, in points, with {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s. A mean "
    "over items does not show the effect where some items gain what others lose. At most is the upper end, at level "
    "{equivalence[level]:g}, that is compared with the margin of {order_spread[margin]:g} points; if it is below the "
    "margin, the spread is shown to be small. With option probabilities, repetition is no part of the spread where "
    "the answer begins with the score. Where a text stands before the score, chance in this text counts as an effect "
    "of the order, unless orderings were read several times. For selected options, the spread is known from repeats "
    "of every ordering, or from the probabilities of a judge whose score is one draw from them. Otherwise the effect "
    "of the order on an item cannot be told from chance, and only both together (SD of reads of an item) are known. "
    "The spread does not show why an item is moved. Three causes give the same number: a preference for positions "
    "that differs from item to item, one preference that meets items with different scores, and a judge that is "
    "unstable under any change of the prompt. Scores changed %: share of the items whose score changes under another "
    "ordering than the usual one. By option probabilities, these are the changes that must happen whatever is drawn; "
    "by repeats, those beyond chance, which are at most as many. Best changed %: share of the prompts whose best "
    "candidate changes; by option probabilities, the best is that by expected scores, however little they differ."
)
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
