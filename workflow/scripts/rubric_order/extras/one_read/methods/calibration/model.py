"""Calibration of a judge, learnt from reads in many orderings, with which single reads are corrected.

Option probabilities are divided by their positions' effects; to a written score, what its position and ordering change
is added, or (regression) it is replaced by the mean, over other orderings, of items with it there. Imports none of this
project's statistics, so that a service can load it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

from rubric_order.base.errors import InputError

FEWEST_LEVELS, MOST_LEVELS = 2, 11
LARGEST = 50.0  # largest log-odds of a position; more is a mistake in a file
COUNTS = ("groups", "items", "reads")
FIELDS = ("levels", *COUNTS, "position", "interaction", "expected")


class Calibration(NamedTuple):
    """Calibration of one judge on one scale; arrays of what it was not learnt from are None.

    `position` (n,) are log-odds of positions, sum 0; `interaction` (n, n) those of scores (rows) beyond them;
    `expected` (n, n) the mean score of items by written score and position; `shift` (n,) the points a score rises per
    point at a position above the middle, beyond its own; `counts` the reads of each cell.

    Source: ours. Division by a prior from permutations is PriDe of Zheng et al. (2024), Large Language Models Are Not
    Robust Multiple Choice Selectors, for option IDs.
    """

    n: int
    position: np.ndarray | None
    interaction: np.ndarray | None
    expected: np.ndarray | None
    groups: int
    items: int
    reads: int
    shift: np.ndarray | None = None
    counts: np.ndarray | None = None
    about: Mapping[str, str] = MappingProxyType({})

    def calibrate_probabilities(self, probabilities: np.ndarray, orderings: np.ndarray) -> np.ndarray:
        """Expected score of each read without position effects, shape (...), from probabilities by position with any
        sum; NaN if unknown or all 0.

        >>> worth = np.log([4.0, 1.0, 1.0])
        >>> calibration = Calibration(3, worth - worth.mean(), np.zeros((3, 3)), None, 30, 30, 180)
        >>> calibration.calibrate_probabilities(np.array([0.5, 0.25, 0.25]), np.array([1, 2, 3])).round(3)
        np.float64(2.2)
        """
        if self.position is None or self.interaction is None:
            raise ValueError("the calibration was learnt without option probabilities")
        weights = np.exp(-(self.position + self.interaction[orderings - 1, np.arange(self.n)])) * probabilities
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights * orderings).sum(axis=-1) / weights.sum(axis=-1)

    def calibrate_scores(self, scores: np.ndarray, orderings: np.ndarray, *, regression: bool = False) -> np.ndarray:
        """Calibrated score in place of each written score, shape (...): plus `expected` less its mean over positions,
        less `shift`; it can lie outside 1 to n, so that means stay right.

        `regression` replaces scores by `expected`, which draws all towards the mean.
        """
        if self.expected is None:
            raise ValueError("the calibration was learnt without written scores")
        scores = np.asarray(scores, dtype=float)
        written = np.where(np.isnan(scores), 1, scores).astype(int)
        place = (orderings == written[..., None]).argmax(axis=-1)
        values = self.expected[written - 1, place]
        if not regression:
            values = scores + values - self.expected.mean(axis=1)[written - 1]
            if self.shift is not None:
                values = values - (orderings - (self.n + 1) / 2) @ self.shift
        return np.where(np.isnan(scores), np.nan, values)

    def to_dict(self) -> dict[str, Any]:
        """The calibration as a dictionary for JSON."""
        arrays = {name: getattr(self, name) for name in ("position", "interaction", "expected", "shift", "counts")}
        counts = {name: getattr(self, name) for name in COUNTS} | {"about": dict(self.about)}
        return {"levels": self.n} | counts | {k: None if v is None else v.tolist() for k, v in arrays.items()}

    @classmethod
    def from_dict(cls, block: object, where: str) -> Self:
        """Read a dictionary of `to_dict`, called `where` in messages; InputError names a field and what was
        expected.
        """
        if not isinstance(block, Mapping):
            raise InputError(f"{where}: expected a mapping, found {block!r:.60}")
        absent = [name for name in FIELDS if name not in block]
        if absent:
            raise InputError(f"{where}: field {absent[0]!r} is missing")
        n = _whole(block["levels"], f"{where}/levels", FEWEST_LEVELS, MOST_LEVELS)
        groups, items, reads = (_whole(block[name], f"{where}/{name}", 1, 10**12) for name in COUNTS)
        position = _array(block["position"], f"{where}/position", (n,))
        interaction = _array(block["interaction"], f"{where}/interaction", (n, n))
        expected = _array(block["expected"], f"{where}/expected", (n, n))
        if (position is None) != (interaction is None):
            raise InputError(f"{where}: expected both position and interaction, or neither")
        if expected is not None and not ((expected >= 1) & (expected <= n)).all():
            raise InputError(f"{where}/expected: expected scores from 1 to {n}, found {_first(expected, 1, n):g}")
        shift = _array(block.get("shift"), f"{where}/shift", (n,))
        for name, array in (("position", position), ("interaction", interaction), ("shift", shift)):
            if array is not None and (np.abs(array) > LARGEST).any():
                finding = f"found {_first(array, -LARGEST, LARGEST):g}"
                raise InputError(f"{where}/{name}: expected numbers from {-LARGEST:g} to {LARGEST:g}, {finding}")
        seen = _array(block.get("counts"), f"{where}/counts", (n, n))
        if seen is not None and not (seen >= 0).all():
            raise InputError(f"{where}/counts: expected numbers of reads, found {_first(seen, 0, np.inf):g}")
        about = block.get("about", {})
        if not isinstance(about, Mapping) or not all(isinstance(text, str) for text in about.values()):
            raise InputError(f"{where}/about: expected a mapping of texts, found {about!r:.60}")
        return cls(
            n, position, interaction, expected, groups, items, reads, shift=shift, counts=seen, about=dict(about)
        )


def _first(values: np.ndarray, low: float, high: float) -> float:
    return float(values[(values < low) | (values > high)][0])


def _whole(value: object, where: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{where}: expected a whole number from {low} to {high}, found {value!r:.60}")
    return value


def _array(value: object, where: str, shape: tuple[int, ...]) -> np.ndarray | None:
    """Array of finite numbers of a given shape; None for None."""
    if value is None:
        return None
    size = " x ".join(map(str, shape))
    try:
        array = np.array(value, dtype=float)
        truths = any(isinstance(entry, bool) for entry in np.array(value, dtype=object).ravel())
    except (TypeError, ValueError):
        array, truths = np.array(np.nan), False
    if truths or array.shape != shape or not np.isfinite(array).all():
        raise InputError(f"{where}: expected {size} numbers, found {value!r:.60}")
    return array
