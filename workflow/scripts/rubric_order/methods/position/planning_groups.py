"""Number of groups that a bias card needs to find a bias of a stated size, or to show an unbiased judge equivalent.

Both numbers follow from the standard errors of the estimates that the card's tests and criteria use. Errors shrink with
the root of the number of groups. If there are reads, errors come from these reads. Before there are reads, errors come
from an expected share: the share of pairs of reads of an item that differ (`expected`).

Without reads, the scores of an item are assumed to scatter around the item's quality by a normal distribution on the
scale. Qualities are evenly spaced quantiles of a normal distribution around the middle of the scale, with a standard
deviation of a quarter of the scale's length. The scatter is chosen so that the expected share of pairs differs.

This share alone determines how much selected options tell about positions. Let an item be read K times in balanced
orderings, and let d be its share of pairs that differ. The item's information about each contrast of positions is then
K d / (n - 1), if the weights of the contrast have length 1. There are two reasons. First, the covariance of the counts
of selected positions has the trace K d, which balanced orderings spread over n - 1 contrasts. Second, comparing pairs
loses no information: the conditional logit sums over pairs of reads, and this sum is K / 2 times the counts.

Errors in points follow from the variance of a read. With two levels the variance is d / 2. With more levels the scatter
determines it.

With two levels, an effect makes the reads of an item differ more often than d. With e the preference for one position
in log-odds, an item with pass rate p without an effect has scores that differ between two orderings with probability
2 v / (2 v + (1 - 2 v) s), where v = p (1 - p) and s = 1 / cosh(2 e). The mean difference is this probability times
tanh(2 e). The probability is concave in v, so the mean over items is largest if all items are alike, and smallest if
some are undecided and all others certain. Of these, the one with less power is planned for (`_changed`). Groups of one
read in each ordering have differences of -1, 0 and 1, for which the card's test is the sign test (`_by_signs`).
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from rubric_order.base import randomness
from rubric_order.base.readouts import Readout
from rubric_order.methods.position import order_tests, sampling, uniformity
from rubric_order.methods.uncertainty import distributions, equivalence

QUALITIES = 41  # number of item qualities that represent all items
STUDIES, SEED = 4000, 20261124  # number of simulated vectors of estimates, and their seed
POWER = 0.8
PROMPT_NOISE = 0.2
FEWEST_FOR_BIASED = 20  # effective groups; with fewer a card says nothing
MOST = 1_000_000  # groups; if more are needed, no number counts as enough
MOST_NONCENTRAL = 1e9  # at this noncentrality an F test surely finds the effect; at 1e20 SciPy gives NaN
EXACT_BOUND = 2000  # groups; up to this number, `_unseen` and `_by_signs` compute as the card does
LEVEL = 0.05  # of the one-sided tests of equivalence
LARGEST_EFFECT = 1e3  # in log-odds or points; no study could be about a larger effect
HALVINGS = 40


class Spread(NamedTuple):
    """Spread that a judge without bias shows between single items, in squared points.

    Attributes:
        variance: expected variance.
        error: standard error of the variance; NaN if the spread cannot be estimated.
        logarithm: True if the interval is computed on the scale of the logarithm, see `spread.mean_interval`.
    """

    variance: float
    error: float
    logarithm: bool


class Errors(NamedTuple):
    """Standard errors of the estimates that decide a card, at a number of effective groups.

    Attributes:
        n: number of score levels.
        groups: number of effective groups.
        log_odds: error of each position's effect, shape (n,).
        one_place: size of one position's effect at which the test of all positions has noncentrality 1; at most the
            error in `log_odds`.
        points: error of the shift by each ordering, shape (D,).
        written: the errors of `points` for written scores. Written scores decide the tests in points until it is
            certain that answers are drawn from the option probabilities as they are.
        exponent: error of the power of the option probabilities, see `sampling.exponent`. From this power the card
            concludes that answers are drawn from the probabilities as they are. 0 if the card needs no such conclusion.
        interaction: error of the interaction; NaN with two levels.
        spread: spread between single items.
        by: the readouts that decide.
        differ: share of the pairs of reads of an item that differ.
        reads: number of reads of a group in each ordering.
    """

    n: int
    groups: float
    log_odds: np.ndarray
    one_place: float
    points: np.ndarray
    written: np.ndarray
    exponent: float
    interaction: float
    spread: Spread
    by: order_tests.Deciding
    differ: float
    reads: float


class Needed(NamedTuple):
    """Number of effective groups that are needed; infinite if no number is enough. Then `why` has the reason."""

    groups: float
    why: str = ""


def expected(
    n: int,
    differ: float,
    *,
    orderings: int,
    repeats: int = 1,
    items: float = 1,
    within: float = 0.0,
    soft: bool = False,
    prompt_noise: float = PROMPT_NOISE,
    groups: float = 1.0,
) -> Errors:
    """Standard errors that estimates are expected to have, from reads of a judge without bias.

    Args:
        n: number of score levels.
        differ: share of the pairs of reads of an item that have different scores, above 0 and below 1 - 1 / n.
        orderings: number of orderings in which each item is read: n rotations, or rotations and their reverses.
        repeats: number of reads in each ordering.
        items: number of items in a group.
        within: correlation between the contributions of two items of a group to an estimate.
        soft: True if option probabilities decide all tests.
        prompt_noise: standard deviation of the noise that each prompt of an item adds to the log-probability of a
            score.
        groups: number of effective groups for which the errors hold.
    """
    shares, shown = _shares(n, differ), _orderings(n, orderings)
    away = np.arange(n) - (shares @ np.arange(n))[:, None]
    design = (1 + (items - 1) * within) / items / groups  # variance of a mean, in units of one item's variance
    moved = prompt_noise**2 * (np.square(shares) * np.square(away)).sum(axis=1)  # variance of an expected score
    variance, exponent = (shares * np.square(away)).sum(axis=1), 0.0
    if soft:
        logs = np.log(np.maximum(shares, 1e-300))
        told = (shares * np.square(logs)).sum(axis=1) - np.square((shares * logs).sum(axis=1))
        exponent = math.sqrt(design / (told.mean() * orderings * repeats))
        information, points = _information_of_logs(shown) / prompt_noise**2, moved.mean()
        own = moved * (orderings - 1) / orderings
        spread = Spread(own.mean(), math.sqrt((own.var() + (2 * own**2).mean() / (orderings - 1)) * design), True)
    else:
        fourth = (shares * away**4).sum(axis=1)
        moved = np.minimum(moved, variance)
        spread = _spread_of_draws(variance - moved, fourth, moved, orderings, repeats, design)
        prompts = moved.mean() / variance.mean()  # repeats of an ordering share its prompt
        averaged = prompts + (1 - prompts) / repeats
        information, points = orderings * _information(shares, shown) / averaged, variance.mean() * averaged
    prompts = min(moved.mean() / variance.mean(), 1.0)
    written = variance.mean() * (prompts + (1 - prompts) / repeats)
    centred = np.eye(n) - 1 / n
    apart = centred[0] * n / (n - 1)  # one position exceeds the mean of all by 1; all other positions are equal
    positions = centred @ np.linalg.pinv(information[:n, :n], hermitian=True) @ centred
    interaction = np.linalg.pinv(information, hermitian=True)[-1, -1] if n > 2 else math.nan
    return Errors(
        n=n,
        groups=groups,
        log_odds=np.sqrt(np.diag(positions) * design),
        one_place=math.sqrt(design / (apart @ information[:n, :n] @ apart)),
        points=np.full(orderings, math.sqrt(points * (1 - 1 / orderings) * design)),
        written=np.full(orderings, math.sqrt(written * (1 - 1 / orderings) * design)),
        exponent=exponent,
        interaction=math.sqrt(interaction * design),
        spread=spread,
        by=order_tests.deciding(hard=not soft, known=1.0 if soft else 0.0, drawn=soft),
        differ=differ,
        reads=items * repeats,
    )


@functools.lru_cache(maxsize=64)
def _shares(n: int, differ: float) -> np.ndarray:
    """Probability of each score for each item quality, shape (qualities, n). A share `differ` of pairs then differs."""
    quality = (0.5 + special.ndtri((np.arange(QUALITIES) + 0.5) / QUALITIES) / 4) * (n - 1)

    def at(scatter: float) -> np.ndarray:
        return special.softmax(-np.square(np.arange(n) - quality[:, None]) / (2 * scatter**2), axis=1)

    low, high = math.log(1e-3), math.log(1e3)
    for _ in range(60):
        middle = (low + high) / 2
        too_little = 1 - np.square(at(math.exp(middle))).sum(axis=1).mean() < differ
        low, high = (middle, high) if too_little else (low, middle)
    return at(math.exp(low))


def _orderings(n: int, orderings: int) -> np.ndarray:
    """Index of the score at each position, from 0, shape (D, n): rotations, with reverses if `orderings` exceeds n."""
    turns = (np.arange(n)[:, None] + np.arange(n)) % n
    return turns if orderings == n or n == 2 else np.vstack([turns, turns[:, ::-1]])


def _columns(shown: np.ndarray) -> np.ndarray:
    """Indicators of the position of each score in each ordering; for n > 2 also the product of score and position.

    Shape (D, n, n + 1), or (D, 2, 2) with two levels.
    """
    n = shown.shape[1]
    places, scale = np.argsort(shown, axis=1), np.linspace(-1, 1, n)
    line = scale * scale[places]
    return np.concatenate([np.eye(n)[places], line[..., None]], axis=2)[:, :, : n + (n > 2)]


def _information(shares: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Information of a read about positions and interaction, mean over items and orderings."""
    columns = _columns(shown)
    columns = columns - columns.mean(axis=0)  # the item's own weight of a score absorbs the mean over orderings
    square = np.einsum("is,dsa,dsb->ab", shares, columns, columns) / len(shares)
    mean = np.einsum("is,dsa->ida", shares, columns)
    return (square - np.einsum("ida,idb->ab", mean, mean) / len(shares)) / len(shown)


