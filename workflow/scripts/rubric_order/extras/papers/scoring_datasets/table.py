"""Parts of datasets that a study of scoring bias needs, as Li et al. (2025) print them."""

from rubric_order.tables.columns import Text, counts, texts
from rubric_order.tables.spec import Rows, Table

TABLE = Table(
    rows=Rows("scoring_datasets"),
    columns=[
        *texts("dataset"),
        *counts(n_items="items", n_groups="groups", n_human="human scores", n_labels="labels"),
        *counts(n_reference="reference answers", published_items="published items"),
        Text("published_human", name="published human scores", missing=""),
        Text("published_reference", name="published reference answers", missing=""),
    ],
)
