"""Contents of the datasets."""

import pandas as pd

from rubric_order.tables import with_interval

CAPTION = (
    "Datasets: sizes, lengths of the responses, and how well the raters agree. Alpha: Krippendorff's alpha (ordinal) "
    "of all raters. One against the rest: Pearson's r of one rater with the mean of the others, averaged over raters. "
    "Both pool the criteria and have {bootstrap[confidence]:.0%} bootstrap intervals over groups; a rater is a place "
    "in an item's list of scores, which need not be the same person throughout. Reference labels come from another "
    "judge: where it gave all of them, their agreement is its agreement with itself. The CSV file has a row for each "
    "criterion too."
)


def table(datasets: pd.DataFrame) -> pd.DataFrame:
    """One row a dataset, source of scores and criterion, see `datasets.estimate`."""
    return datasets.drop(columns=["method", "confidence", "seed"]).reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The pooled rows: one a dataset and source of scores. Criteria and characters are left to the CSV file."""
    pooled = rows[rows["criterion"] == "all"]
    scored = pooled["n_scores"] > 0
    sources = {"human": "raters", "reference": "reference labels"}
    given_by = zip(pooled["n_raters"], pooled["source"].map(sources), strict=True)
    shares = pooled[[f"share_{score}" for score in range(1, 6)]].to_numpy()
    printed = pd.DataFrame({"dataset": pooled["dataset"]})
    for name in ("items", "groups", "candidates", "criteria", "pairs"):
        printed[name] = pooled[f"n_{name}"]
    lengths = zip(pooled["words_mean"], pooled["words_min"], pooled["words_max"], strict=True)
    printed["words (min, max)"] = [f"{mean:.0f} ({low:.0f}, {high:.0f})" for mean, low, high in lengths]
    given = [f"{n} {source}" if is_scored else "none" for is_scored, (n, source) in zip(scored, given_by, strict=True)]
    printed["scored by"] = [text.removesuffix("s") if text.startswith("1 ") else text for text in given]
    printed["mean score"] = [f"{mean:.2f}" if pd.notna(mean) else "" for mean in pooled["score_mean"]]
    printed["% of scores 1 to 5"] = [
        " / ".join(f"{100 * share:.0f}" for share in row) if is_scored else ""
        for is_scored, row in zip(scored, shares, strict=True)
    ]
    for name, title in (("alpha", "alpha"), ("rater_vs_rest", "one against the rest, r")):
        ends = zip(pooled[name], pooled[f"{name}_low"], pooled[f"{name}_high"], strict=True)
        printed[title] = [with_interval(*row) for row in ends]
    return printed.reset_index(drop=True)
