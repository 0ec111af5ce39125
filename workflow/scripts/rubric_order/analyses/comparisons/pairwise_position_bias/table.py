"""Stability, consistency and fairness of judges that compare candidates, as Shi et al. print them."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Number, Text, estimates, flags, texts, varied
from rubric_order.tables.spec import Rows, Table, Taken, estimate, join_flags, select, taken, wide

KEYS = ["study", "judge", "profile", "dataset", "benchmark", "strategy", "n"]
EVEN = "fairness_of_even_places"


def _measured(*quantities: str, **columns: str) -> list[Taken]:
    values = []
    for quantity in quantities:
        group_ends = {"estimate": "", **columns, "ci_low": "_low", "ci_high": "_high"}
        for cluster, ends in (("group", group_ends), ("source", {"ci_low": "_source_low", "ci_high": "_source_high"})):
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
    """One row per judge, profile, benchmark and strategy, over all tasks."""
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
