"""Golden scores: those that a judge's scores are compared with."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

COLUMNS = ["dataset", "item_id", "reference_labels"]
HUMAN, LABELS = "human", "labels"  # people's mean score; the mean of the labels that came with the dataset
SCALE = (1, 5)  # of human scores where a dataset says nothing else, and of labels


def by_item(items: pd.DataFrame, human_scales: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """Mean label of each item, and the ends of the scale of its human scores; by dataset and item.

    Args:
        items: one row an item, with `COLUMNS`.
        human_scales: least and greatest human score of each dataset, by default `SCALE`.
    """
    ends = [human_scales.get(dataset, SCALE) for dataset in items["dataset"]]
    labels = [np.mean(given) if len(given) else np.nan for given in items["reference_labels"]]
    table = items[["dataset", "item_id"]].assign(labels=np.array(labels, dtype=float))
    table["least"], table["greatest"] = np.array(ends, dtype=float).reshape(-1, 2).T
    return table.set_index(["dataset", "item_id"])


def sources(items: pd.DataFrame, known: pd.DataFrame, n: int) -> dict[str, np.ndarray]:
    """Golden scores of items by their source, of those that score any, mapped linearly to the scale 1 to n.

    Args:
        items: see `variants.Variants`.
        known: see `by_item`.

    Returns:
        Shape (items,) each; NaN where an item has none.
    """
    found = known.reindex(pd.MultiIndex.from_frame(items[["dataset", "item_id"]]))
    least, greatest = found["least"].to_numpy(), found["greatest"].to_numpy()
    human = 1 + (items["human_score"].to_numpy(dtype=float) - least) * (n - 1) / (greatest - least)
    labels = 1 + (found["labels"].to_numpy() - SCALE[0]) * (n - 1) / (SCALE[1] - SCALE[0])
    given = {HUMAN: human, LABELS: labels}
    return {name: scores for name, scores in given.items() if not np.isnan(scores).all()}
