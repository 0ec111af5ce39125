"""Parts of datasets that a study of scoring bias needs, as Li et al. (2025) print them."""

import pandas as pd

from rubric_order.tables import count

CAPTION = (
    "Items of each dataset, with the prompts, articles or stories that they share, and how many have people's scores, "
    "labels that came with the dataset, and a reference answer of the highest score. Published: the same in Li et al. "
    "(2025), Table 1, which says that MT-Bench and Vicuna have no reference answers; the published files have them."
)


def table(scoring_datasets: pd.DataFrame) -> pd.DataFrame:
    """One row a dataset, see `scoring_datasets.estimate`."""
    return scoring_datasets


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["dataset"]].copy()
    for name, head in (("items", "items"), ("groups", "groups"), ("human", "human scores"), ("labels", "labels")):
        printed[head] = rows[f"n_{name}"].map(count)
    printed["reference answers"] = rows["n_reference"].map(count)
    printed["published items"] = ["" if pd.isna(number) else count(number) for number in rows["published_items"]]
    for name, head in (("human", "published human scores"), ("reference", "published reference answers")):
        printed[head] = rows[f"published_{name}"].fillna("")
    return printed
