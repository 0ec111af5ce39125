"""Goals of a study, and the precision that a pilot predicts for them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.extras.one_read.methods.advice import card, variances
from rubric_order.extras.one_read.methods.advice import pilot as pilots
from rubric_order.extras.one_read.methods.advice.card import CardErrors
from rubric_order.extras.one_read.methods.advice.designs import Design
from rubric_order.extras.one_read.methods.advice.pilot import Pilot, Unknown
from rubric_order.extras.one_read.methods.advice.variances import Shape, Transform
from rubric_order.methods.position import planning_groups
from rubric_order.methods.uncertainty import distributions, resampling

R, MEAN, PREFERENCE, RANKED = "r", "mean", "preference", "ranked"
EQUIVALENT, BIAS, SHIFT = "equivalent", "bias", "shift"
GOALS = {
    R: "half-width of the interval of r with people",
    MEAN: "half-width of the interval of the mean score, points",
    PREFERENCE: "half-width of the interval of a position's worth, log-odds (mean over positions)",
    RANKED: "share of pairs of items ranked right",
    EQUIVALENT: "share of studies of a judge without bias that are equivalent",
    BIAS: "smallest worth of a position that 80% of studies find, log-odds",
    SHIFT: "smallest shift by the usual ordering that 80% of studies find, points",
}
RISING = (RANKED, EQUIVALENT)  # goals for which a larger value is better
OF_CARDS = (EQUIVALENT, BIAS, SHIFT)
CROSSED = (PREFERENCE, *OF_CARDS)  # goals for which every score has to stand in every position
FEWEST_GROUPS = pilots.FEWEST_GROUPS  # effective ones of an option
_NO_VARIANCE = 1e-12
# From a share of pairs to the log of the ratio of standard deviations, item / error, and back.
RATIO: tuple[Transform, Transform] = (
    lambda share: np.log(np.tan(np.pi * (share - 0.5))),
    lambda ratio: 0.5 + np.arctan(np.exp(ratio)) / np.pi,
)


class Margins(NamedTuple):
    """Margins for the goal `equivalent`, by the rules of a card."""

    points: float
    log_odds: float
    spread: float


@dataclass(frozen=True)
class Asked:
    """Goal of a prediction (one of `GOALS`), and its settings."""

    goal: str
    confidence: float
    margins: Margins
    temperature: float | None
    seed: int


@dataclass(frozen=True)
class Predictor(ABC):
    """Prediction of a goal's precision for a design and any groups.

    `truncated` names variances below 0; `value` is the pilot's estimate of what is predicted.
    """

    asked: Asked = field(repr=False)
    truncated: tuple[str, ...]
    value: float = field(default=math.nan, kw_only=True)

    @abstractmethod
    def at(self, shape: Shape, groups: float) -> float:
        """Prediction for a study with `groups` groups of this shape."""

    @abstractmethod
    def interval(self, shape: Shape, groups: float) -> tuple[float, float]:
        """Interval of the prediction: on the log of the error, by a jackknife over the pilot's groups."""

    def reaches(self, shape: Shape, groups: float, target: float) -> bool:
        """True if the worse end of the interval for `groups` groups is at least as good as a target."""
        return better(self.asked.goal, self.interval(shape, groups)[self.asked.goal not in RISING], target)

    def predicted(self, shape: Shape, groups: float) -> Interval:
        """The prediction with its interval."""
        return Interval(self.at(shape, groups), *self.interval(shape, groups))


@dataclass(frozen=True)
class SumsPredictor(Predictor):
    """Prediction from sums over groups: `values` of the pilot, then without each part of its groups (of `sizes`);
    `scale`: to the interval's scale, and back.
    """

    sizes: np.ndarray = field(repr=False)
    values: Callable[[Shape, float], np.ndarray] = field(repr=False)
    scale: tuple[Transform, Transform] = field(default=(np.log, np.exp), repr=False)

    def at(self, shape: Shape, groups: float) -> float:
        return float(self.values(shape, groups)[0])

    def interval(self, shape: Shape, groups: float) -> tuple[float, float]:
        return variances.log_interval(self.values(shape, groups), self.asked.confidence, self.sizes, *self.scale)


