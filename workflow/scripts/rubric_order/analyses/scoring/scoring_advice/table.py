"""The advice of Li et al. (2025) as tests."""

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import ACCURACY_NAMES, Estimated, Flags, PValue, Text, texts
from rubric_order.tables.spec import Rows, Table

ORDER = ["advice", "golden", "readout", "quantity", "term"]

TABLE = Table(
    rows=Rows("scoring_advice", "studies", "profile", "cluster", sort=ORDER, drop=["cluster"]),
    columns=[
        Text("advice", spaced=True),
        Text("judge", names={EVERY: "all judges"}),
        *texts("dataset", "readout", "golden"),
        Text("quantity", name="of", names=ACCURACY_NAMES),
        Estimated("estimate", "+.3f", name="difference"),
        PValue("p"),
        Flags(lambda rows: rows["n_clusters"].where(rows["term"] == "judge", float("inf"))),
    ],
)