def _information_of_logs(shown: np.ndarray) -> np.ndarray:
    """Products of the columns of `preference` for log-probabilities, summed over the reads of an item."""
    columns = _columns(shown)
    columns = columns - columns.mean(axis=0) - columns.mean(axis=1, keepdims=True) + columns.mean(axis=(0, 1))
    return np.einsum("dsa,dsb->ab", columns, columns)


def _spread_of_draws(
    variance: np.ndarray, fourth: np.ndarray, moved: np.ndarray, orderings: int, repeats: int, design: float
) -> Spread:
    """Spread from scores that are drawn, as `spread.item_variances` estimates it.

    The spread is the variance of means over orderings minus the variance of repetition. Without repeats, the variance
    of repetition is not known. Then a study can only show that the whole variance over orderings is small.

    Args:
        variance: second central moment of repeated reads of each item in one ordering.
        fourth: fourth central moment of the same reads.
        moved: variance over orderings of what each ordering adds to the scores of an item.
        orderings: number of orderings.
        repeats: number of reads in each ordering.
        design: variance of a mean, in units of one item's variance.
    """
    d, r, factor = orderings, repeats, (orderings - 1) / orderings
    of_mean = variance / r
    fourth_of_mean = fourth / r**3 + 3 * variance**2 * (r - 1) / r**3
    whole = (fourth_of_mean - of_mean**2 * (d - 3) / (d - 1)) / d + (2 * moved**2 + 4 * moved * of_mean) / (d - 1)
    if r == 1:
        all_of_it = variance + moved
        error = factor * math.sqrt((whole.mean() + all_of_it.var()) * design)
        return Spread(factor * all_of_it.mean(), error, True)
    chance = (fourth - variance**2 * (r - 3) / (r - 1)) / r / r**2 / d
    both = (fourth - 3 * variance**2) / (d * r**3)
    error = factor * math.sqrt(((whole + chance - 2 * both).mean() + moved.var()) * design)
    return Spread(factor * moved.mean(), error, False)


