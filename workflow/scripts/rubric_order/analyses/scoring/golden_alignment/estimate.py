"""Agreement of golden scores with people."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import agreement, contrasts, golden
from rubric_order.methods.agreement.golden import HUMAN

COLUMNS = {"items": [*golden.COLUMNS, "group_id", "human_score"]}


def estimate(
    *,
    items: pd.DataFrame,
    human_scales: Mapping[str, Sequence[float]],
    confidence: float,
    golden_scores: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Agreement of golden scores (``labels``, or a judge) with the mean of people's scores.

    For judges, ``differ`` and ``median`` are shares of items whose reads do not all agree, and have no majority.

    Source: Li et al. (2025), Table 2, for correlations.
    """
    golden_by_item = golden.item_golds(items, human_scales, golden_scores)
    blocks = items.groupby("dataset", sort=True)
    rows = [row for dataset, block in blocks for row in _rows(dataset, block, golden_by_item, confidence)]
    rows += [] if golden_scores is None else list(_differing(golden_scores, confidence))
    columns = ["dataset", "source", "quantity", "estimate", "ci_low", "ci_high", "n_items", "n_clusters"]
    return tidy.typed(pd.DataFrame(rows, columns=columns))


def _rows(dataset: str, block: pd.DataFrame, known: pd.DataFrame, confidence: float) -> Iterator[Row]:
    sources = golden.sources(block, known, 5)
    human = sources.pop(HUMAN, None)
    if human is None:
        return
    for source, scores in sources.items():
        used = ~np.isnan(human) & ~np.isnan(scores)
        unit = block["group_id"].factorize(sort=True)[0][used]
        common = {"dataset": dataset, "source": source, "n_items": int(used.sum()), "n_clusters": len(np.unique(unit))}
        compared = agreement.Compared(scores[used], human[used], unit)
        for quantity in agreement.STATISTICS:
            yield common | {"quantity": quantity} | compared.single(quantity, confidence).columns()


def _differing(votes: pd.DataFrame, confidence: float) -> Iterator[Row]:
    for (dataset, source), block in votes[votes["n_scored"] > 1].groupby(["dataset", "source"], sort=True):
        unit = block["group_id"].factorize(sort=True)[0]
        for quantity, indicator in (("differ", block["how"] != "same"), ("median", block["how"] == "median")):
            interval = contrasts.share(indicator.to_numpy(), unit, confidence)
            yield {"dataset": dataset, "source": source, "quantity": quantity, "n_items": len(block)} | interval
