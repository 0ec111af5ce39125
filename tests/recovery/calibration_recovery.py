"""Calibration of simulated judges whose balanced means are known: what single reads gain, and where they gain nothing.

    python tests/recovery/calibration_recovery.py

The balanced mean of an item is known here from probabilities: the mean over `balanced` of the expected score. A
calibration is learnt on some groups and applied to single reads of new items.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

from rubric_order.extras.one_read.methods.calibration import evidence, learning
from rubric_order.extras.one_read.methods.calibration.evidence import Laid
from rubric_order.methods.position import blocks
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

DECISIVENESS = (0.3, 1.0, 3.0)
NOISE = {"prompts": 0.3, "group_positions": 0.2, "item_scores": 0.3}  # what no calibration can remove
BIASED = {
    "first": {"preference": "first", "preference_strength": 1.5},
    "last": {"preference": "last", "preference_strength": 1.5},
    "u_shaped": {"preference": "u_shaped", "preference_strength": 1.5},
    "interaction": {"interaction": 1.5},
    "groups": {"preference": "first", "preference_strength": 1.5, "group_positions": 0.8},
}
EVEN = {"none": {}, "groups alone": {"group_positions": 0.8}}


class Study(NamedTuple):
    """Reads of items, and the mean that each has over its orderings by probabilities, shape (m,)."""

    hard: Laid
    soft: Laid
    truth: np.ndarray


def judge(decisiveness: float, **settings: object) -> Simulation:
    return Simulation(decisiveness=decisiveness, **NOISE | settings)


def study(of: Simulation, *, groups: int, candidates: int = 2, seed: int) -> Study:
    """Items of new groups, read in the orderings of `balanced` at temperature 1."""
    reads = studies.read_items(of, n=5, strategies=["balanced"], groups=groups, candidates=candidates, seed=seed)
    (block,) = blocks.blocks(studies.as_scores(reads, candidates=candidates))
    hard, soft = evidence.lay_out(block, "hard"), evidence.lay_out(block, "soft")
    return Study(hard, soft, soft.values.mean(axis=1))


def rmse(values: np.ndarray, truth: np.ndarray) -> float:
    """Error of single reads in all orderings, shape (m, D) against (m,)."""
    return float(np.sqrt(((values - truth[:, None]) ** 2).mean()))


def changes(of: Simulation, learnt: Sequence[int], *, draws: int, seed: int = 1) -> pd.DataFrame:
    """Error of new items' single reads over that of the same reads as they are.

    Args:
        learnt: numbers of groups to learn from. draws: of these groups.
    """
    new = study(of, groups=400, seed=seed)
    rows = []
    for groups in learnt:
        ratios: dict[str, list[float]] = {}
        for draw in range(draws):
            old = study(of, groups=groups, seed=seed + 1000 * (draw + 1) + groups)
            for name, laid, values in calibrated(new, old, groups):
                for suffix, columns in (("", slice(None)), (", usual", slice(0, 1))):
                    before = rmse(laid.values[:, columns], new.truth)
                    ratios.setdefault(name + suffix, []).append(rmse(values[:, columns], new.truth) / before)
        about = {"learnt on": groups, "raw": rmse(new.soft.values, new.truth)}
        rows.append(about | {name: float(np.mean(found)) for name, found in ratios.items()})
    return pd.DataFrame(rows)


def calibrated(new: Study, old: Study, groups: int) -> Iterator[tuple[str, Laid, np.ndarray]]:
    """Readout and reads of new items, with their scores by what is learnt on the groups of another study."""
    hard = learning.learn(old.hard.evidence(), np.arange(groups))
    shown = np.broadcast_to(new.hard.orderings, (*new.hard.values.shape, 5))
    yield "hard", new.hard, hard.calibrate_scores(new.hard.values, shown)
    yield "regressed", new.hard, hard.calibrate_scores(new.hard.values, shown, regression=True)
    soft = learning.learn(old.soft.evidence(), np.arange(groups))
    yield "soft", new.soft, soft.calibrate_probabilities(new.soft.probabilities, new.soft.orderings)


def main() -> None:
    for name, settings in (BIASED | EVEN).items():
        for decisiveness in DECISIVENESS:
            table = changes(judge(decisiveness, **settings), [5, 10, 20, 50], draws=10)
            print(f"{name}, decisiveness {decisiveness}\n{table.round(3).to_string(index=False)}")


if __name__ == "__main__":
    main()
