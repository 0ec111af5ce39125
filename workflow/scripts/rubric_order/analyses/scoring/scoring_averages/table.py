"""Means over orders and IDs, compared with means of as many reads of one prompt."""

from rubric_order.tables.columns import ACCURACY_NAMES, Estimated, Flags, Number, PValue, Text, texts
from rubric_order.tables.spec import Rows, Table

TABLE = Table(
    rows=Rows("scoring_averages", "studies", "profile", "cluster", drop=["cluster"]),
    columns=[
        *texts("study", "judge", "dataset", "readout", "golden"),
        Text("quantity", name="of", names=ACCURACY_NAMES),
        *texts(n_calls="calls", n_items="items"),
        Number("averaged", ".2f"),
        Number("repeated", ".2f", missing=""),
        Estimated("difference", "+.3f", where="repeated"),
        PValue("p", where="repeated"),
        Flags(others=["flag"]),
    ],
)
