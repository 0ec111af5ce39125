"""Stability, consistency and fairness of judges that compare candidates, as Shi et al. print them."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import flags, intervals, numbers, with_flags_of

CAPTION = (
    "Position bias of judges that compare answers, after Shi et al. (Judging the Judges, Table 2), with "
    "{bootstrap[confidence]:.0%} intervals over questions (in the CSV file also over what questions share, such as a "
    "project). RS, repetition stability: share of the commonest verdict among reads of one prompt; a read without a "
    "verdict counts against it. PC, position consistency: share of comparisons with one winner in all orders, of "
    "those with a verdict in each; ± is the standard deviation over cells of candidate and task, which says how these "
    "differ and not how sure a number is. PF, preference fairness: share of inconsistent comparisons that count for "
    "recency less that for primacy; its size is at most 1 - PC by arithmetic. Of lists, PF of a judge without a "
    "preferred position is not 0 but as in the column even. Beta: how much more the first position adds to a "
    "candidate's log-odds than the last (conditional logit, Firth's penalty); unlike PF it does not shrink where a "
    "judge is decisive. It takes ties by Davidson's model: of a judge that calls a tie where two candidates are closer "
    "than some limit, it comes out too large, by 13% with 12% of ties and by 24% with 24%. By rules shi2025, those of "
    "the paper's code, the verdict is the answer's first [[A]] or Choice: A, PF is a share of all comparisons, and ± "
    "of RS the mean over prompts of the standard deviation within a prompt; this table is by rules "
    "{position_consistency[rules]}. Two reads of one prompt also disagree by chance: excess is how much more often two "
    "orders disagree than two reads of one order; undefined where no order was read twice, so that noise and order are "
    "not separated. Marked: RS below {least_stability:g}, or more than {most_errors:.0%} answers without a verdict; "
    "and beta where it is separated: only the penalty keeps it finite, and it tells of the sign and not of the size."
)
KEYS = ["study", "judge", "profile", "dataset", "benchmark", "strategy", "n"]
QUANTITIES = ["repetition_stability", "position_consistency", "preference_fairness", "error_rate"]
FURTHER = ["inconsistent_primacy", "strict_flips", "soft_flips", "same_order", "other_order", "excess"]


def table(
    position_consistency: pd.DataFrame,
    *,
    study: str,
    least_stability: float,
    most_errors: float,
    judge_names: dict[str, str],
) -> pd.DataFrame:
    """One row a judge, profile, benchmark and strategy, over all tasks.

    Args:
        position_consistency: see `position_consistency.estimate`.
        least_stability, most_errors: what is marked in column `flag`.
        judge_names: what judges are called; the id stands in `judge_id`.

    Returns:
        Each quantity with `_low` and `_high`, of stability, consistency and fairness also `_sd` (by the statistic's
        rules); the same with `_source` over what questions share, where they share anything. `n_pairs` comparisons have
        a verdict in each order, of `n_questions` questions. `beta` is the preference for the first position over the
        last.
    """
    chosen = position_consistency.query(f"study == @study and task == '{EVERY}'")
    groups, sources = (chosen[chosen["cluster"] == name] for name in ("group", "source"))
    rows = groups[KEYS].drop_duplicates().set_index(KEYS)
    for quantity in [*QUANTITIES, *FURTHER]:
        of_groups, of_sources = (part[part["quantity"] == quantity].set_index(KEYS) for part in (groups, sources))
        rows[quantity] = of_groups["estimate"]
        if quantity in QUANTITIES[:3]:
            rows[f"{quantity}_sd"] = of_groups["sd"]
        rows[f"{quantity}_low"], rows[f"{quantity}_high"] = of_groups["ci_low"], of_groups["ci_high"]
        rows[f"{quantity}_source_low"] = of_sources["ci_low"]
        rows[f"{quantity}_source_high"] = of_sources["ci_high"]
    consistency = groups[groups["quantity"] == "position_consistency"].set_index(KEYS)
    even = groups[groups["quantity"] == "fairness_of_even_places"].set_index(KEYS)
    rows["fairness_of_even_places"] = even["estimate"]
    first = groups[groups["quantity"] == "first_last"]
    rows[["beta", "beta_low", "beta_high"]] = first.set_index(KEYS)[["estimate", "ci_low", "ci_high"]]
    rows["n_pairs"] = consistency["n_values"].astype("Int64")
    rows["n_questions"] = consistency["n_clusters"].astype("Int64")
    rows = rows.reset_index()
    rows = rows.assign(
        n_pairs=rows["n_pairs"].fillna(0),
        n_questions=rows["n_questions"].fillna(0),
        judge_id=rows["judge"],
        judge=[judge_names.get(name, name) for name in rows["judge"]],
    )
    unstable = ["low stability" if value < least_stability else "" for value in rows["repetition_stability"]]
    failing = ["many errors" if value > most_errors else "" for value in rows["error_rate"]]
    rows["flag"] = flags(rows["n_questions"], unstable, failing)
    of_beta = first.assign(judge_id=first["judge"])
    rows["flag"] = with_flags_of(rows, of_beta, [name if name != "judge" else "judge_id" for name in KEYS], "beta:")
    further = [name for name in rows if name.startswith((*FURTHER, "fairness_of_even_places", "beta"))]
    measures = [name for name in rows if name.startswith((*QUANTITIES,))]
    kept = ["judge", "benchmark", *measures, "n_pairs", "n_questions", "flag", *further]
    return rows[[*kept, "judge_id", "profile", "dataset", "n", "study", "strategy"]]


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The measures with their intervals, and what Shi et al. print beside."""
    printed = rows[["judge", "profile", "benchmark"]].copy()
    if rows["strategy"].nunique() > 1:
        printed["strategy"] = rows["strategy"]
    if (rows["n"] != 2).any():
        printed["candidates"] = rows["n"]
    printed["RS"] = intervals(rows, "repetition_stability", form=".2f")
    printed["± of RS"] = numbers(rows["repetition_stability_sd"], form=".2f")
    printed["PC"] = intervals(rows, "position_consistency", form=".2f")
    printed["± of PC"] = numbers(rows["position_consistency_sd"], form=".2f")
    printed["PF"] = intervals(rows, "preference_fairness", form="+.2f")
    printed["even"] = numbers(rows["fairness_of_even_places"], form=".2f")
    printed["beta"] = intervals(rows, "beta", form="+.2f")
    printed["excess"] = intervals(rows, "excess", form="+.2f")
    printed["errors"] = numbers(rows["error_rate"], form=".3f")
    printed["pairs"] = rows["n_pairs"]
    printed["flag"] = rows["flag"]
    return printed
