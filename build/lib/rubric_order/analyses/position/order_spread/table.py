"""Spread of the order's effects between single items, and the share of items that move."""

from rubric_order.tables.columns import Estimated, Flags, Number, estimates, texts
from rubric_order.tables.spec import Rows, Table, Value, taken

CAPTION = (
    "What an ordering does to single items, beside what it does to all of them alike: its standard deviation between "
    "items, in points, with {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s. A mean over items does "
    "not show it, where some gain what others lose. At most: the upper end that is held against the margin of "
    "{order_spread[margin]:g} points, at level {equivalence[level]:g}; below it, the spread is shown to be small. By "
    "option probabilities repetition has no part in it where the answer begins with the score; where a text stands "
    "before the score, what the text does by chance counts as the order's, unless orderings were read several times. "
    "Of selected options it is known from repeats of every ordering, or from the probabilities of a judge whose score "
    "is one draw from them; elsewhere what the order does to an item and what chance does look alike, and only both "
    "together (reads of an item) are known. It does not say why an item is moved: a preference for positions that "
    "differs from item to item, one that is the same and meets items with other scores, and a judge that is unstable "
    "under any change of the prompt give the same number. Scores changed: share of the items whose score another "
    "ordering than the usual one changes; by option probabilities as many as must change whatever is drawn, by repeats "
    "those beyond chance, which is no more. Best changed: share of the prompts whose best candidate is another one; by "
    "option probabilities of the expected scores, however little they differ."
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
