"""Length of texts and the scores that they get."""

from rubric_order.tables.columns import Estimated, Flags, Number, PValue, Text, texts
from rubric_order.tables.spec import Rows, Table

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
