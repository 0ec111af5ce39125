"""Changes of the ranking of candidates with the order of the options."""

import pandas as pd

from rubric_order.tables.columns import SIGNIFICANT, Estimated, Flags, Number, Row, each_row, estimates, stars, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, select, taken, wide

KEYS = ["judge", "dataset", "readout", "strategy", "other"]
QUANTITIES = ["kendall_tau_b", "top1_flip", "top1_tie", "reversed_pairs", "tied_pairs"]
TESTED = ("kendall_tau_b", "top1_flip")
COMPARISONS = ("between", "between_halves", "within_strategy", "within_other", "excess")
PAIRS = [(comparison, quantity) for comparison in COMPARISONS for quantity in QUANTITIES]
PAIRS.insert(3, ("between", "top1_random"))
ESTIMATES = [estimate(quantity, f"{of}_{quantity}", comparison=of) for of, quantity in PAIRS]


def _rows(rank_reversal: pd.DataFrame, *, strategy: str, other: str) -> pd.DataFrame:
    """One row per judge, dataset and readout: every comparison and quantity with its interval."""
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
