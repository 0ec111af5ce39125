"""Costs and benefits of mitigations of position bias."""

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Number, Text, each_row, estimates, known, texts, written
from rubric_order.tables.spec import Rows, Table, Value, taken

CAPTION = (
    "Mitigations of position bias beside human scores, of pairs that people tell apart and that have a verdict in "
    "both orders, with {bootstrap[confidence]:.0%} intervals over groups. Calls: reads of a pair. Decided: share of "
    "pairs with a winner. Right: of these, the share whose winner is that of people; a policy that decides less often "
    "can be right more often without telling more. Right, a tie as half: of all pairs; averaging two orders leaves it "
    "as it is in a random order, by arithmetic. r: correlation of the verdict (1, a half, 0) with the difference of "
    "the human scores. Win rates: mean absolute error of the candidates' win rates, and in brackets what chance alone "
    "makes of it in a judge whose win rates are those of people: averaging makes less of it, and so looks better also "
    "where it judges no better. Consistent: whether the other "
    "order gives the same verdict, 1 by construction of two orders together. First position: share of pairs that the "
    "first position wins, less that of the second; 0 by construction of two. Gain: what a policy adds to right, a tie "
    "as half, over the same pairs: to one order (of a random order and of both orders it depends also on which "
    "candidates are listed first, which is no merit; over a random order both orders averaged gain nothing); of a "
    "majority to a judge that is drawn from those who vote. Judge majority: the commonest verdict of all judges, a "
    "tie where several are commonest; all, drawn: one of them at random. More reads of one order take away noise, and "
    "leave what the position adds. Criteria, combined: what most verdicts under single criteria say, beside overall "
    "verdicts on the same pairs and people's overall scores; its gain is over as many reads of the overall verdict or "
    "more, for both take away noise. Like overall: share of pairs decided as by one overall verdict. r with length: "
    "of the verdict with the difference of the texts' lengths."
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
