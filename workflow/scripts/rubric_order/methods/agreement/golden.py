"""Golden scores, with which a judge's scores are compared."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = ["dataset", "item_id", "reference_labels"]
HUMAN, LABELS = "human", "labels"  # people's mean score; the mean of the labels that came with the dataset
SCALE = (1, 5)  # scale of labels, and of human scores if a dataset states no other scale


def item_golds(
    items: pd.DataFrame, human_scales: Mapping[str, Sequence[float]], votes: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Golden scores by labels and judges, from 0 to 1, and ends of the human scale (`least`, `greatest`), by item."""
    ends = [human_scales.get(dataset, SCALE) for dataset in items["dataset"]]
    labels = [np.mean(values) if len(values) else np.nan for values in items["reference_labels"]]
    table = items[["dataset", "item_id"]].assign(**{LABELS: _unit(np.array(labels, dtype=float), *SCALE)})
    table["least"], table["greatest"] = np.array(ends, dtype=float).reshape(-1, 2).T
    table = table.set_index(["dataset", "item_id"])
    if votes is None or not len(votes):
        return table
    scores = votes.assign(score=_unit(votes["score"].astype(float), 1, votes["n"].astype(int)))
    scores = scores.drop_duplicates(["source", "dataset", "item_id"])
    return table.join(scores.pivot(index=["dataset", "item_id"], columns="source", values="score"))


def _unit(scores: Any, least: Any, greatest: Any) -> Any:
    return (scores - least) / (greatest - least)


def sources(items: pd.DataFrame, known: pd.DataFrame, n: int) -> dict[str, np.ndarray]:
    """Golden scores on the scale 1 to n by source that has any (people, labels, judges), shape (items,)."""
    golden = known.reindex(pd.MultiIndex.from_frame(items[["dataset", "item_id"]]))
    golds = {HUMAN: _unit(items["human_score"].to_numpy(dtype=float), *(golden[end] for end in ("least", "greatest")))}
    golds |= {name: golden[name] for name in golden if name not in ("least", "greatest")}
    scores = {name: 1 + (n - 1) * np.asarray(shares, dtype=float) for name, shares in golds.items()}
    return {name: values for name, values in scores.items() if not np.isnan(values).all()}
