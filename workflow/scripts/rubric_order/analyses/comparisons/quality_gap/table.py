"""Relation of consistency, fairness and position preference to the quality gap."""

import pandas as pd

from rubric_order.tables import intervals, widen, with_flags_of

CAPTION = (
    "Comparisons with a baseline by quality gap, with {bootstrap[confidence]:.0%} intervals over questions. Slopes: "
    "how much position consistency (PC) and preference fairness (PF) rise with a unit of the gap. PC and beta of "
    "about the quarter of comparisons with the smallest gap and with the largest (comparisons with one gap stay "
    "together; none where too few gaps differ). Own gap: distance of the candidate's win rate from even in the same "
    "judgments, as Shi et al. have it; an inconsistent pair counts as a half there, so that PC rises with it for any "
    "judge. Crossed: the win rate in the other questions of the task; others: by the other judges on the same "
    "questions; human: the difference of human scores, in points. These share no judgment with PC. Slopes over a "
    "crossed gap still reject somewhat too often, since the gap lacks the comparison's own question: in simulation 9% "
    "to 11% at a level of 5%. Flag few cells: with few candidates and tasks the crossed gap is tied to PC by "
    "arithmetic, so nothing is given. Flag separated: only Firth's penalty keeps a beta finite, which tells of its "
    "sign and not of its size."
)
KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "n", "kind"]
SLOPES = ["slope_consistency", "slope_fairness"]
IN_BINS = ["position_consistency", "preference_fairness", "first_last"]


def table(quality_gap: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """One row a judge, benchmark and kind of gap; of bins `_smallest` and `_largest`.

    Args:
        quality_gap: see `quality_gap.estimate`.
        study: whose reads.
    """
    chosen = quality_gap[quality_gap["study"] == study]
    rows = widen(chosen[chosen["bin"].isna()], KEYS, SLOPES)
    numbers = chosen.groupby(KEYS)["bin"]
    ends = {name: chosen["bin"] == numbers.transform(end) for name, end in (("smallest", "min"), ("largest", "max"))}
    ends = {name: at.fillna(value=False).astype(bool) for name, at in ends.items()}
    for name, at in ends.items():
        part = widen(chosen[at], KEYS, IN_BINS)
        columns = {
            f"{quantity}{end}": f"{quantity}_{name}{end}" for quantity in IN_BINS for end in ("", "_low", "_high")
        }
        rows = rows.merge(part.rename(columns=columns), on=KEYS, how="left")
    sizes = chosen[chosen["quantity"] == SLOPES[0]].set_index(KEYS)[["n_values", "n_clusters", "flag"]]
    rows = rows.join(sizes, on=KEYS)
    for name, at in ends.items():
        of_bin = chosen[at & (chosen["quantity"] == "first_last")]
        rows["flag"] = with_flags_of(rows, of_bin, KEYS, f"beta, {name}:")
    return rows


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["judge", "benchmark"]].copy()
    printed["gap"] = rows["kind"]
    printed["slope of PC"] = intervals(rows, "slope_consistency", form="+.2f")
    printed["slope of PF"] = intervals(rows, "slope_fairness", form="+.2f")
    for end in ("smallest", "largest"):
        printed[f"PC, {end}"] = intervals(rows, f"position_consistency_{end}", form=".2f")
        printed[f"beta, {end}"] = intervals(rows, f"first_last_{end}", form="+.2f")
    printed["comparisons"] = rows["n_values"]
    printed["flag"] = rows["flag"]
    return printed