def for_biased(
    errors: Errors, *, log_odds: float = 0.0, points: float = 0.0, power: float = POWER, margin: float = 0.0
) -> Needed:
    """Number of groups at which a card is `biased` in a share `power` of studies, by the test for the stated effect.

    Args:
        errors: standard errors of the study.
        log_odds: effect of one position minus the mean of all positions; 0 if the effect is in points.
        points: shift by the usual ordering, in points, if the effect is not in log-odds.
        power: share of studies.
        margin: a smaller effect is negligible, and a card of enough groups calls it so.
    """
    if max(log_odds, points) < margin:
        return Needed(math.inf, f"an effect below the margin of {margin:g} is negligible, which more groups show")
    if not _sizes(errors, log_odds, points):
        return Needed(math.inf, "the reads do not vary, so that errors are not known")

    def enough(groups: float) -> bool:
        return share_biased(errors, groups, log_odds=log_odds, points=points) >= power

    return least(enough, FEWEST_FOR_BIASED)


def share_biased(errors: Errors, groups: float, *, log_odds: float = 0.0, points: float = 0.0) -> float:
    """Share of studies with this number of groups whose card is `biased`, by the test for the stated effect.

    Args:
        errors: standard errors of the study.
        groups: number of effective groups.
        log_odds: effect of one position minus the mean of all positions; 0 if the effect is in points.
        points: shift by the usual ordering, in points, if the effect is not in log-odds.

    Returns:
        The share. NaN if the reads do not vary; 0 with too few groups for the test.
    """
    q = errors.n - 1 if log_odds else 1
    sizes, rest = _sizes(errors, log_odds, points), groups - q
    if not sizes:
        return math.nan
    if rest < 1:
        return 0.0
    if _binary(errors) and errors.reads <= 1 and groups <= EXACT_BOUND:
        return _by_signs(math.floor(groups), *_changed(errors.differ, log_odds, points))
    critical = special.fdtri(q, rest, 1 - order_tests.LEVEL / len(order_tests.family(errors.n, errors.by)))
    away = [min(size * groups / errors.groups, MOST_NONCENTRAL) for size in sizes]
    powers = [1 - float(special.ncfdtr(q, rest, noncentrality, critical)) for noncentrality in away]
    sure = 1.0 if log_odds else float(_drawn(errors, groups).mean())
    return sure * powers[0] + (1 - sure) * powers[-1]


