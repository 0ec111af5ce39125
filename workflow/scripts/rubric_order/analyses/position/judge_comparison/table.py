"""Differences of judges, profiles, scales and datasets in position bias."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, SIGNIFICANT, numbers, with_interval

CAPTION = (
    "Differences in position bias between two judges, two profiles of a judge, two scales or two datasets, all else "
    "being equal, and slopes over a sweep (trend), with {bootstrap[confidence]:.0%} intervals. Judges, profiles and "
    "scales read the same items: each {cluster} is set against itself. first_last and ends_middle are contrasts of "
    "position preference in log-odds: compare them at one temperature. cramers_v_squared is position selection, which "
    "also depends on how decisive a judge is and how many levels there are; what chance adds to it is taken off, so "
    "that it is 0 on average where there is no bias, and can be below 0. Its p takes both V to be equal, its interval "
    "takes them as estimated: a mark can differ from it. Points are score levels. † not significant at 5%, ‡ not "
    "after Holm's adjustment for all comparisons of its kind."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout", "compared", "one", "other", "quantity"]
NUMBERS = ["estimate", "ci_low", "ci_high", "p", "p_holm", "p_bh", "n_tests", "of_one", "of_other", "n_clusters"]


def table(judge_comparison: pd.DataFrame, *, study: str, cluster: str = "group") -> pd.DataFrame:
    """One row a difference or slope, see `judge_comparison.estimate`."""
    chosen = judge_comparison.query("study == @study and cluster == @cluster")
    return chosen[[*KEYS, *NUMBERS]].reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The sides that are compared, their circumstances, and the difference."""
    printed = rows[["compared", "one", "other"]].copy()
    of_judge = printed["one"].str.extract("^(temperature) of (.+)$")  # a sweep that a judge has by itself
    printed["one"] = of_judge[0].fillna(printed["one"])
    printed["judge"] = rows["judge"].fillna(of_judge[1]).fillna("")
    printed["dataset"] = rows["dataset"].fillna("")
    printed["under"] = [" ".join(filter(None, words)) for words in zip(*_circumstances(rows), strict=True)]
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["quantity"] = rows["quantity"]
    digits = rows["quantity"].map({"cramers_v_squared": 3}).fillna(2).astype(int)  # squares are small
    for name, column in (("one's", "of_one"), ("other's", "of_other")):
        printed[name] = [numbers([value], form=f".{n}f")[0] for value, n in zip(rows[column], digits, strict=True)]
    ends = rows[["estimate", "ci_low", "ci_high"]].itertuples(index=False)
    marks = map(_mark, rows["p"], rows["p_holm"])
    printed["difference"] = [
        with_interval(*end, form=f"+.{n}f") + mark for end, n, mark in zip(ends, digits, marks, strict=True)
    ]
    return printed


def _circumstances(rows: pd.DataFrame) -> list[list[str]]:
    """Circumstances that both sides share beside judge and dataset, in words."""
    texts = [rows[name].fillna("").astype(str).tolist() for name in ("profile", "strategy")]
    return [*texts, ["" if pd.isna(n) else f"n={n}" for n in rows["n"]]]


def _mark(p: float, holm: float) -> str:
    """A dagger for what is not significant, a double one for what is no longer so after Holm's adjustment."""
    if not p < SIGNIFICANT:
        return "†"
    return "" if holm < SIGNIFICANT else "‡"
