"""Costs and benefits of mitigations of position bias."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import intervals, numbers, widen

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
QUANTITIES = [
    "coverage",
    "accuracy",
    "accuracy_ties_half",
    "gain",
    "correlation",
    "win_rate_error",
    "win_rate_noise",
    "consistency",
    "first_place",
    "with_overall",
    "length_correlation",
]
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


def table(mitigations: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """One row a judge, benchmark, task, range of human differences and policy.

    Args:
        mitigations: see `mitigations.estimate`.
        study: whose reads.

    Returns:
        Each quantity with `_low` and `_high`; `n_pairs` and `n_groups` are those of all pairs of the range.
    """
    chosen = mitigations[mitigations["study"] == study]
    rows = widen(chosen, KEYS, QUANTITIES)
    sizes = chosen[chosen["quantity"] == "coverage"].set_index(KEYS)[["n_pairs", "n_clusters", "flag"]]
    return rows.join(sizes.rename(columns={"n_clusters": "n_groups"}), on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of all tasks and all differences."""
    rows = rows[(rows["task"] == EVERY) & (rows["gap"] == EVERY)].reset_index(drop=True)
    printed = rows[["judge", "benchmark"]].copy()
    printed["judge"] = rows["judge"].replace({EVERY: "all, drawn"})
    printed["policy"] = rows["policy"].map(POLICY_NAMES)
    printed["calls"] = rows["calls"]
    printed["decided"] = intervals(rows, "coverage")
    printed["right"] = intervals(rows, "accuracy")
    printed["right, a tie as half"] = intervals(rows, "accuracy_ties_half")
    gains = intervals(rows, "gain", form="+.3f")
    printed["gain"] = ["" if text == "undefined" else text for text in gains]
    printed["r"] = intervals(rows, "correlation", form=".2f")
    errors = zip(numbers(rows["win_rate_error"]), numbers(rows["win_rate_noise"]), strict=True)
    printed["win rates (by chance)"] = [f"{error} ({noise})" for error, noise in errors]
    printed["consistent"] = numbers(rows["consistency"])
    printed["first position"] = numbers(rows["first_place"], form="+.3f")
    for name, head in (("with_overall", "like overall"), ("length_correlation", "r with length")):
        if rows[name].notna().any():
            printed[head] = ["" if text == "undefined" else text for text in intervals(rows, name, form=".2f")]
    printed["pairs"] = rows["n_pairs"]
    printed["flag"] = rows["flag"]
    return printed
