"""Number of groups of items that would let an undecided card decide, from the standard errors of its reads."""

import math
from typing import Any, NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.cards.evidence import Evidence, ReadoutResults
from rubric_order.methods.position import cause_names, order_tests, planning_groups, sampling
from rubric_order.methods.position.planning_groups import Errors, Needed, Spread, size
from rubric_order.methods.uncertainty import distributions

TWICE = "where orderings are read once, what the order does to single items cannot be told from chance"
SATURATED = "the written scores are saturated"


class Groups(NamedTuple):
    """Numbers of groups that a verdict needs, if each is like those that were read, at a given `power` and `effects`.

    `log_odds`, `points`: to find such a bias; `equivalent`: to show none; `repeated`: the same with each ordering read
    twice as often, None unless repeats are lacking.
    """

    log_odds: Needed
    points: Needed
    equivalent: Needed
    repeated: Needed | None
    effects: tuple[float, float]
    power: float

    def content(self) -> dict[str, Any]:
        """The numbers as JSON has them: null if no number of groups is enough, or if `repeated` is None."""
        return {
            "groups_for_biased": {"log_odds": _whole(self.log_odds), "points": _whole(self.points)},
            "groups_for_equivalent": _whole(self.equivalent),
            "groups_for_equivalent_with_repeats": None if self.repeated is None else _whole(self.repeated),
        }


NOTHING = {"groups_for_biased": None, "groups_for_equivalent": None, "groups_for_equivalent_with_repeats": None}


def _whole(needed: Needed) -> int | None:
    return None if math.isinf(needed.groups) else int(needed.groups)


def planned(
    errors: Errors,
    margins: tuple[float, float, float],
    *,
    effects: tuple[float, float] | None = None,
    power: float = planning_groups.POWER,
    like: float = 1.0,
    repeated: Errors | None = None,
) -> Groups:
    """Numbers of groups that are needed, from standard errors; `margins` in log-odds, in points, and for the spread.

    `effects` are the first two margins by default; `like`: actual groups for each effective one; `repeated`: errors if
    each ordering is read twice as often.
    """
    log_odds, points = effects or margins[:2]
    limits = dict(zip(("margin_log_odds", "margin_points", "margin_spread"), margins, strict=True))

    def of(needed: Needed) -> Needed:
        return needed._replace(groups=math.ceil(needed.groups * like) if needed.groups < math.inf else math.inf)

    return Groups(
        of(planning_groups.bias_groups(errors, log_odds=log_odds, power=power, margin=margins[0])),
        of(planning_groups.bias_groups(errors, points=points, power=power, margin=margins[1])),
        of(planning_groups.equivalence_groups(errors, **limits, power=power)),
        of(planning_groups.equivalence_groups(repeated, **limits, power=power)) if repeated else None,
        (log_odds, points),
        power,
    )


def needed_groups(
    evidence: Evidence, *, effects: tuple[float, float] | None = None, power: float = planning_groups.POWER
) -> Groups | None:
    """Numbers of groups needed if they are like the groups of the reads; None if the reads give no standard errors."""
    errors = _errors(evidence)
    if errors is None:
        return None
    log_odds, points = evidence.log_odds, evidence.points
    margins = (log_odds.small_log_odds.margin, points.small_points.margin, evidence.spread.margin)
    unknown = not evidence.spread.sd.known and not evidence.spread.shown
    numbers = planned(
        errors,
        margins if not math.isnan(margins[2]) else (*margins[:2], margins[1]),
        effects=effects,
        power=power,
        like=evidence.n_groups / errors.groups,
        repeated=_repeated(evidence, errors) if unknown else None,
    )
    if evidence.saturated and Readout.HARD in evidence.deciding:
        numbers = numbers._replace(equivalent=Needed(math.inf, SATURATED), repeated=None)
    elif unknown:
        numbers = numbers._replace(equivalent=Needed(math.inf, TWICE))
    return numbers


def _errors(evidence: Evidence) -> Errors | None:
    """Standard errors of the quantities that decide, at the effective number of groups; None if any is not known."""
    log_odds, points, exponent = evidence.log_odds, evidence.points, 0.0
    low, high = evidence.exponent
    if evidence.soft and evidence.hard and low <= 1 <= high:  # with more groups, expected scores would decide points
        points, exponent = evidence.soft, sampling.error(low, high)
    if not (evidence.crossed and evidence.readouts and evidence.independent_groups > 2):
        return None
    preference, shifts = np.array(log_odds.preference_errors), np.array(points.shift_errors)
    written = np.array((evidence.hard or points).shift_errors)
    written = written if len(written) == len(shifts) and np.isfinite(written).all() else shifts
    usual = [readout.usual_error for readout in (points, evidence.hard or points)]
    is_known = len(preference) and len(shifts) and np.isfinite(preference).all() and np.isfinite(shifts).all()
    if not is_known or not (preference > 0).all() or not (shifts > 0).all():
        return None
    if evidence.n > 2 and not log_odds.interaction_error > 0:
        return None
    model = _model(evidence, log_odds, 1)
    return Errors(
        n=evidence.n,
        groups=evidence.independent_groups,
        log_odds=preference,
        one_place=planning_groups.one_place(preference, model),
        points=shifts,
        written=written,
        usual=(usual[0], usual[1]) if np.isfinite(usual).all() else (size(shifts), size(written)),
        exponent=exponent,
        interaction=log_odds.interaction_error,
        spread=_spread(evidence),
        beyond=_beyond(evidence, model),
        by=evidence.deciding if not exponent else order_tests.deciding(hard=True, known=1.0, drawn=True),
        differ=evidence.discordant_share,
        reads=evidence.n_reads / evidence.n_groups / evidence.n_orderings,
    )


