"""Length of texts and the scores that they get."""

from rubric_order.tables.columns import Estimated, Flags, Number, PValue, Text, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Correlation of a text's length (characters) with the mean score that the judge gives it, with "
    "{bootstrap[confidence]:.0%} intervals from leaving out {cluster}s. Longer texts are often better ones, so that it "
    "is no bias by itself. People: the same with human scores. Difference: the judge's less people's, on the items "
    "that people have rated (p of none, * significant at 5% after Holm's adjustment for all judges, profiles, datasets "
    "and scales of the study). It is also more than 0 where people's scores are noisier than the judge's, which makes "
    "people's correlation smaller. A textbook's metric for verbosity bias; win rates without length are in table Win "
    "rates without length. Few clusters: fewer than 30."
)
VALUES = ["study", "judge", "profile", "dataset", "strategy", "n", "readout", "quantity"]
VALUES += ["estimate", "ci_low", "ci_high", "of_people", "difference", "difference_low", "difference_high"]
VALUES += ["p", "p_holm", "n_items", "n_rated", "n_clusters"]

TABLE = Table(
    rows=Rows("length_scores", "cluster", columns=VALUES),
    columns=[
        *texts("study", "judge", "profile", "dataset", "strategy", "readout"),
        Text("quantity", name="coefficient", names={"pearson": "r", "spearman": "rho"}),
        Estimated("estimate", "+.2f", name="length and score"),
        Number("of_people", "+.2f", name="people", missing=""),
        Estimated("difference", "+.2f", missing=""),
        PValue("p", where="difference"),
        *texts(n_items="items"),
        Flags(),
    ],
)
