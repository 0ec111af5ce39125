"""How much the ranking of candidates changes with the order of the options."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, intervals, numbers, widen

CAPTION = (
    "How much the ranking of a prompt's candidates changes from {strategy} to {other}, with the columns of Xu et al. "
    "(2026), Table 7: Kendall's tau, and the share of prompts whose best candidate changes (flips), in expectation "
    "when ties are broken at random, with {bootstrap[confidence]:.0%} bootstrap intervals over groups. Rankings from "
    "few reads differ also by chance. Noise: the same between two halves of one strategy's reads, the mean of both "
    "strategies. Excess: the reversal between halves of the two strategies less that noise, which is 0 on average "
    "where the order of the options means nothing. The CSV file has tau-b, and the flips when the first of several "
    "best candidates counts."
)
KEYS = ["judge", "dataset", "readout", "strategy", "other"]
QUANTITIES = ("kendall_tau", "top1_flip", "kendall_tau_b", "top1_flip_first")
COMPARISONS = ("between", "between_halves", "within_strategy", "within_other", "excess")


def table(
    rank_reversal: pd.DataFrame, *, study: str, strategy: str, other: str, n: int, profile: str = "default"
) -> pd.DataFrame:
    """One row a judge, dataset and readout: every comparison and quantity with its interval.

    Args:
        rank_reversal: see `rank_reversal.estimate`.
        strategy, other: the strategies to compare; the statistics have each pair once, in either order.
    """
    chosen = rank_reversal.query("study == @study and profile == @profile and n == @n")
    chosen = chosen[chosen["strategy"].isin([strategy, other]) & chosen["other"].isin([strategy, other])]
    chosen = chosen.assign(quantity=chosen["comparison"] + "_" + chosen["quantity"])
    names = [f"{comparison}_{quantity}" for comparison in COMPARISONS for quantity in QUANTITIES]
    counts = chosen.groupby(KEYS, sort=False)[["n_prompts", "n_groups"]].first().reset_index()
    return counts.merge(widen(chosen, KEYS, names), on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of Xu et al. (2026), Table 7, with the noise beside them.

    Tau-b, and the flips when the first of several best candidates counts, are left to the CSV file.
    """
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["prompts"] = rows["n_prompts"]
    flips = {"form": ".1f", "times": 100}
    printed["tau"] = intervals(rows, "between_kendall_tau", form=".2f")
    printed["flips %"] = intervals(rows, "between_top1_flip", **flips)
    halves = {name: rows[[f"{part}_{name}" for part in COMPARISONS[2:4]]].mean(axis=1) for name in QUANTITIES[:2]}
    printed["noise: tau"] = numbers(halves["kendall_tau"], form=".2f")
    printed["noise: flips %"] = numbers(halves["top1_flip"], form=".1f", times=100)
    printed["excess: tau"] = intervals(rows, "excess_kendall_tau", form="+.3f")
    printed["excess: flips %"] = intervals(rows, "excess_top1_flip", form="+.1f", times=100)
    return printed