def smallest(errors: Errors, groups: float, *, points: bool, power: float = POWER) -> float:
    """The smallest effect that a share `power` of studies with this number of groups finds, see `for_biased`.

    Args:
        errors: standard errors of the study.
        groups: number of effective groups.
        points: True if the effect is a shift by the usual ordering; False if it is one position's effect in log-odds.
        power: share of studies.

    Returns:
        The effect. NaN if the reads do not vary, or if no effect is found with so few groups.
    """

    def share(effect: float) -> float:
        return share_biased(errors, groups, **{"points" if points else "log_odds": effect})

    low, high = 0.0, 1e-3
    while not (at := share(high)) >= power:
        if math.isnan(at) or high > LARGEST_EFFECT:
            return math.nan
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if share(middle) >= power else (middle, high)
    return high


def _sizes(errors: Errors, log_odds: float, points: float) -> list[float]:
    """Noncentrality of the test in log-odds, or of both tests in points: by expected scores and by written scores.

    Empty if the reads do not vary.
    """
    if _binary(errors):
        share, mean = _changed(errors.differ, log_odds, points)
        times = (share - mean**2) / errors.differ  # variance of a difference over the one without an effect
        variance = max(times, 1e-99) * float(np.square(errors.points).mean())
        sizes = [(mean / 2) ** 2 / variance if variance > 0 else math.nan]
    elif log_odds:
        sizes = [(log_odds / errors.one_place) ** 2 if errors.one_place > 0 else math.nan]
    else:
        sizes = [points**2 / float(np.square(error).mean()) for error in (errors.points, errors.written) if error.all()]
    return [] if not sizes or math.isnan(sizes[0]) else sizes


def _binary(errors: Errors) -> bool:
    """True if written scores of two levels decide, so that one test of their differences does."""
    return errors.n == 2 and errors.by.log_odds == Readout.HARD and errors.differ > 0


def _changed(differ: float, log_odds: float, points: float) -> tuple[float, float]:
    """Share of items whose two reads, one in each ordering, differ under an effect, and the mean difference."""
    d = min(differ, 0.5)
    if log_odds:  # some items are undecided, and all others certain
        s = 1 / math.cosh(min(2 * log_odds, 300.0))
        share = 2 * d / (1 + s)
        return share, share * math.sqrt(1 - s**2)
    mean = min(2 * points, 1.0)  # all items are alike; s follows from the mean difference
    a, b, c = d**2 + (mean * (1 - d)) ** 2, 2 * mean**2 * d * (1 - d), d**2 * (mean**2 - 1)
    return d / (d + (1 - d) * (math.sqrt(b**2 - 4 * a * c) - b) / (2 * a)), mean


def _by_signs(groups: int, share: float, mean: float) -> float:
    """Share of studies in which a sign test finds an effect, from the share of groups that change and their mean."""
    changed, up, tail = np.arange(groups + 1), (1 + mean / share) / 2, order_tests.LEVEL / 2
    most = np.where(0.5**changed > tail, -1, np.floor(special.bdtrik(tail, changed, 0.5)))  # changes to the rarer side
    power = sum(special.bdtr(np.maximum(most, 0), changed, chance) for chance in (up, 1 - up)) * (most >= 0)
    return float(np.diff(special.bdtr(changed, groups, share), prepend=0) @ power)


