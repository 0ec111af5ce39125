"""Numbers of groups that a bias card needs, from the reads of a pilot or for an expected judge."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.cards import groups
from rubric_order.library import estimates, results
from rubric_order.methods.position import planning_groups
from rubric_order.methods.position.planning_groups import Needed

MARGINS = (estimates.LOG_ODDS, estimates.POINTS, estimates.SPREAD)
LEVELS = (2, 10)
ONE_ANSWER = "temperature_known"  # scores and probabilities are of one answer
SATURATED = 0.05  # with a smaller share of pairs that differ, written scores can hardly show a preference


class Plan(NamedTuple):
    """Numbers of groups for one judge (empty without reads), and reads per group."""

    judge: str
    found: groups.Groups
    reads: float
    notes: Sequence[str]

    @property
    def title(self) -> str:
        of = f"{self.judge}: groups" if self.judge else "Groups"
        return f"{of} that a card needs to be right in {self.found.power:.0%} of studies"

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Rows of the table of numbers, as people read them: finding, groups and reads."""
        log_odds, points = self.found.effects
        kinds = [
            (f"biased, where one position adds {log_odds:g} log-odds", self.found.log_odds, 1),
            (f"biased, where the usual ordering shifts scores by {points:g} points", self.found.points, 1),
            ("equivalent, where there is no bias", self.found.equivalent, 1),
        ]
        if self.found.repeated:
            kinds.append(("the same, with each ordering read twice as often", self.found.repeated, 2))
        return [(name, *self._numbers(needed, times)) for name, needed, times in kinds]

    def _numbers(self, needed: Needed, times: int) -> tuple[str, str]:
        if math.isinf(needed.groups):
            return "no number", "-"
        return f"{needed.groups:,.0f}", f"{math.ceil(needed.groups * self.reads * times):,}"

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON has it. A number of groups is null if no number is enough."""
        effects = dict(zip(("log_odds", "points"), self.found.effects, strict=True))
        values = {"judge": self.judge or None, "power": self.found.power, "effects": effects}
        return values | self.found.content() | {"reads_per_group": self.reads, "notes": list(self.notes)}


def plan_pilot(
    reads: Path, given: Mapping[str, Any], *, effect: float, effect_points: float, power: float
) -> list[Plan]:
    """Numbers of groups that each judge's card needs, if groups are like those of the pilot; of `given`, only whether
    the temperature is known.
    """
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
    if not LEVELS[0] <= n <= LEVELS[1]:
        raise InputError(f"--levels: expected a number from {LEVELS[0]} to {LEVELS[1]}, found {n}")
    if not 0 < differ < 1 - 1 / n:
        most = f"{1 - 1 / n:.2g}, as of a judge that rolls dice"
        raise InputError(f"--pairs-differ: expected a share above 0 and below {most}, found {differ:g}")
    settings = {"orderings": n if n == 2 else 2 * n, "repeats": 1, "items_per_group": 1.0, "within_group": 0.0}
    settings |= {"prompt_noise": planning_groups.PROMPT_NOISE} | {k: given[k] for k in given if k in settings}
    settings |= {k: given[k] for k in given if k == "prompt_noise"}
    balanced = (n,) if n == 2 else (n, 2 * n)
    if settings["orderings"] not in balanced:
        allowed = " or ".join(map(str, balanced))
        wanted = f"expected {allowed}, so that every score stands in every position equally often"
        raise InputError(f"--orderings: {wanted}, found {settings['orderings']}")
    if settings["repeats"] < 1:
        raise InputError(f"--repeats: expected 1 or more, found {settings['repeats']}")
    if not settings["items_per_group"] >= 1:
        raise InputError(f"--items-per-group: expected 1 or more, found {settings['items_per_group']:g}")
    if not 0 <= settings["within_group"] <= 1:
        raise InputError(f"--within-group: expected a correlation from 0 to 1, found {settings['within_group']:g}")
    if not 0 < settings["prompt_noise"] < math.inf:
        raise InputError(f"--prompt-noise: expected a number above 0, found {settings['prompt_noise']:g}")

    def errors(times: int) -> planning_groups.Errors:
        return planning_groups.expected(
            n,
            differ,
            orderings=settings["orderings"],
            repeats=settings["repeats"] * times,
            items=settings["items_per_group"],
            within=settings["within_group"],
            soft=soft,
            prompt_noise=settings["prompt_noise"],
            one_answer=ONE_ANSWER in given,
        )

    single = errors(1)
    once = not soft and settings["repeats"] == 1
    effects = (effect, effect_points)
    needed = groups.planned(single, MARGINS, effects=effects, power=power, repeated=errors(2) if once else None)
    if not soft and differ < SATURATED:
        never = Needed(math.inf, groups.SATURATED)
        needed = needed._replace(log_odds=never, points=never, equivalent=never, repeated=None)
    elif once and math.isinf(needed.equivalent.groups):
        needed = needed._replace(equivalent=Needed(math.inf, groups.TWICE))
    elif once:  # the reads of an item hardly differ
        needed = needed._replace(repeated=None)
    reads = settings["orderings"] * settings["repeats"] * settings["items_per_group"]
    return Plan("", needed, reads, _notes(needed))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _sought(effect: float, effect_points: float, power: float) -> None:
    for name, value in (("effect", effect), ("effect_points", effect_points)):
        if not 0 < value < math.inf:
            raise InputError(f"{_option(name)}: expected a number above 0, found {value:g}")
    if not 0.05 < power < 1:
        raise InputError(f"--power: expected a share above 0.05 and below 1, found {power:g}")


def _notes(found: groups.Groups) -> list[str]:
    """Reasons why no number of groups is enough, each once."""
    named = [
        ("biased by a position", found.log_odds),
        ("biased by the usual ordering", found.points),
        ("equivalent", found.equivalent),
        ("equivalent with repeats", found.repeated),
    ]
    why: dict[str, list[str]] = {}
    for name, of in named:
        if of and math.isinf(of.groups):
            why.setdefault(of.why, []).append(name)
    return [f"No number is enough for {', '.join(goals)}: {reason}." for reason, goals in why.items()]
