"""Contrasts of two scores of each item, such as those of two prompts."""

from collections.abc import Iterator

import numpy as np

from rubric_order.base.rows import Row
from rubric_order.methods.agreement import variants


def mean(values: np.ndarray, unit: np.ndarray, confidence: float) -> Row:
    """Mean over items with a jackknife over clusters, see `variants.ratio`."""
    return variants.ratio(values, np.ones(len(values)), unit, confidence)


def share(chosen: np.ndarray, unit: np.ndarray, confidence: float) -> Row:
    """Share of items, with an interval cut off at 0 and 1."""
    row = mean(chosen.astype(float), unit, confidence)
    ends = {name: np.clip(row[name], 0, 1) for name in ("ci_low", "ci_high")}
    return {name: row[name] for name in ("estimate", "se", "n_clusters")} | ends


def shares(scores: np.ndarray, n: int) -> np.ndarray:
    """Share of each score from 1 to n; NaN without scores."""
    return np.bincount(scores.astype(int), minlength=n + 1)[1:] / len(scores) if len(scores) else np.full(n, np.nan)


def changes(one: np.ndarray, other: np.ndarray, unit: np.ndarray, confidence: float) -> Iterator[Row]:
    """Mean absolute change, and the share of items that change."""
    change = np.abs(one - other)
    yield {"quantity": "mean_change"} | mean(change, unit, confidence) | {"p": np.nan}
    yield {"quantity": "share_changed"} | share(change > 0, unit, confidence)


def total_variation(one: np.ndarray, other: np.ndarray, n: int) -> Row:
    """Half of the sum over scores of the absolute difference between two shares of the score."""
    apart = float(np.abs(shares(one, n) - shares(other, n)).sum() / 2)
    method = "no interval: distances are above 0 by chance alone"
    return {"quantity": "total_variation", "estimate": apart, "method": method}
