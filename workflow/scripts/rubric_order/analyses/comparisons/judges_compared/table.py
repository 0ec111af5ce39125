"""Judges of comparisons against one of them, by task; and self-preference."""

import pandas as pd

from rubric_order.tables import intervals

CAPTION = (
    "Judges of comparisons less one other judge, over the comparisons that both have decided in all orders, with "
    "{bootstrap[confidence]:.0%} intervals of paired differences over questions: position consistency, and preference "
    "fairness (above 0: more recency). After Shi et al. (Judging the Judges), Figure 6. Self-preference: how much more "
    "often the judge's own family wins under it than under the other judge, on the same prompts. It is a difference of "
    "two judges: it also arises where the other judge likes the family less, or is less able."
)
KEYS = ["profile", "dataset", "benchmark", "strategy", "n", "task", "judge", "other", "quantity"]
NAMES = {
    "position_consistency": "PC",
    "preference_fairness": "PF",
    "self_preference": "own family's wins",
}


def table(judges_compared: pd.DataFrame, *, study: str, reference: str | None) -> pd.DataFrame:
    """One row a judge, benchmark, task and quantity.

    Args:
        judges_compared: see `judges_compared.estimate`.
        study: whose reads.
        reference: the judge that others are compared with; None for the first one in config of each benchmark.
            Self-preference is shown against all others.
    """
    chosen = judges_compared[judges_compared["study"] == study]
    keys = ["benchmark", "dataset"]
    paired = chosen[chosen["quantity"] != "self_preference"]
    first = paired.groupby(keys, sort=False)["judge"].first()
    wanted = pd.Series(
        [first.get(key) for key in zip(chosen["benchmark"], chosen["dataset"], strict=True)], chosen.index
    )
    if reference is not None:
        wanted[:] = reference
    kept = chosen[(chosen["other"] == wanted) | (chosen["quantity"] == "self_preference")]
    values = ["estimate", "ci_low", "ci_high", "of_judge", "of_other", "n_values", "n_clusters", "flag"]
    return kept[[*KEYS, *values]].reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["benchmark", "task", "judge"]].copy()
    printed["other judge"] = rows["other"]
    printed["quantity"] = rows["quantity"].map(NAMES)
    named = rows.rename(columns={"estimate": "value", "ci_low": "value_low", "ci_high": "value_high"})
    printed["difference"] = intervals(named, "value", form="+.3f")
    printed["of the judge"] = [f"{value:.3f}" if pd.notna(value) else "" for value in rows["of_judge"]]
    printed["of the other"] = [f"{value:.3f}" if pd.notna(value) else "" for value in rows["of_other"]]
    printed["comparisons"] = rows["n_values"]
    printed["flag"] = rows["flag"]
    return printed
