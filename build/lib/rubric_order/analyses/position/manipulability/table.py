"""Reach of somebody who chooses the order: points, rank places, and changes of the best candidate."""

from rubric_order.tables.columns import Estimated, Flags, Number, Text, texts
from rubric_order.tables.spec import Rows, Table, same, taken

CAPTION = (
    "What somebody who chooses among the orderings of {strategy} can do to scores. Points: the highest score of an "
    "item less its lowest, mean over items; of one order for all, the same of the mean over items, whose range has no "
    "interval. Places: the lowest rank of a candidate less its highest among those of its prompt, ties counting half. "
    "Best changed: share of prompts in which none of the best candidates of the usual order (the first one, where that "
    "was not read) stays among the best. One item: an order for one candidate, while the others stay in the usual one; "
    "all: one order for all. A largest value less a smallest one is large without any effect of the order, as soon as "
    "reads differ by chance. By chance: the same where the reads of an item exchange their orderings, mean over "
    "{manipulability[exchanges]} exchanges. Whatever reads of an item differ by counts as chance there, so that beyond "
    "chance is too small rather than too large, and of ranks below 0 where an order moves all candidates alike; with "
    "one read in each ordering, the range of a single item cannot be told from chance. Reached: in reads that had no "
    "part in the choice of the orderings, 0 on average without an effect: of one item the other half of its repeats, "
    "of all other groups. Expected scores by option probabilities have no chance where nothing is written before the "
    "answer; else what is written by chance counts as the order's. Intervals: {bootstrap[confidence]:.0%} jackknife "
    "over groups, of shares that are seen Clopper and Pearson's. A range says nothing of which score is right. An "
    "unstable judge that any other change of the prompt moves as much has the same range."
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