def _model(evidence: Evidence, readout: ReadoutResults, times: float) -> Errors:
    """Expected errors of a judge whose pairs of reads differ as often as in the evidence, read `times` times as
    often.
    """
    often = max(1.0, evidence.n_reads / evidence.n_items / evidence.n_orderings)
    return planning_groups.like(
        evidence.n,
        evidence.discordant_share,
        orderings=evidence.n_orderings,
        repeats=max(round(often * times), 1),
        items=evidence.n_items / evidence.n_groups,
        groups=evidence.independent_groups,
        soft=readout.name == Readout.SOFT,
    )


def _spread(evidence: Evidence) -> Spread:
    """Spread between single items, with its error from the upper ends of its two intervals.

    An interval that reaches down to 0 says next to nothing: then the spread that `planning_groups.PROMPT_NOISE` gives.
    """
    of = evidence.spread
    if not of.sd.known:
        return Spread(0.0, 0.0, False) if of.shown else Spread(0.0, math.nan, False)
    apart = _apart(evidence, of.confidence, of.level)
    variance, outer, inner = (value**2 for value in (of.sd.estimate, of.sd.high, of.reach))
    if of.logarithm and variance > 0:
        return Spread(variance, variance * math.log(outer / inner) / apart, True)
    if not of.sd.low > 0:
        variance = _model(evidence, evidence.hard or evidence.log_odds, 2).spread.variance
    return Spread(variance, (outer - inner) / apart, False)


def _beyond(evidence: Evidence, model: Errors) -> float:
    """`Errors.beyond` from the ends of intervals."""
    rows = evidence.causes_of(cause_names.WRITTEN) if evidence.unlinked else []
    if not rows:
        return 0.0
    outer, inner = rows[0]["high"] ** 2, (rows[0]["bound"] / sampling.FIRST_ORDER) ** 2
    apart = _apart(evidence, cause_names.CONFIDENCE, cause_names.LEVEL)
    return model.beyond if outer <= 0 else float((outer - inner) / apart)


def _apart(evidence: Evidence, confidence: float, level: float) -> float:
    """Distance of the upper ends of two intervals, in standard errors."""
    df = evidence.independent_groups - 1
    return float(distributions.t_quantile((1 + confidence) / 2, df) - distributions.t_quantile(1 - level, df))


def _repeated(evidence: Evidence, errors: Errors) -> Errors:
    """Errors if each ordering is read twice as often: the part from chance shrinks, differences between groups stay."""
    now, then = (_model(evidence, evidence.hard or evidence.log_odds, times) for times in (1, 2))

    def halved(seen: Any, chance: Any, rest: Any) -> Any:
        return np.sqrt(np.maximum(np.square(seen) - np.square(chance) + np.square(rest), np.square(rest)))

    shrinks = size(halved(errors.log_odds, size(now.log_odds), size(then.log_odds))) / size(errors.log_odds)
    return errors._replace(
        log_odds=errors.log_odds * shrinks,
        one_place=errors.one_place * shrinks,
        points=halved(errors.points, size(now.points), size(then.points)),
        interaction=float(halved(errors.interaction, now.interaction, then.interaction)),
        spread=then.spread,
    )


def sentence(found: Groups) -> str:
    """Sentences of a card on the numbers of groups, and on what no number of groups does."""
    log_odds, points = found.effects
    aims = {
        f"find a preference of {log_odds:g} log-odds for one position": found.log_odds,
        f"find a shift of {points:g} points by the usual ordering": found.points,
        "show a judge without bias to be equivalent": found.equivalent,
    }
    if math.isinf(found.equivalent.groups) and found.repeated:
        aims["do so with each ordering read twice"] = found.repeated
    some = [f"{_number(needed)} to {aim}" for aim, needed in aims.items() if not math.isinf(needed.groups)]
    never = [
        f"No number of groups can {aim}: {needed.why}." for aim, needed in aims.items() if math.isinf(needed.groups)
    ]
    if never and some and some[-1].endswith("twice"):
        never, some = [*never, f"With each ordering read twice, {some[-1].partition(' ')[0]} groups can."], some[:-1]
    first = [f"Groups like these that {found.power:.0%} power needs: {'; '.join(some)}."] if some else []
    return " ".join([*first, *never])


def _number(needed: Needed) -> str:
    """Number of groups, rounded up to two significant digits."""
    digits = 10 ** max(math.floor(math.log10(needed.groups)) - 1, 0)
    return f"{math.ceil(needed.groups / digits - 1e-9) * digits:,}"
