"""Relation of consistency, fairness and position preference to the quality gap."""

import pandas as pd

from rubric_order.tables.columns import Estimated, estimates, texts
from rubric_order.tables.spec import Rows, Table, Value, estimate, join_flags, select, taken, wide

CAPTION = (
    "Position bias in comparisons with a baseline, by quality gap, with {bootstrap[confidence]:.0%} intervals over "
    "questions. Slopes are how much position consistency (PC) and preference fairness (PF) rise with a unit of the "
    "gap. Columns smallest and largest give PC and beta of about the quarter of comparisons with the smallest gap and "
    "with the largest. Comparisons with one gap stay together; where too few gaps differ, there are no quarters. Own "
    "gap is the distance of the candidate's win rate from even in the same judgments, as in Shi et al. An inconsistent "
    "pair counts as a half in that win rate, so PC rises with this gap for any judge. Crossed gap takes the win rate "
    "in the other questions of the task; others takes the win rate by the other judges on the same questions; human is "
    "the difference of human scores, in points. These three share no judgment with PC. Tests of slopes over a crossed "
    "gap still reject somewhat too often, because the gap leaves out the comparison's own question: in simulation 9% "
    "to 11% at a level of 5%. The flag few cells means that there are few combinations of candidate and task. The "
    "crossed gap then depends on PC by arithmetic, so nothing is given. The flag separated means that only Firth's "
    "penalty keeps a beta finite, so read its sign and not its size."
)
KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "n", "kind"]
BINS = {"smallest": "min", "largest": "max"}
IN_BINS = ["position_consistency", "preference_fairness", "first_last"]
VALUES: list[Value] = ["slope_consistency", "slope_fairness"]
VALUES += [estimate(name, f"{name}_{end}", **{end: True}) for end in BINS for name in IN_BINS]
VALUES += [taken("slope_consistency", "n_values", "n_clusters", "flag")]


def _rows(quality_gap: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, benchmark and kind of gap. Suffixes `_smallest` and `_largest` mean the first and last bin."""
    bins = quality_gap.groupby(KEYS)["bin"]
    at_end = {name: (quality_gap["bin"] == bins.transform(end)).fillna(value=False) for name, end in BINS.items()}
    chosen = quality_gap.assign(**at_end)
    rows = wide(chosen, KEYS, VALUES)
    for end in BINS:
        of_bin = select(chosen, quantity="first_last", **{end: True})
        rows["flag"] = join_flags(rows, of_bin, KEYS, f"beta, {end}:")
    return rows


TABLE = Table(
    rows=Rows(_rows, "study"),
    columns=[
        *texts("judge", "benchmark", kind="gap"),
        *estimates("+.2f", slope_consistency="slope of PC", slope_fairness="slope of PF"),
        Estimated("position_consistency_smallest", ".2f", name="PC, smallest"),
        Estimated("first_last_smallest", "+.2f", name="beta, smallest"),
        Estimated("position_consistency_largest", ".2f", name="PC, largest"),
        Estimated("first_last_largest", "+.2f", name="beta, largest"),
        *texts(n_values="comparisons", flag="flag"),
    ],
)
