"""Speed of a judge, from the notes of its runs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from rubric_order.judging.store import Store
from rubric_order.settings.judges.judge import Judge

MIN_SECONDS = 1.0  # a speed is not estimated from less judging than this
MARKS = 16  # a note of a run with enough answers has at least so many marks, and fewer than twice as many
CONFIDENCE = 0.95


class Speed(NamedTuple):
    """Speed of one job.

    Attributes:
        tokens: computed per second: those of answers and uncached prompts; NaN if none are counted.
        requests: answered per second.
        low, high: 95% interval of the time per token (or request), as factors; NaN without enough runs.
    """

    tokens: float = math.nan
    requests: float = math.nan
    low: float = math.nan
    high: float = math.nan


class Marks:
    """Marks of a run: time, answers, and computed tokens."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._step, self._count = 1, 0
        self.marks: list[tuple[float, int, int]] = []

    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def answered(self, tokens: int) -> None:
        """Note an answer, with the tokens that the run has computed: at first each sets a mark, later every second,
        fourth, and so on.
        """
        self._count += 1
        if self._count % self._step == 0:
            self.marks.append((round(self.seconds(), 3), self._count, tokens))
        if len(self.marks) == 2 * MARKS:
            self.marks, self._step = self.marks[1::2], 2 * self._step


def judge_speed(judge: Judge, store: Store) -> Speed | None:
    """Speed of a judge, from its settings or the notes of its runs, without the time to load the model; None without
    either.
    """
    if judge.throughput:
        return Speed(judge.throughput)
    runs = store.runs()
    seconds, requests = (sum(run[name] for run in runs) for name in ("seconds", "requests"))
    if seconds < MIN_SECONDS or not requests:
        return None
    tokens = sum(map(computed, runs))
    parts = _parts(runs)[:, [0, 2 if tokens else 1]]
    return Speed(tokens / seconds if tokens else math.nan, requests / seconds, *interval(parts))


def computed(run: Mapping[str, Any]) -> int:
    return int(run["prompt_tokens"] - run["cached_tokens"] + run["completion_tokens"])


def _parts(runs: Sequence[Mapping[str, Any]]) -> np.ndarray:
    parts = [np.diff([(0.0, 0, 0), *run.get("marks", ())], axis=0).reshape(-1, 3) for run in runs]
    return np.concatenate([np.empty((0, 3)), *parts])


def interval(parts: np.ndarray) -> tuple[float, float]:
    """Interval of a ratio of sums (seconds per token), as factors of the ratio, by the jackknife with Student's t; NaN
    with fewer than three parts, or if a sum over all but one is not above 0. `parts`: numerator and denominator, shape
    (parts, 2).
    """
    n, whole = len(parts), parts.sum(axis=0)
    rest = whole - parts
    if n < 3 or not (rest > 0).all():
        return math.nan, math.nan
    shares = (rest[:, 0] / rest[:, 1]) / (whole[0] / whole[1])
    error = math.sqrt((n - 1) / n * ((shares - shares.mean()) ** 2).sum())
    reach = float(special.stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * error
    return max(1 - reach, 0.0), 1 + reach
