"""Which positions a judge selects."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, SIGNIFICANT, with_interval

CAPTION = (
    "Which positions of the prompt are selected. Chi-square against uniform; V: Cramer's V with a bootstrap interval "
    "over items. † not significant at 5% in the test that takes items, not reads, as the sample."
)


def table(statistics: pd.DataFrame, *, study: str, strategy: str, n: int, profile: str = "default") -> pd.DataFrame:
    """One row a judge, dataset and readout: chi-square, both p-values, V with its interval, share of each position.

    Args:
        statistics: see `bias.position_selection`.
    """
    chosen = statistics.query("study == @study and profile == @profile and strategy == @strategy and n == @n")
    keys = ["judge", "dataset", "strategy", "n", "readout"]
    rows = []
    for key, block in chosen.groupby(keys, sort=False):
        chi2 = block[block["quantity"] == "chi2"].iloc[0]
        v = block[block["quantity"] == "cramers_v"].iloc[0]
        row = dict(zip(keys, key, strict=True)) | {name: chi2[name] for name in ("n_items", "n_reads", "n_failed")}
        row |= {"chi2": chi2["estimate"], "p": chi2["p"], "p_cluster": chi2["p_cluster"]}
        row |= {"cramers_v": v["estimate"], "cramers_v_low": v["ci_low"], "cramers_v_high": v["ci_high"]}
        for share in block[block["quantity"] == "share"].itertuples():
            name = f"pos{share.position}"
            row |= {name: share.estimate, f"{name}_low": share.ci_low, f"{name}_high": share.ci_high}
        rows.append(row)
    counts = ["n_items", "n_reads", "n_failed"]
    estimates = ["chi2", "p", "p_cluster", "cramers_v", "cramers_v_low", "cramers_v_high"]
    shares = [f"pos{p}{end}" for p in range(1, n + 1) for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*keys, *counts, *estimates, *shares])


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of Xu et al. (2026), Table 2, and V: chi-square and the shares of the first and last position.

    A dagger marks a chi-square that is not significant at 5% in the test that takes items as the sample.
    """
    if rows.empty:
        return pd.DataFrame(columns=["judge", "dataset", "readout"])
    last = f"pos{rows['n'].iloc[0]}"
    dagger = ["†" if not p < SIGNIFICANT else "" for p in rows["p_cluster"]]
    interval = zip(rows["cramers_v"], rows["cramers_v_low"], rows["cramers_v_high"], strict=True)
    return pd.DataFrame(
        {
            "judge": rows["judge"],
            "dataset": rows["dataset"],
            "readout": rows["readout"].map(READOUT_NAMES),
            "reads": rows["n_reads"],
            "chi2": [f"{value:.1f}{mark}" for value, mark in zip(rows["chi2"], dagger, strict=True)],
            "V": [with_interval(*ends) for ends in interval],
            "Pos1 %": [f"{100 * value:.1f}" for value in rows["pos1"]],
            f"Pos{last[3:]} %": [f"{100 * value:.1f}" for value in rows[last]],
        }
    )
