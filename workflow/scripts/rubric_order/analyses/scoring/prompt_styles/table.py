"""Two prompts of one judge, from recorded answers."""

import pandas as pd

from rubric_order.tables import flags, p_values, with_interval

CAPTION = (
    "Two prompts in which one judge was asked about the same items, from recorded answers: the first prompt, the other "
    "one, people's mean score, and the difference of the two prompts on the items that have a score from both. "
    "The prompts can differ in anything: in their task, their score IDs, how levels are described, whether a reason is "
    "asked for. So a difference is one of two prompts, and no estimate of what one part of them does. Scores are an "
    "item's first reads. Mean shift in points, in round brackets the ends that it could have if answers "
    "without a score had any score; mean change: mean size of the difference; changed: share of items with another "
    "score; total variation: half the summed differences between the shares of scores. ρ, r, kappa (quadratic weights) "
    "and mean absolute error (MAE): agreement with people's mean score. {bootstrap[confidence]:.0%} intervals and p "
    "come from leaving out {cluster}s, with Student's t (* significant after Holm's adjustment). Repeats, the floor: "
    "the size of the same between two reads of one prompt, with what the two prompts differ by on those items alone. A "
    "correlation does not see a shift of all scores; the error does."
)
KEYS = ["study", "profile", "dataset", "n", "model", "style", "other_style", "judge", "other", "criterion"]
HEADS = {
    "mean_shift": ("mean score", ".2f"),
    "mean_change": ("mean change", ".2f"),
    "share_changed": ("changed", ".0%"),
    "total_variation": ("total variation", ".2f"),
    "share": ("share of {}", ".0%"),
    "spearman": ("ρ", ".3f"),
    "pearson": ("r", ".3f"),
    "kappa": ("kappa", ".3f"),
    "mean_absolute_error": ("MAE", ".2f"),
}
COUNTS = ["n_items", "n_clusters", "n_reads_one", "n_failed_one", "n_reads_other", "n_failed_other"]


def table(prompt_styles: pd.DataFrame, *, study: str, profile: str = "default", cluster: str = "group") -> pd.DataFrame:
    """The rows of a study, see `prompt_styles.estimate`.

    Args:
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    chosen = prompt_styles.query("study == @study and profile == @profile and cluster == @cluster")
    columns = [*KEYS, "quantity", "score", "of_one", "of_other", "of_human", "estimate", "ci_low", "ci_high", "p"]
    columns += ["p_holm", "bound_low", "bound_high", "floor", "at_repeats", "repeats_of", "repeated", "n_repeats"]
    return chosen[[*columns, *COUNTS]].reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded."""
    heads = [HEADS[quantity] for quantity in rows["quantity"]]
    printed = rows[["model", "dataset"]].copy()
    printed["prompts"] = [f"{one}, {other}" for one, other in zip(rows["style"], rows["other_style"], strict=True)]
    printed["criterion"] = rows["criterion"]
    printed["quantity"] = [head.format(score) for (head, _), score in zip(heads, rows["score"], strict=True)]
    printed["items"] = rows["n_items"]
    for name, head in (("of_one", "first"), ("of_other", "other"), ("of_human", "people")):
        printed[head] = [
            f"{value:{form}}" if pd.notna(value) else "" for value, (_, form) in zip(rows[name], heads, strict=True)
        ]
    printed["difference"] = [_difference(*row) for row in zip(rows.to_dict("records"), heads, strict=True)]
    tested = rows["p"].notna()
    printed["p"] = [
        p if is_tested else "" for p, is_tested in zip(p_values(rows["p"], rows["p_holm"]), tested, strict=True)
    ]
    printed["repeats"] = [_repeats(*row) for row in zip(rows.to_dict("records"), heads, strict=True)]
    failed = [
        f"{one} of {of_one}, {other} of {of_other}"
        for one, of_one, other, of_other in rows[
            ["n_failed_one", "n_reads_one", "n_failed_other", "n_reads_other"]
        ].itertuples(index=False)
    ]
    return printed.assign(**{"without a score": failed}, flag=flags(rows["n_clusters"]))


def _difference(row: dict, head: tuple[str, str]) -> str:
    """A difference with its interval, where it has one, and with its bounds."""
    signed = "" if row["quantity"] in ("mean_change", "share_changed", "total_variation") else "+"
    has_interval = pd.notna(row["ci_low"])
    form = f"{signed}{head[1]}"
    text = with_interval(row["estimate"], row["ci_low"], row["ci_high"], form=form) if has_interval else ""
    text = text or (f"{row['estimate']:{form}}" if pd.notna(row["estimate"]) else "undefined")
    return f"{text} ({row['bound_low']:{form}}, {row['bound_high']:{form}})" if pd.notna(row["bound_low"]) else text


def _repeats(row: dict, head: tuple[str, str]) -> str:
    """The floor, beside the two prompts on the same items."""
    if pd.isna(row["floor"]):
        return ""
    sizes = f"{row['floor']:{head[1]}} against {row['at_repeats']:{head[1]}}"
    return f"{sizes} ({row['n_repeats']} items of {row['repeated']}, {row['repeats_of']})"
