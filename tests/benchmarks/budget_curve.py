"""Speed of the budget curve and its intervals, beside a loop over subsets and resamples, in one run.

    python tests/benchmarks/budget_curve.py

The loop is timed on some of the resamples and scaled up; what both find for these is compared first.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

from rubric_order.methods.agreement import subsets
from rubric_order.methods.uncertainty import resampling


def data(items: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of items by reads, and human scores."""
    rng = np.random.default_rng(1)
    quality = rng.normal(size=items)
    scores = np.clip(np.rint(3 + quality[:, None] + rng.normal(size=(items, k))), 1, 5)
    return scores, np.rint(3 * (3 + 0.7 * quality + rng.normal(size=items))) / 3


def fast(scores: np.ndarray, human: np.ndarray, resamples: int) -> np.ndarray:
    """Mean r of each budget in each resample, as `budget_curve.estimate` computes it, drawing included."""
    chosen = subsets.draw(scores.shape[1], 252, rng=np.random.default_rng(0))
    sums = resampling.sum_units(subsets.moments(scores, human), np.arange(len(human)))
    drawn = resampling.bootstrap_weights(len(human), resamples, rng=np.random.default_rng(2)).astype(float)
    return subsets.curve(drawn @ sums, chosen)


def loop(scores: np.ndarray, human: np.ndarray, resamples: int, timed: int) -> np.ndarray:
    """The same for the first `timed` resamples, one `np.corrcoef` for each subset and resample."""
    masks, sizes, _ = subsets.draw(scores.shape[1], 252, rng=np.random.default_rng(0))
    drawn = resampling.bootstrap_indices(len(human), resamples, rng=np.random.default_rng(2))[:timed]
    curves = np.zeros((timed, scores.shape[1]))
    for resample, rows in enumerate(drawn):
        again, y = scores[rows], human[rows]
        for mask, size in zip(masks, sizes, strict=True):
            r = np.corrcoef(again[:, mask == 1].mean(axis=1), y)[0, 1]
            curves[resample, size - 1] += r / (sizes == size).sum()
    return curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1600)
    parser.add_argument("--reads", type=int, default=10)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--timed", type=int, default=20, help="resamples that the loop is timed on")
    parser.add_argument("--runs", type=int, default=5, help="runs of the fast version; the median counts")
    options = parser.parse_args()
    scores, human = data(options.items, options.reads)

    fast(scores, human, 100)  # what is done once, such as starting threads, is not timed
    seconds = []
    for _ in range(options.runs):
        start = time.perf_counter()
        ours = fast(scores, human, options.resamples)
        seconds.append(time.perf_counter() - start)
    quick = float(np.median(seconds))

    start = time.perf_counter()
    theirs = loop(scores, human, options.resamples, options.timed)
    slow = (time.perf_counter() - start) * options.resamples / options.timed

    apart = np.abs(ours[: options.timed] - theirs).max()
    subsets = 2**options.reads - 1
    print(f"{subsets} subsets x {options.resamples} resamples, {options.items} items")
    print(f"largest difference between the two in {options.timed} resamples: {apart:.1e}")
    print(f"covariances: {quick:.3f} s (median of {options.runs}: {', '.join(f'{s:.3f}' for s in seconds)})")
    print(f"loop: {slow:.1f} s ({options.timed} resamples timed, scaled to {options.resamples})")
    print(f"ratio: {slow / quick:.0f}")


if __name__ == "__main__":
    main()
