"""Position preference summarised over judges and datasets."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, numbers, with_interval

CAPTION = (
    "Position preference over all judges and datasets of a study, in log-odds: the mean with its "
    "{bootstrap[confidence]:.0%} interval (random effects by REML, interval by Hartung and Knapp), and the standard "
    "deviations of the true values between judges, between datasets, and of the rest, which belongs to one judge on "
    "one dataset alone. The mean is that of judges and datasets of which these are a sample, not of these alone; with "
    "few of them the interval is wide and deviations are rough. Where a deviation is missing, the study cannot "
    "separate it from the rest. Judges read the same items, so that their sampling errors on one dataset are "
    "correlated (r of errors, the mean over pairs of judges); mean and deviations allow for it. Judges must be at one "
    "temperature for their mean to mean something. The CSV file has each judge and dataset, drawn towards the mean as "
    "far as its error says."
)
DEVIATIONS = {"judge": "sd of judges", "dataset": "sd of datasets", "rest": "sd of the rest"}
KEYS = ["profile", "strategy", "n", "readout", "quantity", "position"]


def table(preference_summary: pd.DataFrame, *, study: str, cluster: str = "group") -> pd.DataFrame:
    """One row an estimate, see `preference_summary.estimate`."""
    chosen = preference_summary.query("study == @study and cluster == @cluster")
    return chosen.drop(columns=["study", "method"]).reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a setting and quantity: mean and deviations."""
    printed = []
    for key, block in rows.groupby(KEYS, dropna=False, sort=False):
        profile, strategy, n, readout, quantity, position = key
        of = block[block["judge"] == EVERY].drop_duplicates("term").set_index("term")
        if "mean" not in of.index:
            continue
        mean = of.loc["mean"]
        row = {"profile": profile, "strategy": strategy, "n": n, "readout": READOUT_NAMES[readout]}
        row["quantity"] = quantity if pd.isna(position) else f"Pos{position}"
        row["mean"] = with_interval(mean["estimate"], mean["ci_low"], mean["ci_high"], form="+.2f")
        for name, head in DEVIATIONS.items():
            deviation = of["estimate"].get(f"sd_{name}")
            row[head] = "" if deviation is None else numbers([deviation], form=".2f")[0]
        correlation = of["estimate"].get("error_correlation")
        row["r of errors"] = "" if correlation is None else numbers([correlation], form=".2f")[0]
        row |= {"judges": mean["n_judges"], "datasets": mean["n_datasets"]}
        printed.append(row)
    columns = ["profile", "strategy", "n", "readout", "quantity", "mean", *DEVIATIONS.values()]
    columns += ["r of errors", "judges", "datasets"]
    return pd.DataFrame(printed, columns=columns)
