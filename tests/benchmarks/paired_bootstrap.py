"""How fast the paired bootstrap of a difference of correlations is, beside a loop of `numpy.corrcoef`, in one run.

    python tests/benchmarks/paired_bootstrap.py

Both draw the same resamples; what they find is compared first.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

from rubric_order.methods import resampling
from rubric_order.statistics import strategy_comparison


def data(items: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean scores of items under two strategies, and human scores."""
    rng = np.random.default_rng(1)
    quality = rng.normal(size=items)
    first, second = (
        np.clip(np.rint(3 + quality[:, None] + rng.normal(size=(items, k))), 1, 5).mean(axis=1) for _ in range(2)
    )
    return first, second, np.rint(3 * (3 + 0.7 * quality + rng.normal(size=items))) / 3


def loop(first: np.ndarray, second: np.ndarray, human: np.ndarray, *, resamples: int) -> tuple[float, float]:
    """The same interval, with two calls of `numpy.corrcoef` a resample."""
    drawn = resampling.bootstrap_indices(len(human), resamples, rng=np.random.default_rng(2))
    differences = [
        np.corrcoef(first[rows], human[rows])[0, 1] - np.corrcoef(second[rows], human[rows])[0, 1] for rows in drawn
    ]
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(low), float(high)


def fast(first: np.ndarray, second: np.ndarray, human: np.ndarray, *, resamples: int) -> tuple[float, float]:
    """What the statistics use, drawing included."""
    found = strategy_comparison.paired_difference(
        first,
        second,
        human,
        np.arange(len(human)),
        resamples=resamples,
        confidence=0.95,
        rng=np.random.default_rng(2),
    )
    return found["ci_low"], found["ci_high"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1600)
    parser.add_argument("--reads", type=int, default=10)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=7, help="runs of each, in turn; the medians count")
    options = parser.parse_args()
    scores = data(options.items, options.reads)

    fast(*scores, resamples=100)  # what is done once, such as starting threads, is not timed
    seconds: dict[str, list[float]] = {"loop": [], "sums": []}
    found = {}
    for _ in range(options.runs):
        for name, run in (("loop", loop), ("sums", fast)):
            start = time.perf_counter()
            found[name] = run(*scores, resamples=options.resamples)
            seconds[name].append(time.perf_counter() - start)
    apart = np.abs(np.subtract(found["loop"], found["sums"])).max()
    print(f"{options.items} items, {options.resamples} resamples")
    print(f"largest difference between the two intervals: {apart:.1e}")
    for name, taken in seconds.items():
        print(f"{name}: {np.median(taken):.4f} s (median of {options.runs}: {', '.join(f'{s:.4f}' for s in taken)})")
    print(f"ratio: {np.median(seconds['loop']) / np.median(seconds['sums']):.1f}")


if __name__ == "__main__":
    main()
