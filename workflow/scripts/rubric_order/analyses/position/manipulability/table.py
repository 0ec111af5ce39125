"""Change that somebody who chooses the order can reach: points, ranks, and changes of the best candidate."""

from rubric_order.tables.columns import Estimated, Flags, Number, Text, texts
from rubric_order.tables.spec import Rows, Table, same, taken

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
