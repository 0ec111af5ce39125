"""Parts of datasets that a study of scoring bias needs: items, people's scores, labels and reference answers."""

from collections.abc import Mapping

import pandas as pd

COLUMNS = {"items": ["dataset", "item_id", "group_id", "reference", "human_scores", "reference_labels"]}
TABLE = "li2025_table1"


def estimate(items: pd.DataFrame, published: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Counts of each dataset, and the published counts.

    Returns:
        One row per dataset. Columns are:

        - `n_items`, `n_groups`: numbers of items and groups.
        - `n_human`: number of items with people's scores.
        - `n_labels`: number of items with labels that came with the dataset.
        - `n_reference`: number of items with a reference answer of the highest score.
        - `published_items`, `published_human`, `published_reference` (``yes`` or ``no``): as in Li et al. (2025), Table
          1.
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
