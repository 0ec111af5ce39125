"""Causes that move scores: position, ID, or the presence, the number and the text of a reference answer."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, intervals, p_values

CAPTION = (
    "What moves the scores of the same items, each beside the others in one model of pairs of reads of an item "
    "(selected options with Firth's penalty). Log-odds: position, what a position adds to the score there, less the "
    "mean of all positions; id, what one ID adds beside another that stands for its level when IDs are reversed; "
    "presence, what showing a reference answer, whatever its number and text, adds to a score, less the mean of all "
    "scores; number and text, what being a level nearer to the number shown with the reference answer, or to the level "
    "that its text was written for, adds. Points: slope of the score on the number with one text, with a text that "
    "fits the number, and their difference. {bootstrap[confidence]:.0%} intervals with {cluster}s as the sample; * "
    "significant after Holm's adjustment. Not identified: the design does not tell it. An ID that always stands for "
    "one level cannot be told from that level, nor a text from the presence of a reference answer where all texts "
    "are written for one level. A reversed ID also breaks a convention (A is best), which no design "
    "parts from the ID itself. At temperature 0, log-odds of selected options are in units of what else differs "
    "between prompts. Log-odds of selected options are those of the average pair of reads: where groups differ in an "
    "effect, they are nearer to 0 than the mean of the groups' log-odds, which option probabilities give."
)


def table(
    scoring_causes: pd.DataFrame, *, study: str, profile: str = "default", cluster: str = "group"
) -> pd.DataFrame:
    """One row an effect, see `scoring_causes.estimate`.

    Args:
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    chosen = scoring_causes.query("study == @study and profile == @profile and cluster == @cluster")
    return chosen.drop(columns=["study", "cluster"]).reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded."""
    rows = rows.rename(columns={"ci_low": "estimate_low", "ci_high": "estimate_high"})
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["cause"] = rows["cause"].str.replace("_", " ")
    printed["of"] = rows["about"]
    written = zip(rows["estimate"], intervals(rows, "estimate", form="+.3f"), strict=True)
    printed["effect"] = ["" if pd.isna(value) else text for value, text in written]
    printed["unit"] = rows["unit"]
    tested = zip(rows["p"], p_values(rows["p"], rows["p_holm"]), strict=True)
    printed["p"] = ["" if pd.isna(value) else text for value, text in tested]
    return printed.assign(flag=rows["flag"])
