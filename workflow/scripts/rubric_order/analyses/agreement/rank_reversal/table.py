"""Changes of the ranking of candidates with the order of the options."""

import pandas as pd

from rubric_order.tables.columns import SIGNIFICANT, Estimated, Flags, Number, Row, each_row, estimates, stars, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, select, taken, wide

CAPTION = (
    "How much the ranking of a prompt's candidates changes from {strategy} to {other}, with the columns of Xu et al. "
    "(2026), Table 7: Kendall's tau-b and flips. Flips is the share of prompts in which no candidate is among the "
    "best of both rankings. A tie is no flip. Ties is what breaking ties at random would add to the flips. With ties "
    "is the sum: the flips if one best candidate has to be chosen (the paper does not say how it breaks ties). "
    "Intervals are {bootstrap[confidence]:.0%} jackknife intervals over groups. Rankings from few reads differ also "
    "by chance. Noise is tau or flips between two halves of the reads of one strategy. Excess is the reversal "
    "between halves of the two strategies beyond what the noises of both explain. It assumes that both strategies "
    "are noise around one ranking of normal scores (the expected agreement is the geometric mean of their agreements "
    "on Greiner's scale). The excess is 0 on average if the order of the options has no effect. * marks an excess "
    "above 0: significant at 5%, one-sided, after Holm's adjustment for all judges, profiles, datasets and scales of "
    "the study. Tau also falls where one strategy ties candidates that the other distinguishes, so its p is not less "
    "than that of reversed pairs. Unequal noise means that the two noises differ (p below .05, of tau or of flips). "
    "The excess then depends on the assumption of one ranking of normal scores. It includes effects of scores that "
    "are not normal, and of one order being surer in some prompts only. Real reversals are then found less often. "
    "Intervals, and p of ties, are two-sided. So a star can stand beside a 95% interval that contains 0, with a p "
    "from .025 to .05. Excess at least means that the halves of a strategy have no ordering in common, so the noise "
    "is too large and the excess too small. Few clusters: one of the numbers comes from fewer than 30 groups. With "
    "18, intervals of flips and of their excess contain the truth in 88% to 90% of simulated studies. The CSV file "
    "has the shares of pairs that are reversed and tied."
)
KEYS = ["judge", "dataset", "readout", "strategy", "other"]
QUANTITIES = ["kendall_tau_b", "top1_flip", "top1_tie", "reversed_pairs", "tied_pairs"]
TESTED = ("kendall_tau_b", "top1_flip")
COMPARISONS = ("between", "between_halves", "within_strategy", "within_other", "excess")
PAIRS = [(comparison, quantity) for comparison in COMPARISONS for quantity in QUANTITIES]
PAIRS.insert(3, ("between", "top1_random"))
ESTIMATES = [estimate(quantity, f"{of}_{quantity}", comparison=of) for of, quantity in PAIRS]


def _rows(rank_reversal: pd.DataFrame, *, strategy: str, other: str) -> pd.DataFrame:
    """One row per judge, dataset and readout: every comparison and quantity with its interval.

    `n_groups` is the smallest number of groups among the comparisons and quantities that are defined.

    Args:
        strategy: strategy to compare with `other`. The estimates have each pair of strategies only once, with either
            strategy first.
        other: strategy with which `strategy` is compared.
    """
    chosen = select(rank_reversal, strategy=[strategy, other], other=[strategy, other])
    n_groups = chosen["n_groups"].where(chosen["n_defined"] > 0).groupby([chosen[key] for key in KEYS]).min()
    values = [same("n_prompts"), n_groups.fillna(0).astype(int), *ESTIMATES]
    excess = {name: {"comparison": "excess", "quantity": name} for name in TESTED}
    values.append(taken(excess["kendall_tau_b"], "independent"))
    for name, where in excess.items():
        values.append(taken(where, "p", "p_holm", "p_bh", "p_noise", prefix=f"excess_{name}_"))
    return wide(chosen, KEYS, values)


def _noise(rows: pd.DataFrame) -> list[Number]:
    one, other = rows[["strategy", "other"]].iloc[0] if len(rows) else ("one", "other")
    return [
        Number("within_strategy_kendall_tau_b", ".2f", name=f"noise: tau, {one}"),
        Number("within_strategy_top1_flip", ".1f", name=f"noise: flips %, {one}", times=100),
        Number("within_other_kendall_tau_b", ".2f", name=f"noise: tau, {other}"),
        Number("within_other_top1_flip", ".1f", name=f"noise: flips %, {other}", times=100),
    ]


def _unequal(row: Row) -> str:
    return "unequal noise" if any(row[f"excess_{name}_p_noise"] < SIGNIFICANT for name in TESTED) else ""


def _least(row: Row) -> str:
    return "excess at least" if row["independent"] is False else ""


def _excess(name: str, form: str, head: str, times: float = 1) -> Estimated:
    return Estimated(f"excess_{name}", form, name=head, times=times, marks=stars(f"excess_{name}_p_holm"))


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile"),
    columns=[
        *texts("judge", "dataset", "readout", n_prompts="prompts"),
        Estimated("between_kendall_tau_b", ".2f", name="tau"),
        *estimates(".1f", between_top1_flip="flips %", between_top1_tie="ties %", times=100),
        Estimated("between_top1_random", ".1f", name="with ties %", times=100),
        _noise,
        _excess("kendall_tau_b", "+.3f", "excess: tau"),
        _excess("top1_flip", "+.1f", "excess: flips %", 100),
        Flags("n_groups", [each_row(_unequal), each_row(_least)]),
    ],
)