@dataclass(frozen=True)
class CardPredictor(Predictor):
    """Share of `equivalent` studies, or the smallest bias that is found."""

    errors: CardErrors = field(repr=False)

    def at(self, shape: Shape, groups: float) -> float:
        return self._at(shape, groups, 1.0)

    def interval(self, shape: Shape, groups: float) -> tuple[float, float]:
        ends = sorted(self._at(shape, groups, times) for times in self.times(shape))
        return ends[0], ends[1]

    def reaches(self, shape: Shape, groups: float, target: float) -> bool:
        """True if the upper end of the errors is good enough; stops early if a share cannot reach the target."""
        return better(self.asked.goal, self._at(shape, groups, self.times(shape)[1], enough=target), target)

    def times(self, shape: Shape) -> tuple[float, float]:
        """Ends of the interval of the errors, as multiples of the errors."""
        tests_of = {BIAS: ("positions",), SHIFT: ("points", "written")}
        kinds = tests_of.get(self.asked.goal, ("positions", "interaction", "points", "spread", "beyond"))
        return variances.log_interval(self.errors.scales(kinds, shape), self.asked.confidence, self.errors.sizes)

    def _at(self, shape: Shape, groups: float, times: float, *, enough: float = 0.0) -> float:
        errors = self.errors.at(shape, groups, times=times)
        if self.asked.goal != EQUIVALENT:
            return planning_groups.smallest(errors, errors.groups, points=self.asked.goal == SHIFT)
        points, log_odds, spread = self.asked.margins
        if planning_groups.why_never(errors, spread):
            return 0.0
        limits = {"margin_points": points, "margin_log_odds": log_odds, "margin_spread": spread}
        return planning_groups.share_equivalent(errors, errors.groups, **limits, enough=enough)


def predictor(pilot: Pilot, design: Design, asked: Asked) -> Predictor:
    """Predictor of a goal's precision in a study with a design; raises `Unknown`. Goals of a card use both readouts."""
    if asked.goal in OF_CARDS:
        return _card_predictor(pilot, design, asked)
    if asked.goal == RANKED:
        return _pairs_predictor(pilot, design, asked)
    if asked.goal == PREFERENCE:
        return _preference_predictor(pilot, design, asked)
    if asked.goal == R:
        return _r_predictor(pilot, design, asked)
    parts = variances.parts(_sums(pilots.mean_influence(pilot, design), pilot.unit)).mean()
    _check_varies(parts.variance(pilot.shape, 1)[0])
    return mean_predictor(asked, np.bincount(pilot.unit), parts, float(pilot.means(design).mean()))


def _width(asked: Asked, shape: Shape, groups: float) -> float:
    """Half-width of an interval, in standard errors, by Student's t over groups."""
    return float(distributions.t_quantile((1 + asked.confidence) / 2, max(groups * shape.freedom - 1, 1)))


def mean_predictor(asked: Asked, sizes: np.ndarray, parts: variances.Parts, mean: float) -> Predictor:
    """Predictor of the half-width of the interval of a mean score."""

    def values(shape: Shape, groups: float) -> np.ndarray:
        variance: np.ndarray = parts.variance(shape, groups)[:, 0]
        return _width(asked, shape, groups) * np.sqrt(variance)

    return SumsPredictor(asked, _negative(parts), sizes, values, value=mean)


def _r_predictor(pilot: Pilot, design: Design, asked: Asked) -> Predictor:
    """Predictor of the half-width of the interval of r, which is computed on Fisher's scale."""
    influence, rated, r = pilots.r_influence(pilot, design)
    unit = np.unique(pilot.unit[rated], return_inverse=True)[1]
    sizes = pilots.check_groups(unit, " of items with human scores")
    drawn, draws = _sums(influence, unit), influence.shape[1]
    parts = variances.parts(drawn).mean()
    z = np.arctanh(r).mean() + drawn[:, 3 : 3 + draws].mean(axis=1) / drawn[:, 1]

    def values(shape: Shape, groups: float) -> np.ndarray:
        reach = _width(asked, shape, groups) * np.sqrt(parts.variance(shape, groups)[:, 0])
        return np.asarray((np.tanh(z + reach) - np.tanh(z - reach)) / 2)

    return SumsPredictor(asked, _negative(parts), sizes, values, value=float(np.tanh(z[0])))


def _preference_predictor(pilot: Pilot, design: Design, asked: Asked) -> Predictor:
    """Predictor of the half-width of the interval of a position's effect, mean over positions."""
    fit = pilots.fitted(part := pilot.part(design), pilot.readout)
    unit = part.units("group")
    parts = variances.parts(_sums(pilots.position_influence(fit.items, part.n), unit))
    least = pilots.least_of_positions(fit.items, part.n)
    _check_varies(parts.variance(pilot.shape, 1)[0] + least)
    normal = float(distributions.normal_quantile((1 + asked.confidence) / 2))

    def values(shape: Shape, groups: float) -> np.ndarray:
        variance = np.maximum(parts.variance(shape, groups), least / shape.items / groups)
        mean: np.ndarray = np.sqrt(variance).mean(axis=1)
        return (_width(asked, shape, groups) if fit.by_group else normal) * mean

    return SumsPredictor(asked, _negative(parts), np.bincount(unit), values)


