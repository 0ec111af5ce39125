"""Parts of datasets for scoring bias."""

from collections.abc import Mapping

import pandas as pd

COLUMNS = {"items": ["dataset", "item_id", "group_id", "reference", "human_scores", "reference_labels"]}
TABLE = "li2025_table1"


def estimate(items: pd.DataFrame, published: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Counts of each dataset, and those published in Li et al. (2025), Table 1.

    `n_reference` counts items with a reference answer of the highest score.
    """
    has = items.assign(
        human=items["human_scores"].map(len) > 0,
        labels=items["reference_labels"].map(len) > 0,
        known=items["reference"].notna(),
    )
    counts = has.groupby("dataset", sort=True).agg(
        n_items=("item_id", "size"),
        n_groups=("group_id", "nunique"),
        n_human=("human", "sum"),
        n_labels=("labels", "sum"),
        n_reference=("known", "sum"),
    )
    new_names = {
        "n_items": "published_items",
        "human_scores": "published_human",
        "reference_answer": "published_reference",
    }
    printed = (
        published.get(TABLE, pd.DataFrame(columns=["dataset", *new_names]))
        .rename(columns=new_names)
        .set_index("dataset")
    )
    theirs = printed.rename(index={"flask": "flask_human"}).reindex(counts.index)
    return counts.join(theirs).reset_index().astype({"published_items": "Int64"})
