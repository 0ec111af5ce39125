"""Agreement of a judge's scores with human scores."""

import numpy as np
import pandas as pd
from scipy import stats

from rubric_order import resampling
from rubric_order.keys import KEYS

POOLED = "all"
VALUES = {"hard": "score", "soft": "expected_score"}


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r over the last axis, shape (..., n) -> (...); NaN where either is constant or n < 2."""
    # Constants are found before centring: a mean is rounded, and what is left of a constant need not be zero.
    varies = (np.ptp(x, axis=-1) > 1e-12) & (np.ptp(y, axis=-1) > 1e-12)
    x = x - x.mean(axis=-1, keepdims=True)
    y = y - y.mean(axis=-1, keepdims=True)
    spread = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(varies, np.clip((x * y).sum(axis=-1) / spread, -1, 1), np.nan)


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Spearman's rho over the last axis, with mean ranks for ties."""
    return pearson(stats.rankdata(x, axis=-1), stats.rankdata(y, axis=-1))


def item_means(reads: pd.DataFrame, readout: str) -> pd.DataFrame:
    """Mean score of each item over its usable reads, beside its human score; items that lack either are left out.

    The sum is divided once: equal means of different reads are then equal to the last bit, and tie.
    """
    column = VALUES[readout]
    table = reads[["item_id", "human_score", column]].astype({column: float}).dropna()
    grouped = table.groupby("item_id")
    return pd.DataFrame({"judge": grouped[column].sum() / grouped.size(), "human": grouped["human_score"].first()})


def human_agreement(scores: pd.DataFrame, *, resamples: int, confidence: float, seed: int) -> pd.DataFrame:
    """Correlation of each item's mean score with its human score.

    Args:
        scores: reads as `scores.score_reads` returns them; items without a human score are left out.
        resamples, confidence, seed: of the percentile bootstrap, which draws items with replacement.

    Returns:
        One row a judge, dataset, criterion (``all``: pooled), strategy, scale and readout. `n_items` items have a mean
        score, from `n_reads` reads; `n_failed` reads of items with a human score have none and are left out of the
        means. A correlation, or its interval, is NaN where judge or humans give one score only.

    Source: Xu et al. (2026), Section 4.4.
    """
    rows = []
    keys = KEYS
    rated = scores[scores["human_score"].notna()]
    for key, reads in rated.groupby(keys):
        blocks = [(POOLED, reads)]
        if reads["criterion"].nunique() > 1:
            blocks += list(reads.groupby("criterion"))
        for criterion, block in blocks:
            for readout, column in VALUES.items():
                means = item_means(block, readout)
                if means.empty:
                    continue
                rng = resampling.generator(seed, "human agreement", *key, criterion, readout)
                drawn = resampling.bootstrap_indices(len(means), resamples, rng=rng)
                x, y = means["judge"].to_numpy(), means["human"].to_numpy()
                row = dict(zip(keys, key, strict=True)) | {
                    "criterion": criterion,
                    "readout": readout,
                    "n_items": len(means),
                    "n_reads": int(block[column].notna().sum()),
                    "n_failed": int(block[column].isna().sum()),
                }
                for name, statistic in (("pearson", pearson), ("spearman", spearman)):
                    low, high = resampling.percentile_interval(statistic(x[drawn], y[drawn]), confidence)
                    row |= {name: float(statistic(x, y)), f"{name}_low": float(low), f"{name}_high": float(high)}
                method = f"percentile bootstrap over items, {resamples} resamples"
                rows.append(row | {"method": method, "confidence": confidence, "seed": seed})
    columns = [*keys, "criterion", "readout", "n_items", "n_reads", "n_failed"]
    columns += ["pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"]
    return pd.DataFrame(rows, columns=[*columns, "method", "confidence", "seed"])
