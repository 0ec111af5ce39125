"""Means over orders and IDs, compared with means of as many reads of one prompt."""

from rubric_order.tables.columns import ACCURACY_NAMES, Estimated, Flags, Number, PValue, Text, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Agreement with golden scores of the mean over orders and IDs (averaged), against the mean of as many reads of the "
    "base (repeated), at equal calls. Averaged takes one read each of the base and of every variant that changes its "
    "order or IDs alone. Difference is averaged less repeated on the same items, with {bootstrap[confidence]:.0%} "
    "intervals and p from leaving out {cluster}s (* significant after Holm's adjustment). At temperature 0 all reads "
    "of one prompt are taken as one read, so repeating costs calls and changes nothing. A gain mixes two things: "
    "averaging over independent errors, and balance of biases. Li et al. (2025) propose to average and do not test it."
)
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
