"""Length of texts and the scores that they get."""

from rubric_order.tables.columns import Estimated, Flags, Number, PValue, Text, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Correlation of a text's length (characters) with the mean score that the judge gives it, with "
    "{bootstrap[confidence]:.0%} intervals from leaving out {cluster}s. Longer texts are often better ones, so the "
    "correlation is no bias by itself. People is the same correlation with human scores. Difference is the judge's "
    "less people's, on the items that people have rated; p tests that there is none (* significant at 5% after Holm's "
    "adjustment for all judges, profiles, datasets and scales of the study). The difference is also more than 0 where "
    "people's scores are noisier than the judge's, because noise makes people's correlation smaller. The correlation "
    "is a textbook's metric for verbosity bias; the table Win rates without length has such win rates. Few clusters "
    "are fewer than 30."
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
