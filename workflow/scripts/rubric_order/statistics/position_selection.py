"""Position bias: which positions of the prompt a judge selects.

Two readouts of the same reads: `hard`, the position of the selected option, as in the papers; and `soft`, the
probability of each position, where the judge's option log-probabilities are known. A judge that nearly always selects
the same score shows its bias in the second long before it shows in the first.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from rubric_order.base import keys, randomness
from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.methods import blocks, multiplicity, resampling, uniformity
from rubric_order.methods.blocks import Block
from rubric_order.methods.uniformity import cramers_v
from rubric_order.statistics import parse_failures

READOUTS = {"hard": "position", "soft": "position_probabilities"}
COLUMNS = [*KEYS, "item_id", "group_id", "read_index", "ordering", *READOUTS.values()]
# p-values are adjusted for the number of tests within one of these: all judges, profiles, datasets and scales.
FAMILY = ["study", "strategy", "readout", "cluster"]


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


def cluster_test(counts: np.ndarray) -> float:
    """p-value of uniform selection that respects clusters: the chi-square of `position_test`, corrected for clustering.

    Reads of one item depend on each other, so the items, or groups of them, are the sample, not the reads. Chi-square
    is scaled, and its degrees of freedom are chosen, so that it has the mean and variance of its reference
    distribution, whatever the dependence within clusters. No covariance is inverted, as a Wald test (Hotelling's
    T-squared) does: the test is defined when a position is never selected, and with few clusters it rejects too seldom
    rather than too often.

    Args:
        counts: of each position in each cluster, shape (n_clusters, n); probabilities may be summed instead.

    Returns:
        The p-value. 1 where the shares are exactly uniform in every cluster.

    Source: Rao and Scott (1981), second-order correction, with items or groups as clusters; estimating the covariance
    about uniform, not about the mean, is ours.
    """
    # Clusters with more parsed reads count for more, so that the estimate tested is the pooled share.
    deviation = counts - counts.mean(axis=1, keepdims=True)
    if np.abs(deviation).max(initial=0) <= 1e-12:
        return 1.0
    total = deviation.sum(axis=0)
    scatter = deviation.T @ deviation  # covariance of the total under uniform selection
    spread = np.trace(scatter)
    degrees = spread**2 / (scatter**2).sum()
    return float(stats.chi2.sf(degrees * (total @ total) / spread, degrees))


def item_counts(block: Block, readout: str) -> np.ndarray:
    """How often each position was selected in each item, or its summed probability. Shape (n_items, n).

    Items without a usable read are rows of zeros.
    """
    shape = len(block.items), block.n
    column = block.table[READOUTS[readout]]
    usable = column.notna().to_numpy()
    if not usable.any():
        return np.zeros(shape)
    if readout == "hard":
        cell = block.item[usable] * block.n + column[usable].to_numpy(dtype=int) - 1
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
    probabilities = np.stack(column[usable].to_numpy())
    return np.column_stack([np.bincount(block.item[usable], values, shape[0]) for values in probabilities.T])


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    resamples: int,
    confidence: float,
    seed: int,
    near_uniform: float = uniformity.NEAR_UNIFORM,
) -> pd.DataFrame:
    """Position shares, chi-square, Cramer's V and direction of bias, by both readouts, over items and over groups.

    Args:
        scores: reads as `scores.score_reads` returns them, see `blocks.blocks`; columns `COLUMNS`.
        resamples, confidence, seed: of the bootstrap, which draws clusters with replacement.
        near_uniform: see `uniformity.direction`.

    Returns:
        One row an estimate of a group of `KEYS`, readout and `cluster` (what counts as the sample). `quantity` is

        - ``share`` of a `position`, with its percentile interval, its simultaneous interval (`sim_low`, `sim_high`, see
          `uniformity.simultaneous_intervals`) and worst-case bounds over failed reads (`bound_low`, `bound_high`);
        - ``chi2`` against uniform: `p` takes reads as independent, `p_cluster` clusters (`cluster_test`); `p_holm` and
          `p_bh` are `p_cluster` adjusted for the `n_tests` of its `FAMILY`; `p_rotation` is a check of `p_cluster`
          where there are few clusters (`uniformity.rotation_test`), and missing where there are `uniformity.ROTATED`
          or more;
        - ``cramers_v`` with the interval of `uniformity.v_interval`, and worst-case bounds. `flag` says ``reaches 0``
          where the interval does (its upper end is then all that the data say), and ``few clusters`` where there are
          less than `uniformity.FEW_CLUSTERS`;
        - ``cramers_v_corrected``, with the same interval, and ``cramers_v_squared``: without what chance adds, see
          `uniformity.corrected_v`; ``cramers_v_corrected_reads``: the same if reads were independent;
        - ``design_effect``, and ``detectable_v``: the smallest V that would have been found, see `uniformity`;
        - ``direction``, in column `label`.

        `n_failed` counts the reads without this readout, which are left out. One cluster has no interval. In readout
        ``soft``, chi-square is computed from summed probabilities, which vary less than selections: its `p` is not
        exact.
    """
    rows = []
    for block in blocks.blocks(scores):
        if not block.crossed:
            continue
        for readout, column in READOUTS.items():
            counts = item_counts(block, readout)
            used = counts.sum(axis=1) > 0
            if not used.any():
                continue
            answered = int(block.table[column].notna().sum())
            sizes = {"n_items": int(used.sum()), "n_reads": answered, "n_failed": len(block.table) - answered}
            for cluster in CLUSTERS:
                name = block.keys | {"readout": readout, "cluster": cluster}
                clusters = blocks.sum_units(counts[used], block.units(cluster, used))
                rng = randomness.generator(seed, "position selection", *name.values())
                found = _estimates(
                    clusters, sizes, cluster, rng=rng, resamples=resamples, confidence=confidence, near=near_uniform
                )
                rows += [name | row for row in found]
    columns = [*KEYS, "readout", "cluster", "quantity", "position", "estimate", "ci_low", "ci_high"]
    columns += ["sim_low", "sim_high", "bound_low", "bound_high", "p", "p_cluster", "p_rotation", "label", "flag"]
    columns += ["n_items", "n_clusters", "n_reads", "n_failed", "method", "confidence", "seed"]
    table = keys.typed(rows, columns, words=["readout", "cluster", "quantity", "label", "flag", "method"])
    table = table.astype({"position": "Int8"}).assign(confidence=confidence, seed=seed)
    return multiplicity.adjust(table, "p_cluster", FAMILY)


def _estimates(
    counts: np.ndarray,
    sizes: dict,
    cluster: str,
    *,
    rng: np.random.Generator,
    resamples: int,
    confidence: float,
    near: float,
) -> list[dict]:
    """The rows of one table of counts, shape (n_clusters, n)."""
    n_clusters, n = counts.shape
    total = counts.sum(axis=0)
    sizes = sizes | {"n_clusters": n_clusters}
    drawn = f"over {cluster}s, {resamples} resamples"
    resampled = resampling.bootstrap_sums(counts, resamples, rng=rng)
    ends = np.full((2, n), np.nan)
    if n_clusters > 1:
        with np.errstate(invalid="ignore"):
            ends = resampling.percentile_interval(resampled / resampled.sum(axis=1, keepdims=True), confidence)
    together = uniformity.simultaneous_intervals(counts, confidence)
    bounds = parse_failures.share_bounds(total, sizes["n_failed"])
    method = f"percentile bootstrap {drawn}; simultaneous: Goodman, effective number of reads"
    rows = [
        {
            "quantity": "share",
            "position": position + 1,
            "estimate": total[position] / total.sum(),
            **_pair("ci", *(end[position] for end in ends)),
            **_pair("sim", *(end[position] for end in together)),
            **_pair("bound", *(bound[position] for bound in bounds)),
            "method": method,
        }
        for position in range(n)
    ]
    test = count_test(total)
    method = (
        f"p over reads; p_cluster: second-order Rao-Scott over {cluster}s; p_rotation: {uniformity.ROTATIONS} rotations"
    )
    p_values = {"p": test.p, "p_cluster": cluster_test(counts)}
    if n_clusters < uniformity.ROTATED:
        p_values["p_rotation"] = uniformity.rotation_test(counts, rotations=uniformity.ROTATIONS, rng=rng)
    rows.append({"quantity": "chi2", "estimate": test.chi2, **p_values, "method": method})
    low, high = uniformity.v_interval(counts, resampled, confidence)
    flags = ["few clusters"] if n_clusters < uniformity.FEW_CLUSTERS else []
    flags += ["reaches 0"] if low == 0 else []
    rows.append(
        {
            "quantity": "cramers_v",
            "estimate": test.cramers_v,
            **_pair("ci", low, high),
            **_pair("bound", *parse_failures.v_bounds(total, sizes["n_failed"])),
            "flag": ", ".join(flags),
            "method": f"bootstrap test inversion {drawn}",
        }
    )
    deff = uniformity.design_effect(counts)
    level = 1 - confidence
    smallest = uniformity.detectable_v(total.sum(), n, deff=deff, level=level)
    method = f"less the variance of the shares over {cluster}s; bootstrap test inversion {drawn}"
    corrected = {"estimate": uniformity.corrected_v(counts), **_pair("ci", low, high)}
    rows.append({"quantity": "cramers_v_corrected", "method": method, **corrected})
    for quantity, estimate, method in (
        ("cramers_v_squared", uniformity.squared_v(counts), f"less the variance of the shares over {cluster}s"),
        (
            "cramers_v_corrected_reads",
            uniformity.corrected_v_of_reads(total),
            "Bergsma's correction, reads independent",
        ),
        ("design_effect", deff, f"first-order Rao-Scott over {cluster}s"),
        ("detectable_v", smallest, f"noncentral chi-square, level {level:.3g}, power {uniformity.POWER}"),
    ):
        rows.append({"quantity": quantity, "estimate": estimate, "method": method})
    label = uniformity.direction(*together, near=near)
    rows.append({"quantity": "direction", "label": label, "method": "simultaneous intervals"})
    return [{"label": "", "flag": ""} | row | sizes for row in rows]


def _pair(name: str, low: float, high: float) -> dict:
    return {f"{name}_low": low, f"{name}_high": high}
