"""The advice of Li et al. (2025) as tests."""

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import ACCURACY_NAMES, Estimated, Flags, PValue, Text, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "What the advice of Li et al. (2025) does to agreement with golden scores: descending order of the rubric, letters "
    "or Roman numerals as score IDs, and a reference answer with the full mark, each against the study's first "
    "condition and strategy on the same items. Rows of one judge have {bootstrap[confidence]:.0%} intervals from "
    "leaving out {cluster}s. Rows of all judges have the mean of a random-effects model, which takes judges and "
    "datasets as a sample, with Hartung and Knapp's interval. Sampling errors of judges that read the "
    "same items are correlated, as estimated. Higher is better for correlations and kappa, lower for the mean absolute "
    "error. The sign * means significant after Holm's adjustment. Whether an edit without meaning does as much is "
    "shown in the table of scoring accuracy."
)
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
