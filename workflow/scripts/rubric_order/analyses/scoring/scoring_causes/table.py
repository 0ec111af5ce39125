"""Causes that move scores: position, ID, or the presence, the number and the text of a reference answer."""

from rubric_order.tables.columns import Estimated, PValue, Text, texts
from rubric_order.tables.spec import Rows, Table

TABLE = Table(
    rows=Rows("scoring_causes", "study", "profile", "cluster", drop=["study", "cluster"]),
    columns=[
        *texts("judge", "dataset", "readout"),
        Text("cause", spaced=True),
        *texts(about="of"),
        Estimated("estimate", "+.3f", name="effect", missing=""),
        *texts("unit"),
        PValue("p", missing=""),
        *texts("flag"),
    ],
)
