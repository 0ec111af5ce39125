"""Options of a study: designs, numbers and sizes of groups, with their calls, price and predicted precision."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from rubric_order.base.intervals import Interval
from rubric_order.methods.advice import designs, goals
from rubric_order.methods.advice.designs import Design
from rubric_order.methods.advice.goals import Asked, Predictor
from rubric_order.methods.advice.pilot import Pilot, Unknown
from rubric_order.methods.advice.variances import Shape

MULTIPLES = (1, 2, 4)  # multiples of the pilot's number of groups, if neither a target nor a budget is given
CURVE = 7  # points of a curve, each with a number of groups


class Option(NamedTuple):
    """A study that could be made.

    Attributes:
        design: design of the study.
        shape: shape of the groups.
        like_pilot: True if groups are as large as the pilot's.
        groups: number of groups.
        precision: predicted precision, with its interval.
        value: estimate whose precision is predicted, from the pilot's reads by this design; NaN without an estimate.
        calls: number of calls of the judge.
        cost: cost of these calls; NaN if no price is known.
        meets: True if the worse end of the precision's interval meets the target; None without a target.
        affordable: True if the budget allows the option; None without a budget.
        truncated: names of the parts of variances that are estimated below 0 and count as 0.
    """

    design: Design
    shape: Shape
    like_pilot: bool
    groups: int
    precision: Interval
    value: float
    calls: int
    cost: float
    meets: bool | None
    affordable: bool | None
    truncated: tuple[str, ...]


class Budget(NamedTuple):
    """Limits of a study.

    Attributes:
        target: value that the goal has to reach; None without a target.
        amount: largest amount of money if `price` is known, else largest number of calls; None for no limit.
        price: price of one call; NaN if the budget counts calls.
    """

    target: float | None
    amount: float | None
    price: float

    def most_calls(self) -> float:
        """Number of calls that the budget pays for."""
        if self.amount is None:
            return math.inf
        return self.amount if math.isnan(self.price) else self.amount / self.price


def options(pilot: Pilot, asked: Asked, budget: Budget) -> tuple[list[Option], list[str]]:
    """Options of a study, the best first; and reasons why some designs have no option.

    With a target, each option has the least number of groups that reaches the target at the worse end of its interval
    or, if no number does, as many as
    the budget pays for. Options that reach the target within the budget come first, sorted by calls. With a budget
    only, each option has as many groups as the budget pays for, and the most precise option comes first. With neither,
    options have several multiples (`MULTIPLES`) of the pilot's number of groups, or of the least number that an option
    may have (`goals.FEWEST_GROUPS` effective groups) if that is larger. There is no option if its number of groups
    would depend on a budget that is not given, or that pays for fewer than this least number.

    The goal ``ranked`` does not depend on the number of groups. Its options have as many groups as the budget pays for,
    or as many as the pilot if there is no budget.

    Args:
        pilot: the pilot's reads.
        asked: goal of the predictions, with their confidence and margins.
        budget: target, budget and price of a call.

    Raises:
        Unknown: the pilot predicts nothing for any design.
    """
    made: list[Option] = []
    reasons: list[str] = []
    for design, of in _predictors(pilot, asked, reasons):
        for shape, like_pilot in _shapes(pilot, asked.goal):
            for groups in _numbers(pilot, of, shape, design, budget):
                made.append(_option(of, design, shape, like_pilot, groups, budget))
    if not made and reasons:
        raise Unknown(reasons[0])

    def place(option: Option) -> tuple[float, ...]:
        value = option.precision.estimate
        value = -value if asked.goal in goals.RISING else value
        fails, dear = option.meets is False, option.affordable is False
        sizes = (value, option.calls) if budget.target is None and budget.amount is not None else (option.calls, value)
        return (fails, dear, *map(float, sizes))

    return sorted(made, key=place), list(dict.fromkeys(reasons))


def curves(pilot: Pilot, asked: Asked, budget: Budget, most_calls: float) -> Iterator[Option]:
    """Precision of each design for several numbers of calls, with groups like the pilot's.

    Args:
        pilot: the pilot's reads.
        asked: goal of the predictions, with their confidence and margins.
        budget: limits of the study, with which each option is compared.
        most_calls: number of calls at which curves end. If these calls are for fewer than twice the least number of
            groups that an option may have (`goals.FEWEST_GROUPS` effective groups), a curve ends at twice this number
            of groups.
    """
    for design, of in _predictors(pilot, asked, []):
        shape = pilot.shape
        reads_a_group = design.reads * shape.items
        fewest = _fewest(shape)
        most = max(most_calls / reads_a_group, 2 * fewest)
        steps = [fewest * (most / fewest) ** (step / (CURVE - 1)) for step in range(CURVE)]
        for groups in dict.fromkeys(round(step) for step in steps):
            yield _option(of, design, shape, True, groups, budget)


def possible(pilot: Pilot, goal: str) -> list[Design]:
    """Designs whose reads the pilot has made.

    Args:
        pilot: the pilot's reads.
        goal: one of `goals.GOALS`. A goal of `goals.CROSSED` needs designs in which every score stands in every
            position.

    Raises:
        Unknown: the pilot has made the reads of no design.
    """
    chosen = designs.possible(pilot.block.orderings[0], pilot.repeats, crossed=goal in goals.CROSSED)
    if not chosen:
        raise Unknown(
            "no strategy of a config reads items in orderings of this pilot with every score in every position; a pilot"
            " by strategy balanced, all or repeated_rotations would tell"
        )
    return chosen


def _predictors(pilot: Pilot, asked: Asked, reasons: list[str]) -> Iterator[tuple[Design, Predictor]]:
    """Designs with their predictors. If a design has no predictor, the reason is added to `reasons`."""
    for design in possible(pilot, asked.goal):
        try:
            yield design, goals.predictor(pilot, design, asked)
        except Unknown as error:
            reasons.append(f"{design.name}: {error}")


def _shapes(pilot: Pilot, goal: str) -> list[tuple[Shape, bool]]:
    """Shape of the pilot's groups; then shapes with smaller groups of one size, if size can matter for the goal.

    Each shape has a flag that is True for the pilot's own shape.
    """
    own = pilot.shape
    if goal == goals.RANKED:
        return [(own, True)]
    smaller, items = [], 1
    while items < own.items - 0.5:
        smaller.append((Shape(float(items)), False))
        items *= 2
    return [(own, True), *smaller]


def _numbers(pilot: Pilot, of: Predictor, shape: Shape, design: Design, budget: Budget) -> list[int]:
    """Numbers of groups of the options of one design and shape."""
    reads_a_group = design.reads * shape.items
    affordable = math.floor(budget.most_calls() / reads_a_group + 1e-9) if budget.amount is not None else 0
    if of.asked.goal == goals.RANKED:  # any number will do: the pilot's, or what the budget pays for
        return [affordable or pilot.groups] if affordable or budget.amount is None else []
    fewest = _fewest(shape)
    if budget.target is not None:
        needed = goals.groups_needed(of, shape, budget.target)
        if math.isfinite(needed):
            return [int(needed)]
    if budget.target is not None or budget.amount is not None:
        return [affordable] if affordable >= fewest else []
    return [times * max(pilot.groups, fewest) for times in MULTIPLES]


def _fewest(shape: Shape) -> int:
    """Least number of groups that an option may have: as many as `goals.FEWEST_GROUPS` effective groups."""
    return math.ceil(goals.FEWEST_GROUPS / shape.worth)


def _option(of: Predictor, design: Design, shape: Shape, like_pilot: bool, groups: int, budget: Budget) -> Option:
    calls = math.ceil(design.reads * shape.items * groups - 1e-9)
    precision = of.predicted(shape, groups)
    meets = None if budget.target is None else of.reaches(shape, groups, budget.target)
    affordable = None if budget.amount is None else calls <= budget.most_calls()
    cost = calls * budget.price
    return Option(design, shape, like_pilot, groups, precision, of.value, calls, cost, meets, affordable, of.truncated)
