"""Time that a saved calibration takes: for one read, for a million reads as arrays, and as a table.

    python tests/benchmarks/calibration.py

It also counts what is called for one read: a number of calls that does not depend on the machine.
"""

import argparse
import cProfile
import pstats
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

import rubric_order
from rubric_order.extras.one_read.library.calibration import Calibrations
from rubric_order.extras.one_read.methods.calibration.model import Calibration


def loaded() -> Calibrations:
    """A calibration of five levels, from its file."""
    rng = np.random.default_rng(1)
    interaction = rng.normal(0, 0.2, (5, 5))
    interaction -= interaction.mean(axis=0) + interaction.mean(axis=1, keepdims=True) - interaction.mean()
    expected = np.clip(np.arange(1, 6)[:, None] * 0.8 + rng.normal(0.5, 0.1, (5, 5)), 1, 5)
    position = np.array([0.8, 0.1, -0.4, -0.3, -0.2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "calibration.json"
        Calibrations({"judge": Calibration(5, position, interaction, expected, 40, 80, 800)}).save(path)
        return rubric_order.load_calibration(path)


def reads(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Orderings, probabilities of scores, and written scores."""
    rng = np.random.default_rng(2)
    shown = rng.permuted(np.tile(np.arange(1, 6), (count, 1)), axis=1)
    return shown, rng.dirichlet(np.ones(5), count), rng.integers(1, 6, count)


def calls(calibration: Calibrations) -> int:
    """Number of function calls, Python's and numpy's, for one read."""
    profile = cProfile.Profile()
    profile.runcall(calibration.score, [3, 1, 2, 5, 4], probabilities=[0.1, 0.2, 0.4, 0.2, 0.1])
    return pstats.Stats(profile).total_calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reads", type=int, default=1_000_000)
    parser.add_argument("--single", type=int, default=2000, help="single reads that are timed")
    options = parser.parse_args()
    calibration = loaded()
    print(f"one read: {calls(calibration)} calls of functions")
    shown, shares, scores = reads(options.reads)
    few = list(zip(shown[: options.single].tolist(), shares[: options.single].tolist(), strict=True))
    start = time.perf_counter()
    for ordering, probabilities in few:
        calibration.score(ordering, probabilities=probabilities)
    print(f"one read: {(time.perf_counter() - start) / len(few) * 1000:.3f} ms (mean of {len(few)})")
    for name, words in (("probabilities", {"probabilities": shares}), ("written scores", {"scores": scores})):
        start = time.perf_counter()
        calibration.scores(shown, **words)
        print(f"{options.reads:,} reads as arrays, {name}: {time.perf_counter() - start:.2f} s")
    import pandas as pd

    texts = np.array([" ".join(map(str, row)) for row in shown.tolist()], dtype=object)
    table = pd.DataFrame(shares, columns=[f"p_{score}" for score in range(1, 6)])
    table = table.assign(ordering=texts, score=scores)
    start = time.perf_counter()
    calibration.apply(table)
    print(f"{options.reads:,} reads as a table: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
