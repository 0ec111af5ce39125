"""Parts of datasets that a study of scoring bias needs: items, people's scores, labels and reference answers."""

from collections.abc import Mapping

import pandas as pd

COLUMNS = {"items": ["dataset", "item_id", "group_id", "reference", "human_scores", "reference_labels"]}
TABLE = "li2025_table1"


def estimate(items: pd.DataFrame, published: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Counts of each dataset, and the published counts.

    Args:
        items: one row per item, with `COLUMNS`.
        published: published tables by name, such as ``li2025_table1``, with all cells as text; others are ignored.

    Returns:
        One row per dataset: `n_items`, `n_groups`, and the numbers of items with people's scores (`n_human`), with
        labels that came with the dataset (`n_labels`) and with a reference answer of the highest score (`n_reference`).
        `published_items`, `published_human` and `published_reference` (``yes`` or ``no``) are as in Li et al. (2025),
        Table 1; they are missing for datasets that it does not have. Its FLASK is our FLASK with people's scores. These
        are counts, with no random draws.
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
