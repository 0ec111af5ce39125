"""Frequency of each score under conditions and orders of a prompt."""

import pandas as pd

CAPTION = (
    "How many items get each score under conditions and orders of the prompt (first reads), on the items that are "
    "read under all of them; none (-1 in the CSV file): the answer gives no score; constrained: scores of answers that "
    "gave none until nothing but a score was allowed: the likeliest of IDs that the judge would not write. Rows of "
    "golden scores come first: human is the mean of people's scores, labels the mean of those that came with the "
    "dataset, both rounded, halves up. After Li et al. (2025), Equations 3 and 4 and Figure 6."
)
KEYS = ["judge", "profile", "dataset", "n", "varied", "order", "kind"]


def table(scoring_tendency: pd.DataFrame, *, study: str, profile: str = "default") -> pd.DataFrame:
    """One row a judge, dataset and variant, or source of golden scores, and a column a score."""
    chosen = scoring_tendency.query("study == @study and profile == @profile")
    rows = chosen[KEYS].drop_duplicates().set_index(KEYS)
    for score in sorted(chosen["score"].unique()):
        of_score = chosen[chosen["score"] == score].set_index(KEYS)["n_scores"]
        rows[str(score)] = of_score.reindex(rows.index).fillna(0).astype(int)
    counts = chosen.groupby(KEYS)[["n_constrained", "n_items"]].first()
    return rows.join(counts).reset_index()


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Without the columns that say the same in another way."""
    variants = pd.Series(
        [", ".join(filter(None, row)) for row in zip(rows["varied"], rows["order"], strict=True)], rows.index
    )
    golden = rows["kind"] == "golden"
    rows = rows.assign(golden=variants.where(golden, ""), prompt=variants.mask(golden, ""))
    scores = [name for name in rows if name.lstrip("-").isdigit()]
    printed = rows[["judge", "dataset", "golden", "prompt", *scores]].reset_index(drop=True)
    printed = printed.rename(columns={"-1": "none"})
    return printed.assign(constrained=rows["n_constrained"].to_numpy()) if rows["n_constrained"].any() else printed