def for_equivalent(
    errors: Errors, *, margin_points: float, margin_log_odds: float, margin_spread: float, power: float = POWER
) -> Needed:
    """Number of groups at which a judge without bias is `equivalent` in a share `power` of studies.

    All criteria of the card must hold, and no test may find a bias. Estimates are drawn as normal vectors. Effects of
    positions are exchangeable and sum to 0. The same holds for shifts by orderings. With two levels in two orderings,
    positions and orderings have the same draws. In all other cases, the draws of positions and of orderings are
    independent, which gives a few groups too many rather than too few.

    Args:
        errors: standard errors of the study.
        margin_points: largest shift by an ordering that counts as too small to matter, in points.
        margin_log_odds: largest effect of a position, and largest interaction, that count as too small to matter.
        margin_spread: largest spread between single items that counts as too small to matter, in points.
        power: share of studies.
    """
    limits = {"margin_points": margin_points, "margin_log_odds": margin_log_odds, "margin_spread": margin_spread}
    if why := why_never(errors, margin_spread):
        return Needed(math.inf, why)

    def enough(groups: float) -> bool:
        return share_equivalent(errors, groups, **limits, enough=power) >= power

    return least(enough, uniformity.FEW_CLUSTERS)


def why_never(errors: Errors, margin_spread: float) -> str:
    """Reason why no number of groups shows a judge without bias to be `equivalent`; empty if some number does.

    Args:
        errors: standard errors of the study.
        margin_spread: largest spread between single items that counts as too small to matter, in points.
    """
    spread = errors.spread
    if math.isnan(spread.error):
        return "the spread between single items is not known"
    if spread.variance >= margin_spread**2:
        return "single items differ by as much as the margin from one ordering to another"
    used = [errors.log_odds, errors.points, [errors.interaction] if errors.n > 2 else []]
    if any(np.isnan(error).any() for error in used):
        return "the reads do not vary, so that errors are not known"
    return ""


def share_equivalent(
    errors: Errors,
    groups: float,
    *,
    margin_points: float,
    margin_log_odds: float,
    margin_spread: float,
    enough: float = 0.0,
) -> float:
    """Share of studies with this number of groups in which a judge without bias is `equivalent`.

    A card is `equivalent` if all its criteria hold and no test finds a bias. `for_equivalent` says how estimates are
    drawn.

    Args:
        errors: errors for which `why_never` is empty.
        groups: number of effective groups.
        margin_points: largest shift by an ordering that counts as too small to matter, in points.
        margin_log_odds: largest effect of a position, and largest interaction, that count as too small to matter.
        margin_spread: largest spread between single items that counts as too small to matter, in points.
        enough: limit of the share. If the share is found to be below this limit, the computation stops, and the
            returned share is too large.
    """
    spread = errors.spread
    places, orderings, one, other, _ = _estimates(errors.n, len(errors.points))
    far = [np.abs(places), np.abs(orderings)]
    scale = math.sqrt(errors.groups / groups)
    t = float(distributions.t_quantile(1 - LEVEL, groups - 1))
    fits = _quiet(errors) & ((far[0] + t) * errors.log_odds * scale < margin_log_odds).all(axis=1)
    of_points = np.where(_drawn(errors, groups)[:, None], errors.points, errors.written) * scale
    fits &= ((far[1] + t) * of_points < margin_points).all(axis=1)
    if errors.n > 2:
        fits &= (np.abs(one) + t) * errors.interaction * scale < margin_log_odds
    reach = (other + t) * spread.error * scale
    if spread.logarithm and spread.variance > 0:
        fits &= reach / spread.variance < math.log(margin_spread**2 / spread.variance)
    else:
        fits &= spread.variance + reach < margin_spread**2
    if fits.mean() < enough:
        return float(fits.mean())
    largest = (errors.n - 1) * (1 - 1 / len(errors.points))
    own = np.sqrt(np.square(of_points).mean(axis=1))
    for size in np.unique(own[fits]):
        most = _unseen(groups, float(size) * math.sqrt(groups), margin_points, largest)
        fits &= (own != size) | (far[1] * size <= most).all(axis=1)
    return float(fits.mean())


