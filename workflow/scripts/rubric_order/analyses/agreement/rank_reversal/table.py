"""Changes of the ranking of candidates with the order of the options."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, SIGNIFICANT, flags, intervals, numbers, widen

CAPTION = (
    "How much the ranking of a prompt's candidates changes from {strategy} to {other}, with the columns of Xu et al. "
    "(2026), Table 7: Kendall's tau-b, and flips, the share of prompts in which no candidate is among the best of "
    "both rankings. A tie is no flip: ties, what breaking them at random would add to the flips; with ties, the sum, "
    "which is what a choice of one best candidate shows (the paper does not say how it breaks ties). Intervals are "
    "{bootstrap[confidence]:.0%} ones of a jackknife over groups. Rankings from few reads differ also by chance. "
    "Noise: the same between two halves of one strategy's reads, each strategy by itself. Excess: the reversal between "
    "halves of the two strategies beyond what these noises explain, if both strategies are noise around one ranking of "
    "normal scores (the geometric mean of their agreements on Greiner's scale). It is 0 on average where the order of "
    "the options means nothing. * more than 0: significant at 5%, one-sided, after Holm's adjustment for all judges, "
    "profiles, datasets and scales of the study. Tau also falls where one strategy ties what the other tells apart, so "
    "its p is not less than that of reversed pairs. Unequal noise: noises differ (p below .05, of tau or of flips), "
    "and the excess rests on that formula. It then includes how far scores are from normal, and what one order is "
    "surer of in some prompts only; and real reversals are found less often. Intervals, and p of ties, are "
    "two-sided: a star can stand beside a 95% interval that holds 0, with a p from .025 to .05. Excess at least: the "
    "halves of a strategy have no ordering in common, which makes the noise too large. Few clusters: one of the "
    "numbers comes from fewer than 30 groups; with 18, intervals of flips and of their excess hold the truth in 88% to "
    "90% of simulated studies. The CSV file has the shares of pairs that are reversed and tied."
)
KEYS = ["judge", "dataset", "readout", "strategy", "other"]
QUANTITIES = ("kendall_tau_b", "top1_flip", "top1_tie", "reversed_pairs", "tied_pairs")
TESTED = ("kendall_tau_b", "top1_flip")
STRATEGIES = ("one", "other")  # their names where a table has no rows
COMPARISONS = ("between", "between_halves", "within_strategy", "within_other", "excess")


def table(
    rank_reversal: pd.DataFrame, *, study: str, strategy: str, other: str, n: int, profile: str = "default"
) -> pd.DataFrame:
    """One row a judge, dataset and readout: every comparison and quantity with its interval.

    `n_groups` is that of the comparison and quantity with the fewest, of those that are defined.

    Args:
        rank_reversal: see `rank_reversal.estimate`.
        strategy, other: the strategies to compare; the statistics have each pair once, in either order.
    """
    chosen = rank_reversal.query("study == @study and profile == @profile and n == @n")
    chosen = chosen[chosen["strategy"].isin([strategy, other]) & chosen["other"].isin([strategy, other])]
    chosen = chosen.assign(quantity=chosen["comparison"] + "_" + chosen["quantity"])
    quantities = [f"{comparison}_{quantity}" for comparison in COMPARISONS for quantity in QUANTITIES]
    told = chosen.assign(n_groups=chosen["n_groups"].where(chosen["n_defined"] > 0)).groupby(KEYS, sort=False)
    counts = told.agg(n_prompts=("n_prompts", "first"), n_groups=("n_groups", "min")).reset_index()
    counts["n_groups"] = counts["n_groups"].fillna(0).astype(int)
    excess = chosen[chosen["comparison"] == "excess"].groupby(KEYS)["independent"].first()
    quantities.insert(quantities.index("between_top1_tie") + 1, "between_top1_random")
    rows = counts.merge(widen(chosen, KEYS, quantities), on=KEYS).set_index(KEYS)
    rows["independent"] = excess.reindex(rows.index)
    for name in TESTED:
        tests = chosen[chosen["quantity"] == f"excess_{name}"].set_index(KEYS)
        for column in ("p", "p_holm", "p_bh", "p_noise"):
            rows[f"excess_{name}_{column}"] = tests[column].reindex(rows.index)
    return rows.reset_index()


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of Xu et al. (2026), Table 7, with ties and noise beside them."""
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["prompts"] = rows["n_prompts"]
    flips = {"form": ".1f", "times": 100}
    printed["tau"] = intervals(rows, "between_kendall_tau_b", form=".2f")
    printed["flips %"] = intervals(rows, "between_top1_flip", **flips)
    printed["ties %"] = intervals(rows, "between_top1_tie", **flips)
    printed["with ties %"] = intervals(rows, "between_top1_random", **flips)
    of_both = zip(COMPARISONS[2:4], [*rows["strategy"].head(1), *rows["other"].head(1)] or STRATEGIES, strict=True)
    for part, strategy in of_both:
        printed[f"noise: tau, {strategy}"] = numbers(rows[f"{part}_kendall_tau_b"], form=".2f")
        printed[f"noise: flips %, {strategy}"] = numbers(rows[f"{part}_top1_flip"], **flips)
    for name, title, options in (
        ("kendall_tau_b", "excess: tau", {"form": "+.3f"}),
        ("top1_flip", "excess: flips %", {"form": "+.1f", "times": 100}),
    ):
        marks = ["*" if pd.notna(holm) and holm < SIGNIFICANT else "" for holm in rows[f"excess_{name}_p_holm"]]
        excess = intervals(rows, f"excess_{name}", **options)
        printed[title] = [value + mark for value, mark in zip(excess, marks, strict=True)]
    least = ["excess at least" if independent is False else "" for independent in rows["independent"]]
    unequal = (rows[[f"excess_{name}_p_noise" for name in TESTED]] < SIGNIFICANT).any(axis=1)
    printed["flag"] = flags(rows["n_groups"], unequal.map({True: "unequal noise", False: ""}), least)
    return printed
