"""Length of texts and the scores that they get."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, flags, intervals, p_values

CAPTION = (
    "Correlation of a text's length (characters) with the mean score that the judge gives it, with "
    "{bootstrap[confidence]:.0%} intervals from leaving out {cluster}s. Longer texts are often better ones, so that it "
    "is no bias by itself. People: the same with human scores. Difference: the judge's less people's, on the items "
    "that people have rated (p of none, * significant at 5% after Holm's adjustment for all judges, profiles, datasets "
    "and scales of the study). It is also more than 0 where people's scores are noisier than the judge's, which makes "
    "people's correlation smaller. A textbook's metric for verbosity bias; win rates without length are in table Win "
    "rates without length. Few clusters: fewer than 30."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout", "quantity"]


def table(length_scores: pd.DataFrame, *, cluster: str = "group") -> pd.DataFrame:
    """One row a study, judge, profile, dataset, strategy, readout and coefficient.

    Args:
        length_scores: see `length_scores.estimate`.
        cluster: ``item`` or ``group``: what is left out.
    """
    chosen = length_scores[length_scores["cluster"] == cluster]
    values = ["estimate", "ci_low", "ci_high", "of_people", "difference", "difference_low", "difference_high"]
    return chosen[["study", *KEYS, *values, "p", "p_holm", "n_items", "n_rated", "n_clusters"]].reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["study", "judge", "profile", "dataset", "strategy"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["coefficient"] = rows["quantity"].map({"pearson": "r", "spearman": "rho"})
    named = rows.rename(columns={"estimate": "value", "ci_low": "value_low", "ci_high": "value_high"})
    printed["length and score"] = intervals(named, "value", form="+.2f")
    printed["people"] = [f"{value:+.2f}" if pd.notna(value) else "" for value in rows["of_people"]]
    told = rows["difference"].notna()
    printed["difference"] = pd.Series(intervals(rows, "difference", form="+.2f"), rows.index).where(told, "")
    printed["p"] = pd.Series(p_values(rows["p"], rows["p_holm"]), rows.index).where(told, "")
    printed["items"] = rows["n_items"]
    return printed.assign(flag=flags(rows["n_clusters"]))