@functools.lru_cache(maxsize=8)
def _estimates(n: int, orderings: int) -> tuple[np.ndarray, ...]:
    """Simulated estimates of positions, orderings, interaction, spread and exponent, in standard errors."""
    rng = randomness.generator(SEED, "planned groups", n, orderings)

    def centred(k: int) -> np.ndarray:
        drawn = rng.standard_normal((STUDIES, k))
        return (drawn - drawn.mean(axis=1, keepdims=True)) * math.sqrt(k / (k - 1))

    places = centred(n)
    return places, places if n == orderings == 2 else centred(orderings), *rng.standard_normal((3, STUDIES))


def _drawn(errors: Errors, groups: float) -> np.ndarray:
    """True for studies that find that answers are drawn from the probabilities as they are, if they really are."""
    error = errors.exponent * math.sqrt(errors.groups / groups)
    reach = float(distributions.normal_quantile((1 + sampling.CONFIDENCE) / 2)) * error
    power = 1 + error * _estimates(errors.n, len(errors.points))[-1]
    near = (power - reach > 1 / order_tests.NEAR) & (power + reach < order_tests.NEAR)
    return near & (np.abs(power - 1) <= reach)


def _quiet(errors: Errors) -> np.ndarray:
    """True for studies in which no test finds a bias. Tests of selection and of preference use the same draws."""
    return _quiet_by(errors.n, len(errors.points), tuple(order_tests.family(errors.n, errors.by)))


@functools.lru_cache(maxsize=64)
def _quiet_by(n: int, n_orderings: int, family: tuple[order_tests.Test, ...]) -> np.ndarray:
    """Result of `_quiet` from the arguments on which it depends; the number of groups is none of them."""
    places, orderings, *_ = _estimates(n, n_orderings)
    tests = {test for _, test in family}
    level = order_tests.LEVEL / len(family)
    quiet: np.ndarray = np.ones(len(places), dtype=bool)
    if tests & {order_tests.PREFERENCE, order_tests.SELECTION}:
        quiet &= _all(places) > level
    if order_tests.POINTS in tests:
        quiet &= _all(orderings) > level
    if order_tests.USUAL in tests:
        quiet &= 2 * np.asarray(distributions.normal_tail(np.abs(orderings[:, 0]))) > level
    if order_tests.INTERACTION in tests:
        quiet &= randomness.generator(SEED, "interaction", len(places)).random(len(places)) > level
    return quiet


def _all(values: np.ndarray) -> np.ndarray:
    """p-value of each row for all values being 0, shape (m, k) -> (m,). Values have variance 1, and rows sum to 0."""
    k = values.shape[1]
    return np.asarray(distributions.chi_square_tail(np.square(values).sum(axis=1) * (k - 1) / k, k - 1))


def _unseen(groups: float, spread: float, margin: float, largest: float) -> float:
    """The largest absolute shift that `equivalence.p_bounded` shows to be below the margin; -1 if there is none.

    Args:
        groups: number of groups.
        spread: standard deviation of a group's shift; shifts of groups are assumed to be normal.
        margin: margin of the shift, in points.
        largest: largest shift that a group can have.
    """
    shifts = np.linspace(0, margin, 33)[:-1]
    if groups <= EXACT_BOUND:
        count = math.ceil(groups)
        at = special.ndtri((np.arange(count) + 0.5) / count)
        values = np.clip(at[:, None] * spread + shifts, -largest, largest)
        p = equivalence.p_bounded(values, np.ones(count), margin=margin, largest=largest)
    else:  # the one added group hardly counts
        added, room = largest - margin, margin - shifts
        error = np.sqrt(groups * (spread**2 + room**2) + added**2)
        p = np.asarray(distributions.normal_tail((groups * room - added) / error))
    held = p <= LEVEL
    return float(shifts[held].max()) + margin / 64 if held.any() else -1.0


def least(enough: Callable[[float], bool], fewest: int) -> Needed:
    """Smallest whole number that is enough, at least `fewest`.

    The result is infinite if neither `fewest` nor `MOST` is enough.

    Args:
        enough: function that tells whether a number is enough. Every number above a number that is enough must be
            enough.
        fewest: smallest number that may be returned.
    """
    low, high = fewest - 1.0, float(fewest)
    while not enough(high):
        if high >= MOST:
            return Needed(math.inf, f"even {MOST:,} groups are too few")
        low, high = high, min(2 * high, float(MOST))
    while high - low > 1:
        middle = math.floor((low + high) / 2)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Needed(float(high))
