"""Options of a study: designs, numbers and sizes of groups, with their calls, price and predicted precision."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from rubric_order.base.intervals import Interval
from rubric_order.extras.one_read.methods.advice import designs, goals
from rubric_order.extras.one_read.methods.advice.designs import Design
from rubric_order.extras.one_read.methods.advice.goals import Asked, Predictor
from rubric_order.extras.one_read.methods.advice.pilot import Pilot, Unknown
from rubric_order.extras.one_read.methods.advice.variances import Shape

MULTIPLES = (1, 2, 4)  # multiples of the pilot's number of groups, if neither a target nor a budget is given
CURVE = 7  # points of a curve, each with a number of groups


class Option(NamedTuple):
    """A study that could be made. `meets`: the worse end of its precision meets the target; `affordable`: the budget
    allows it; None without either.
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
    """Target of the goal, largest `amount` of money (of calls, where `price` is NaN), and price of a call."""

    target: float | None
    amount: float | None
    price: float

    def most_calls(self) -> float:
        """Number of calls that the budget pays for."""
        if self.amount is None:
            return math.inf
        return self.amount if math.isnan(self.price) else self.amount / self.price


def options(pilot: Pilot, asked: Asked, budget: Budget) -> tuple[list[Option], list[str]]:
    """Options of a study, the best first; and reasons why some designs have none. Raises `Unknown` if all have none.

    With a target, each option has the least number of groups whose worse end reaches it or, if none does, as many as
    the budget pays for; with a budget only, as many as it pays for, the most precise first; with neither, `MULTIPLES`
    of the pilot's groups. ``ranked`` does not depend on the number of groups. All have `goals.FEWEST_GROUPS` effective
    groups or more.
    """
    choices: list[Option] = []
    reasons: list[str] = []
    for design, of in _predictors(pilot, asked, reasons):
        for shape, like_pilot in _shapes(pilot, asked.goal):
            for groups in _numbers(pilot, of, shape, design, budget):
                choices.append(_option(of, design, shape, like_pilot, groups, budget))
    if not choices and reasons:
        raise Unknown(reasons[0])

    def place(option: Option) -> tuple[float, ...]:
        value = option.precision.estimate
        value = -value if asked.goal in goals.RISING else value
        fails, dear = option.meets is False, option.affordable is False
        sizes = (value, option.calls) if budget.target is None and budget.amount is not None else (option.calls, value)
        return (fails, dear, *map(float, sizes))

    return sorted(choices, key=place), list(dict.fromkeys(reasons))


def curves(pilot: Pilot, asked: Asked, budget: Budget, most_calls: float) -> Iterator[Option]:
    """Precision of each design by number of calls, with groups like the pilot's, to twice the fewest or more."""
    for design, of in _predictors(pilot, asked, []):
        shape = pilot.shape
        reads_a_group = design.reads * shape.items
        fewest = _fewest(shape)
        most = max(most_calls / reads_a_group, 2 * fewest)
        steps = [fewest * (most / fewest) ** (step / (CURVE - 1)) for step in range(CURVE)]
        for groups in dict.fromkeys(round(step) for step in steps):
            yield _option(of, design, shape, True, groups, budget)


def possible(pilot: Pilot, goal: str) -> list[Design]:
    """Designs whose reads the pilot has made (for `goals.CROSSED`, every score in every position), or `Unknown`."""
    chosen = designs.possible(pilot.block.orderings[0], pilot.repeats, crossed=goal in goals.CROSSED)
    if not chosen:
        raise Unknown(
            "no strategy of a config reads items in orderings of this pilot with every score in every position; a pilot"
            " by strategy balanced, all or repeated_rotations would tell"
        )
    return chosen


def _predictors(pilot: Pilot, asked: Asked, reasons: list[str]) -> Iterator[tuple[Design, Predictor]]:
    for design in possible(pilot, asked.goal):
        try:
            yield design, goals.predictor(pilot, design, asked)
        except Unknown as error:
            reasons.append(f"{design.name}: {error}")


def _shapes(pilot: Pilot, goal: str) -> list[tuple[Shape, bool]]:
    """Shape of the pilot's groups (flag True), then smaller groups of one size if size can matter for the goal."""
    pilot_shape = pilot.shape
    if goal == goals.RANKED:
        return [(pilot_shape, True)]
    smaller, items = [], 1
    while items < pilot_shape.items - 0.5:
        smaller.append((Shape(float(items)), False))
        items *= 2
    return [(pilot_shape, True), *smaller]


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
    return math.ceil(goals.FEWEST_GROUPS / shape.worth)


def _option(of: Predictor, design: Design, shape: Shape, like_pilot: bool, groups: int, budget: Budget) -> Option:
    calls = math.ceil(design.reads * shape.items * groups - 1e-9)
    precision = of.predicted(shape, groups)
    meets = None if budget.target is None else of.reaches(shape, groups, budget.target)
    affordable = None if budget.amount is None else calls <= budget.most_calls()
    cost = calls * budget.price
    return Option(design, shape, like_pilot, groups, precision, of.value, calls, cost, meets, affordable, of.truncated)
