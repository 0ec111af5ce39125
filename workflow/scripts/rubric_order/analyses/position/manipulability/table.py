"""Change that somebody who chooses the order can reach: points, ranks, and changes of the best candidate."""

from rubric_order.tables.columns import Estimated, Flags, Number, Text, texts
from rubric_order.tables.spec import Rows, Table, same, taken

CAPTION = (
    "What somebody who chooses among the orderings of {strategy} can do to scores. Points: the highest score of an "
    "item less its lowest, mean over items. With one order for all, it is the highest mean over items less the lowest; "
    "this range has no interval. Places: the lowest rank of a candidate less its highest among those of its prompt, "
    "ties counting half. Best changed: share of prompts in which none of the best candidates of the usual order (the "
    "first one, where the usual one was not read) stays among the best. Order for one item: one candidate gets another "
    "order, while the others stay in the usual one. Order for all: all get the same order. If reads differ by chance, "
    "a largest value less a smallest one is large even without any effect of the order. By chance is the same "
    "quantity where the reads of an item exchange their orderings, mean over {manipulability[exchanges]} exchanges. "
    "Any difference between the reads of an item counts as chance there. So beyond chance is too small rather than too "
    "large, and for ranks it is below 0 where an order moves all candidates alike. With one read in each ordering, "
    "the range of a single item cannot be told from chance. Reached is the same quantity in reads that had no part in "
    "the choice of the orderings: for one item, and for places, the other half of the repeats; for points with one "
    "order for all, other groups. It is 0 on average without an effect. Expected scores from option probabilities have "
    "no chance where nothing is written before the answer; where a text is written first, chance in this text counts "
    "as an effect of the order. Intervals ({bootstrap[confidence]:.0%}) are from a jackknife over groups. Those of a "
    "share of prompts that is seen are Clopper and Pearson's, and those of points that are reached with one order for "
    "all are from a bootstrap over groups. A range does not show which score is right. An unstable judge, which any "
    "other change of the prompt moves as much, has the same range."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout", "quantity", "choice"]
NAMES = {"points": "points", "places": "places", "best_changed": "best changed"}
CHOICES = {"own": "one item", "shared": "all"}
UNKNOWN = "not known"


TABLE = Table(
    rows=Rows(
        "manipulability",
        "study",
        "n",
        "strategy",
        "profile",
        keys=KEYS,
        values=[
            *(
                taken({"part": part}, estimate=part, ci_low=f"{part}_low", ci_high=f"{part}_high")
                for part in ("seen", "beyond", "reached")
            ),
            taken({"part": "chance"}, estimate="chance"),
            same("known_from", "n_items", "n_incomplete", "n_clusters"),
        ],
    ),
    columns=[
        *texts("judge", "dataset", "readout"),
        Text("quantity", names=NAMES),
        Text("choice", name="order for", names=CHOICES),
        Estimated("seen", ".2f"),
        Number("chance", ".2f", name="by chance"),
        Estimated("beyond", "+z.2f", name="beyond chance", missing=UNKNOWN),
        Estimated("reached", "+z.2f", missing=UNKNOWN),
        *texts(n_items="items"),
        Text("known_from", name="chance known from", names={"": UNKNOWN}),
        Flags(),
    ],
)
