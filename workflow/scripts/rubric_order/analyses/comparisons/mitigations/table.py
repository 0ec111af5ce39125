"""Costs and benefits of mitigations of position bias."""

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Number, Text, each_row, estimates, known, texts, written
from rubric_order.tables.spec import Rows, Table, Value, taken

KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "task", "gap", "policy", "calls"]
VALUES: list[Value] = ["coverage", "accuracy", "accuracy_ties_half", "gain", "correlation"]
VALUES += ["win_rate_error", "win_rate_noise", "consistency", "first_place", "with_overall", "length_correlation"]
VALUES += [taken("coverage", n_pairs="n_pairs", n_clusters="n_groups", flag="flag")]
POLICY_NAMES = {
    "one_order": "one order",
    "random_order": "random order",
    "swap_else_tie": "both orders, else tie",
    "swap_average": "both orders, averaged",
    "one_order_repeated": "one order, k reads",
    "overall": "overall verdict",
    "overall_repeated": "overall verdict, k reads",
    "overall_swapped": "overall verdict, both orders",
    "criteria_combined": "criteria, combined",
    "criteria_swapped": "criteria in both orders, combined",
}
BY_CHANCE = each_row(lambda row: f" ({written(row['win_rate_noise'])})")

TABLE = Table(
    rows=Rows("mitigations", "study", keys=KEYS, values=VALUES),
    columns=[
        Text("judge", names={EVERY: "all, drawn"}),
        *texts("benchmark"),
        Text("policy", names=POLICY_NAMES),
        *texts("calls"),
        *estimates(".3f", coverage="decided", accuracy="right", accuracy_ties_half="right, a tie as half"),
        Estimated("gain", "+.3f", missing=""),
        Estimated("correlation", ".2f", name="r"),
        Number("win_rate_error", name="win rates (by chance)", marks=BY_CHANCE),
        Number("consistency", name="consistent"),
        Number("first_place", "+.3f", name="first position"),
        Estimated("with_overall", ".2f", name="like overall", missing="", when=known("with_overall")),
        Estimated("length_correlation", ".2f", name="r with length", missing="", when=known("length_correlation")),
        *texts(n_pairs="pairs", flag="flag"),
    ],
    printed={"task": EVERY, "gap": EVERY},
)
