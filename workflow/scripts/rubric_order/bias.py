"""Position bias: which positions of the prompt a judge selects.

Two readouts of the same reads: `hard`, the position of the selected option, as in the papers; and `soft`, the
probability of each position, where the judge's option log-probabilities are known. A judge that nearly always selects
the same score shows its bias in the second long before it shows in the first.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from rubric_order import resampling
from rubric_order.keys import KEYS

READOUTS = ("hard", "soft")
# Strategies in which every score meets every position. Under the others, position and score are one thing.
CROSSED = ("balanced", "random", "all")


class PositionTest(NamedTuple):
    """Chi-square goodness of fit of selected positions against uniform.

    Attributes:
        chi2: sum over positions of (count - N/n)^2 / (N/n), with n - 1 degrees of freedom.
        p: its p-value, which takes the reads as independent. They are not; see `cluster_test`.
        cramers_v: sqrt(chi2 / (N (n - 1))), from 0 (uniform) to 1 (always one position).
    """

    chi2: float
    p: float
    cramers_v: float


def position_test(positions: Sequence[int], n: int) -> PositionTest:
    """Test whether positions are selected equally often.

    Args:
        positions: selected position of each read, 1 to n.
        n: number of positions.

    Raises:
        ValueError: a position is off the range, or there are none.

    Source: Xu et al. (2026), Section 4.4.
    """
    positions = np.asarray(positions)
    if positions.size == 0:
        raise ValueError("no selected positions")
    if n < 2 or not np.isin(positions, np.arange(1, n + 1)).all():
        raise ValueError(f"positions must be whole numbers from 1 to {n}")
    return count_test(np.bincount(positions.astype(int), minlength=n + 1)[1:])


def count_test(counts: np.ndarray) -> PositionTest:
    """`position_test` for counts (or summed probabilities) of each position, shape (n,)."""
    chi2, p = stats.chisquare(counts)
    return PositionTest(float(chi2), float(p), float(cramers_v(np.asarray(counts))))


def cramers_v(counts: np.ndarray) -> np.ndarray:
    """Cramer's V against uniform over the last axis of counts or shares, shape (..., n) -> (...).

    With the total as N, chi2 / N is n sum (share - 1/n)^2, so V does not depend on how many reads there are.
    """
    n = counts.shape[-1]
    shares = counts / counts.sum(axis=-1, keepdims=True)
    return np.sqrt(n * ((shares - 1 / n) ** 2).sum(axis=-1) / (n - 1))


def cluster_test(counts: np.ndarray) -> float:
    """p-value of uniform selection that respects items: the chi-square of `position_test`, corrected for clustering.

    Reads of one item depend on each other, so the items, not the reads, are the sample. Chi-square is scaled, and its
    degrees of freedom are chosen, so that it has the mean and variance of its reference distribution, whatever the
    dependence within items. No covariance is inverted, as a Wald test (Hotelling's T-squared) does: the test is defined
    when a position is never selected, and with few items it rejects too seldom rather than too often.

    Args:
        counts: of each position in each item, shape (n_items, n); probabilities may be summed instead.

    Returns:
        The p-value. 1 where the shares are exactly uniform in every item.

    Source: Rao and Scott (1981), second-order correction, with items as clusters; estimating the covariance about
    uniform, not about the mean, is ours.
    """
    # Items with more parsed reads count for more, so that the estimate tested is the pooled share.
    deviation = counts - counts.mean(axis=1, keepdims=True)
    if np.abs(deviation).max(initial=0) <= 1e-12:
        return 1.0
    total = deviation.sum(axis=0)
    scatter = deviation.T @ deviation  # covariance of the total under uniform selection
    spread = np.trace(scatter)
    degrees = spread**2 / (scatter**2).sum()
    return float(stats.chi2.sf(degrees * (total @ total) / spread, degrees))


def item_counts(reads: pd.DataFrame, n: int, readout: str) -> np.ndarray:
    """How often each position was selected in each item, or its summed probability. Shape (n_items, n).

    Items without a usable read are rows of zeros. Items are in the order of their ids.
    """
    item = np.unique(reads["item_id"], return_inverse=True)[1]
    counts = np.zeros((item.max() + 1, n))
    if readout == "hard":
        usable = reads["position"].notna().to_numpy()
        np.add.at(counts, (item[usable], reads["position"][usable].to_numpy(dtype=int) - 1), 1)
    else:
        usable = reads["position_probabilities"].notna().to_numpy()
        if usable.any():
            np.add.at(counts, item[usable], np.stack(reads["position_probabilities"][usable].to_numpy()))
    return counts


def position_selection(scores: pd.DataFrame, *, resamples: int, confidence: float, seed: int) -> pd.DataFrame:
    """Position shares, chi-square and Cramer's V of every judge, dataset, strategy and scale, by both readouts.

    Args:
        scores: reads as `scores.score_reads` returns them.
        resamples, confidence, seed: of the percentile bootstrap, which draws items with replacement.

    Returns:
        One row an estimate: `quantity` is ``share`` (with its `position`), ``chi2`` or ``cramers_v``; `p` ignores that
        reads of one item depend on each other, `p_cluster` does not. `n_failed` counts the reads without this readout,
        which are left out. One item has no interval. That of V cannot reach 0 and is biased upwards near it. In readout
        `soft`, chi-square is computed from summed probabilities, which vary less than selections: its `p` is not exact.
    """
    rows = []
    keys = KEYS
    for key, reads in scores[scores["strategy"].isin(CROSSED)].groupby(keys):
        for readout in READOUTS:
            n = int(key[-1])
            counts = item_counts(reads, n, readout)
            used = counts.sum(axis=1) > 0
            if not used.any():
                continue
            rng = resampling.generator(seed, "position selection", *key, readout)
            weights = resampling.bootstrap_weights(len(counts), resamples, rng=rng)
            resampled = weights @ counts if len(counts) > 1 else np.full((resamples, n), np.nan)
            test = count_test(counts.sum(axis=0))
            column = "position" if readout == "hard" else "position_probabilities"
            common = dict(zip(keys, key, strict=True)) | {
                "readout": readout,
                "n_items": int(used.sum()),
                "n_reads": int(reads[column].notna().sum()),
                "n_failed": int(reads[column].isna().sum()),
                "method": f"percentile bootstrap over items, {resamples} resamples",
                "confidence": confidence,
                "seed": seed,
            }
            with np.errstate(invalid="ignore"):  # a resample of items without a usable read has no shares
                shares = resampled / resampled.sum(axis=1, keepdims=True)
                low, high = resampling.percentile_interval(shares, confidence)
                v_low, v_high = resampling.percentile_interval(cramers_v(resampled), confidence)
            for position, share in enumerate(counts.sum(axis=0) / counts.sum(), start=1):
                interval = {"ci_low": low[position - 1], "ci_high": high[position - 1]}
                rows.append(common | {"quantity": "share", "position": position, "estimate": share} | interval)
            p_values = {"p": test.p, "p_cluster": cluster_test(counts)}
            rows.append(common | {"quantity": "chi2", "estimate": test.chi2} | p_values)
            rows.append(
                common | {"quantity": "cramers_v", "estimate": test.cramers_v, "ci_low": v_low, "ci_high": v_high}
            )
    columns = [*keys, "readout", "quantity", "position", "estimate", "ci_low", "ci_high", "p", "p_cluster"]
    columns += ["n_items", "n_reads", "n_failed", "method", "confidence", "seed"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype({"position": "Int8", "ci_low": float, "ci_high": float, "p": float, "p_cluster": float})


def parse_failures(scores: pd.DataFrame) -> pd.DataFrame:
    """Reads without a score, by reason and by where the highest score stood in the prompt, where that is known.

    Returns:
        One row a judge, dataset, strategy, scale, `position` of the highest score (``all`` for the pooled row) and
        `reason` (``all`` for any, which is there also when nothing failed), with `n_reads` and `n_failed`.
    """
    keys = KEYS
    table = scores[[*keys, "failure"]].copy()
    table["position"] = [str(list(o).index(n) + 1) for o, n in zip(scores["ordering"], scores["n"], strict=True)]
    # What is recorded without its ordering has the canonical one as a stand-in, which says nothing about places.
    varied = scores.groupby(keys)["ordering"].transform(lambda orderings: orderings.map(tuple).nunique()) > 1
    placed = table[(scores["strategy"] != "recorded") | varied]
    table = pd.concat([placed, table.assign(position="all")])
    keys = [*keys, "position"]
    reads = table.groupby(keys, as_index=False).size().rename(columns={"size": "n_reads"})
    failed = table[table["failure"].notna()].rename(columns={"failure": "reason"})
    failed = pd.concat([failed, failed.assign(reason="all")])
    counts = failed.groupby([*keys, "reason"], as_index=False).size().rename(columns={"size": "n_failed"})
    pooled = reads.assign(reason="all").merge(counts, on=[*keys, "reason"], how="left").fillna({"n_failed": 0})
    others = reads.merge(counts[counts["reason"] != "all"], on=keys)
    result = pd.concat([pooled, others]).astype({"n_failed": int})
    return result.sort_values([*keys, "reason"])[[*keys, "reason", "n_reads", "n_failed"]].reset_index(drop=True)
