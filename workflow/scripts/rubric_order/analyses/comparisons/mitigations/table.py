"""Costs and benefits of mitigations of position bias."""

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Number, Text, each_row, estimates, known, texts, written
from rubric_order.tables.spec import Rows, Table, Value, taken

CAPTION = (
    "Mitigations of position bias beside human scores, over pairs that people tell apart and that have a verdict in "
    "both orders, with {bootstrap[confidence]:.0%} intervals over groups. Calls is the number of reads of a pair. "
    "Decided is the share of pairs with a winner. Right is the share of the decided pairs whose winner is that of "
    "people; a policy that decides less often can be right more often without knowing more. Right, a tie as half, is "
    "over all pairs; by arithmetic it is the same for the average of two orders as for a random order. Column r is the "
    "correlation of the verdict (1, a half, 0) with the difference of the human scores. Win rates is the mean absolute "
    "error of the candidates' win rates. The brackets give the error that chance alone makes for a judge whose win "
    "rates are those of people. Averaging makes that error smaller, and so looks better even where it judges no "
    "better. Consistent is how often the other order gives the same verdict, 1 by construction of two orders together. "
    "First position is the share of pairs that the first position wins, less that of the second; 0 by construction of "
    "two orders. Gain is what a policy adds to right, a tie as half, over the same pairs. It is the gain over one "
    "order; for a majority, it is the gain over a judge that is drawn from those who vote. For a random order and for "
    "both orders it also depends on which candidates are listed first, which is no merit. Both orders averaged gain "
    "nothing over a random order. Judge majority is the commonest verdict of all judges, a tie where several are "
    "commonest; all, drawn is one of them at random. More reads of one order take away noise, and leave what the "
    "position adds. Criteria, combined is what most verdicts under single criteria say, beside overall verdicts on the "
    "same pairs and people's overall scores. Its gain is over as many reads of the overall verdict or more, because "
    "both take away noise. Like overall is the share of pairs decided as by one overall verdict. Column r with length "
    "is the correlation of the verdict with the difference of the texts' lengths."
)
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
