"""Stability, consistency and fairness of judges that compare candidates, as Shi et al. print them."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Number, Text, estimates, flags, texts, varied
from rubric_order.tables.spec import Rows, Table, Taken, estimate, join_flags, select, taken, wide

CAPTION = (
    "Position bias of judges that compare answers, after Shi et al. (Judging the Judges, Table 2), with "
    "{bootstrap[confidence]:.0%} intervals over questions. The CSV file also has intervals over what questions "
    "share, such as a project. RS is repetition stability: the share of the commonest verdict among reads of one "
    "prompt; a read without a verdict counts against it. PC is position consistency: the share of comparisons with "
    "one winner in all orders, or a tie in all, of those with a verdict in each order. The columns with ± give the "
    "standard deviation over cells of candidate and task. It says how cells differ, not how sure an estimate is. PF "
    "is preference fairness: of the same comparisons, the share that are inconsistent and count for recency, less "
    "the share that are inconsistent and count for primacy. By arithmetic its size is at most 1 - PC. In lists, a "
    "judge without a preferred position does not have a PF of 0: column even gives its PF. Beta is how much more the "
    "first position adds to a candidate's log-odds than the last (conditional logit, Firth's penalty); unlike PF it "
    "does not shrink where a judge is decisive. Beta takes ties by Davidson's model. For a judge that calls a tie "
    "where two candidates are closer than some limit, beta comes out too large, by 13% with 12% of ties and by 24% "
    "with 24%. This table is by rules {position_consistency[rules]}. Rules shi2025 are those of the paper's code: "
    "the verdict is the answer's first [[A]] or Choice: A, PF is a share of all comparisons, and ± of RS is the mean "
    "over prompts of the standard deviation within a prompt. Two reads of one prompt also disagree by chance. Excess "
    "is how much more often two orders disagree than two reads of one order; it is undefined where no order was read "
    "twice, because noise and order are then not separated. The flag marks RS below {least_stability:g}, or more "
    "than {most_errors:.0%} answers without a verdict. It also marks a beta that is separated: only the penalty "
    "keeps it finite, so read its sign and not its size."
)
KEYS = ["study", "judge", "profile", "dataset", "benchmark", "strategy", "n"]
EVEN = "fairness_of_even_places"


def _measured(*quantities: str, **columns: str) -> list[Taken]:
    """Columns of quantities: estimates, other columns, intervals over groups, and intervals over what groups share."""
    values = []
    for quantity in quantities:
        own = {"estimate": "", **columns, "ci_low": "_low", "ci_high": "_high"}
        for cluster, ends in (("group", own), ("source", {"ci_low": "_source_low", "ci_high": "_source_high"})):
            names = {column: f"{quantity}{end}" for column, end in ends.items()}
            values.append(Taken(names, {"quantity": quantity, "cluster": cluster}))
    return values


MEASURES = _measured("repetition_stability", "position_consistency", "preference_fairness", sd="_sd")
MEASURES += _measured("error_rate")
FURTHER = _measured("inconsistent_primacy", "strict_flips", "soft_flips", "same_order", "other_order", "excess")
FURTHER += [taken({"quantity": EVEN, "cluster": "group"}, estimate=EVEN)]
FURTHER += [estimate("first_last", "beta", cluster="group")]
COUNTS = taken({"quantity": "position_consistency", "cluster": "group"}, n_values="n_pairs", n_clusters="n_questions")


def _rows(
    position_consistency: pd.DataFrame, *, least_stability: float, most_errors: float, judge_names: dict[str, str]
) -> pd.DataFrame:
    """One row per judge, profile, benchmark and strategy, over all tasks.

    Args:
        least_stability: lowest stability without a mark in column `flag`.
        most_errors: highest rate of errors without a mark in column `flag`.
        judge_names: dictionary from a judge's id to its name; column `judge_id` has the id.

    Returns:
        Columns are:

        - each quantity, with the ends `_low` and `_high` of its interval over questions. Stability, consistency and
          fairness also have `_sd`, a standard deviation by the rules of `position_consistency`.
        - `_source_low` and `_source_high` of a quantity: ends of the interval over what questions share, if they share
          anything.
        - `n_pairs`: number of comparisons with a verdict in each order.
        - `n_questions`: number of the questions of these comparisons.
        - `beta`: preference for the first position over the last.
    """
    chosen = select(position_consistency, task=EVERY)
    rows = wide(chosen, KEYS, [*MEASURES, COUNTS, *FURTHER]).fillna({"n_pairs": 0, "n_questions": 0})
    rows = rows.astype({"n_pairs": "Int64", "n_questions": "Int64"})
    unstable = ["low stability" if value < least_stability else "" for value in rows["repetition_stability"]]
    failing = ["many errors" if value > most_errors else "" for value in rows["error_rate"]]
    rows.insert(rows.columns.get_loc("n_questions") + 1, "flag", flags(rows["n_questions"], unstable, failing))
    rows["flag"] = join_flags(rows, select(chosen, cluster="group", quantity="first_last"), KEYS, "beta:")
    rows = rows.assign(judge_id=rows["judge"], judge=[judge_names.get(name, name) for name in rows["judge"]])
    first, last = ["judge", "benchmark"], ["judge_id", "profile", "dataset", "n", "study", "strategy"]
    return rows[[*first, *(name for name in rows if name not in (*first, *last)), *last]]


TABLE = Table(
    rows=Rows(_rows, "study"),
    columns=[
        *texts("judge", "profile", "benchmark"),
        Text("strategy", when=varied("strategy")),
        Text("n", name="candidates", when=lambda rows: (rows["n"] != 2).any()),
        Estimated("repetition_stability", ".2f", name="RS"),
        Number("repetition_stability_sd", ".2f", name="± of RS"),
        Estimated("position_consistency", ".2f", name="PC"),
        Number("position_consistency_sd", ".2f", name="± of PC"),
        Estimated("preference_fairness", "+.2f", name="PF"),
        Number(EVEN, ".2f", name="even"),
        *estimates("+.2f", "beta", "excess"),
        Number("error_rate", name="errors"),
        *texts(n_pairs="pairs", flag="flag"),
    ],
)
