"""Numbers of groups that a bias card needs, from the reads of a pilot or for an expected judge."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.cards import groups
from rubric_order.library import estimates, results
from rubric_order.methods.position import planning_groups
from rubric_order.methods.position.planning_groups import Needed

MARGINS = (estimates.LOG_ODDS, estimates.POINTS, estimates.SPREAD)
AIMS = ("biased by a position", "biased by the usual ordering", "equivalent", "equivalent with repeats")
LEVELS = (2, 10)
ANSWERS = ("levels", "pairs_differ", "probabilities", "temperature_known")
EXPECTED = (*ANSWERS, "orderings", "repeats", "items_per_group", "within_group", "prompt_noise")  # options on a judge
ONE_ANSWER = "temperature_known"  # scores and probabilities are of one answer
SATURATED = 0.05  # with a smaller share of pairs that differ, written scores can hardly show a preference


class Plan(NamedTuple):
    """Numbers of groups for one judge (empty without reads), and reads per group."""

    judge: str
    needed: groups.Groups
    reads: float
    notes: Sequence[str]

    @property
    def title(self) -> str:
        of = f"{self.judge}: groups" if self.judge else "Groups"
        return f"{of} that a card needs to be right in {self.needed.power:.0%} of studies"

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Rows of the table of numbers, as people read them: finding, groups and reads."""
        log_odds, points = self.needed.effects
        kinds = [
            (f"biased, where one position adds {log_odds:g} log-odds", self.needed.log_odds, 1),
            (f"biased, where the usual ordering shifts scores by {points:g} points", self.needed.points, 1),
            ("equivalent, where there is no bias", self.needed.equivalent, 1),
        ]
        if self.needed.repeated:
            kinds.append(("the same, with each ordering read twice as often", self.needed.repeated, 2))
        return [(name, *self._numbers(needed, times)) for name, needed, times in kinds]

    def _numbers(self, needed: Needed, times: int) -> tuple[str, str]:
        if math.isinf(needed.groups):
            return "no number", "-"
        return f"{needed.groups:,.0f}", f"{math.ceil(needed.groups * self.reads * times):,}"

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON has it. A number of groups is null if no number is enough."""
        effects = dict(zip(("log_odds", "points"), self.needed.effects, strict=True))
        values = {"judge": self.judge or None, "power": self.needed.power, "effects": effects}
        return values | self.needed.content() | {"reads_per_group": self.reads, "notes": list(self.notes)}


def plan_pilot(
    reads: Path, given: Mapping[str, Any], *, effect: float, effect_points: float, power: float
) -> list[Plan]:
    """Numbers of groups that each judge's card needs, if groups are like the pilot's; `given`: only `ONE_ANSWER`."""
    if set(given) - {ONE_ANSWER}:
        options = ", ".join(_option(name) for name in given if name != ONE_ANSWER)
        raise InputError(f"{reads}: the reads say this themselves; expected no {options}")
    _sought(effect, effect_points, power)
    plans = []
    for card in results.bias_card(reads):
        evidence = replace(card.evidence, temperature=1.0) if ONE_ANSWER in given else card.evidence
        needed = groups.needed_groups(evidence, effects=(effect, effect_points), power=power)
        if needed is None:
            wanted = "several orderings with every score in every position, and scores that vary"
            raise InputError(f"{reads}: judge {card.judge!r} has no standard errors to plan by; expected {wanted}")
        reads_per_group = (card.evidence.n_reads + card.evidence.n_failed) / card.evidence.n_groups
        plans.append(Plan(card.judge, needed, reads_per_group, _notes(needed)))
    return plans


def plan_judge(given: Mapping[str, Any], *, effect: float, effect_points: float, power: float) -> Plan:
    """Numbers of groups for a judge as expected by the options of ``rubric-order plan-groups`` that are `given`."""
    _sought(effect, effect_points, power)
    for name in ("levels", "pairs_differ"):
        if name not in given:
            raise InputError(f"expected a file of reads, or {_option('levels')} and {_option('pairs_differ')}")
    n, differ, soft = given["levels"], given["pairs_differ"], "probabilities" in given
    _check("levels", LEVELS[0] <= n <= LEVELS[1], f"a number from {LEVELS[0]} to {LEVELS[1]}", n)
    balanced = (n,) if n == 2 else (n, 2 * n)
    settings = {"orderings": balanced[-1], "repeats": 1, "items_per_group": 1.0, "within_group": 0.0}
    settings |= {"prompt_noise": planning_groups.PROMPT_NOISE}
    settings |= {name: given[name] for name in given if name in settings}
    orderings, repeats, items, within, prompt_noise = settings.values()
    most, allowed = f"{1 - 1 / n:.2g}, as of a judge that rolls dice", " or ".join(map(str, balanced))
    for name, holds, expected in (
        ("pairs_differ", 0 < differ < 1 - 1 / n, f"a share above 0 and below {most}"),
        ("orderings", orderings in balanced, f"{allowed}, so that every score stands in every position equally often"),
        ("repeats", repeats >= 1, "1 or more"),
        ("items_per_group", items >= 1, "1 or more"),
        ("within_group", 0 <= within <= 1, "a correlation from 0 to 1"),
        ("prompt_noise", 0 < prompt_noise < math.inf, "a number above 0"),
    ):
        _check(name, holds, expected, settings.get(name, differ))

    model = partial(planning_groups.expected, n, differ, orderings=orderings, items=items, within=within, soft=soft)
    model = partial(model, prompt_noise=prompt_noise, one_answer=ONE_ANSWER in given)
    once = not soft and repeats == 1
    effects = (effect, effect_points)
    repeated = model(repeats=2) if once else None
    needed = groups.planned(model(repeats=repeats), MARGINS, effects=effects, power=power, repeated=repeated)
    if not soft and differ < SATURATED:
        never = Needed(math.inf, groups.SATURATED)
        needed = needed._replace(log_odds=never, points=never, equivalent=never, repeated=None)
    elif once and math.isinf(needed.equivalent.groups):
        needed = needed._replace(equivalent=Needed(math.inf, groups.TWICE))
    elif once:  # the reads of an item hardly differ
        needed = needed._replace(repeated=None)
    return Plan("", needed, orderings * repeats * items, _notes(needed))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _check(name: str, holds: bool, expected: str, value: float) -> None:
    if not holds:
        raise InputError(f"{_option(name)}: expected {expected}, found {value:g}")


def _sought(effect: float, effect_points: float, power: float) -> None:
    for name, value in (("effect", effect), ("effect_points", effect_points)):
        _check(name, 0 < value < math.inf, "a number above 0", value)
    _check("power", 0.05 < power < 1, "a share above 0.05 and below 1", power)


def _notes(found: groups.Groups) -> list[str]:
    """Reasons why no number of groups is enough, each once."""
    aims = dict(zip(AIMS, (found.log_odds, found.points, found.equivalent, found.repeated), strict=True))
    never = {aim: needed.why for aim, needed in aims.items() if needed and math.isinf(needed.groups)}
    by_reason = {why: ", ".join(aim for aim in never if never[aim] == why) for why in never.values()}
    return [f"No number is enough for {listed}: {why}." for why, listed in by_reason.items()]