def share_ranked(item: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Share of pairs of items ranked as by the means over all orderings: 1/2 + arcsin(rho) / pi for normal scores.

    Source: Sheppard (1899), On the application of the theory of error; rho squared is generalisability.
    """
    item, error = np.maximum(item, 0), np.maximum(error, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        squared = np.where(item + error > _NO_VARIANCE, item / (item + error), np.nan)
    return np.asarray(0.5 + np.arcsin(np.sqrt(squared)) / np.pi)


def _sums(influence: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return variances.left_out(variances.unit_sums(influence, unit))


def _negative(parts: variances.Parts) -> tuple[str, ...]:
    return ("what groups share",) if (parts.between[0] < 0).all() else ()


def _check_varies(variance: np.ndarray) -> None:
    if not (variance > _NO_VARIANCE).all():
        raise Unknown("the scores are all the same, so that no error is known")


def _pairs_predictor(pilot: Pilot, design: Design, asked: Asked) -> Predictor:
    """Predictor from variances between the items of a group, or between all items if all groups have one."""
    every = pilot.values.mean(axis=2)
    by_design = pilot.values[..., : design.repeats].mean(axis=2)
    sizes = np.bincount(pilot.unit)
    alone = sizes.max() == 1
    unit = np.zeros(len(every), dtype=int) if alone else pilot.unit
    d = every.shape[1]

    def within(values: np.ndarray) -> np.ndarray:
        return values - (resampling.sum_units(values, unit) / np.bincount(unit)[:, None])[unit]

    def rest(values: np.ndarray) -> np.ndarray:
        away = within(values)
        return np.square(away - away.mean(axis=1, keepdims=True)).sum(axis=1)

    of_items = np.square(within(every).mean(axis=1))
    count = np.full(len(every), 1 - 1 / len(every)) if alone else (1 - 1 / sizes)[pilot.unit]
    table = np.column_stack([count, of_items, rest(every), rest(by_design)])
    of_groups = resampling.sum_units(table, np.arange(len(every)) if alone else pilot.unit)
    sizes = sizes if len(of_groups) == len(sizes) else np.ones(len(of_groups))
    drawn = variances.left_out(of_groups)
    free, square, of_every, of_design = drawn.T
    with np.errstate(invalid="ignore", divide="ignore"):
        noise = of_every / free / (d - 1)
        item, error = square / free - noise / d, of_design / free / (d - 1)
    negative = ["differences between items"] if item[0] < 0 else []
    if not design.columns:  # each item has its own orderings: so their effects on all items are an error too
        shift = float(by_design.mean(axis=0).var(ddof=1)) - error[0] / len(every)
        negative += ["what orderings add to all items"] if shift < 0 else []
        error = error + max(shift, 0)
    if not item[0] + error[0] > _NO_VARIANCE:
        raise Unknown("items do not differ, so that there is nothing to rank")
    share = share_ranked(item, error / design.orderings)
    return SumsPredictor(asked, tuple(negative), sizes, lambda shape, groups: share, RATIO)


def _card_predictor(pilot: Pilot, design: Design, asked: Asked) -> Predictor:
    errors = card.card_errors(pilot, design, temperature=asked.temperature)
    words = {"positions": "positions", "points": "points", "interaction": "interaction", "spread": "single items"}
    negative = tuple(f"what groups share ({words[name]})" for name in errors.negative if name in words)
    if asked.goal == EQUIVALENT:
        why = planning_groups.why_never(errors.at(pilot.shape, pilot.groups), math.inf)
        if why:
            repeats = (
                " (each ordering read twice, or option probabilities, would tell)" if errors.spread is None else ""
            )
            raise Unknown(f"{why}{repeats}")
    return CardPredictor(asked, negative, errors)


def better(goal: str, one: float, other: float) -> bool:
    """True if `one` is at least as good as `other` for a goal."""
    return one >= other if goal in RISING else one <= other


def groups_needed(of: Predictor, shape: Shape, target: float) -> float:
    """Least number of groups with which a goal reaches its target; infinite if none does."""

    def enough(groups: float) -> bool:
        return of.reaches(shape, groups, target)

    return planning_groups.least(enough, math.ceil(FEWEST_GROUPS / shape.worth)).groups
