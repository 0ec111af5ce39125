"""Number of groups that a card needs to find a bias, or to show an unbiased judge equivalent, from its errors.

Errors come from reads or, before there are any, from the share d of an item's pairs of reads that differ (`expected`):
scores scatter normally about qualities (normal quantiles, SD a quarter of the scale). Information about a unit contrast
of positions is K d / (n - 1) for K balanced reads: selections have trace K d over n - 1 contrasts, and the sum over
pairs is K / 2 times the counts.

With two levels, an effect e in log-odds makes reads differ with probability 2 v / (2 v + (1 - 2 v) s), v = p (1 - p), s
= 1 / cosh(2 e), by tanh(2 e) of it on average: largest for items alike, smallest for undecided and certain ones; the
one with less power is planned for (`_changed`). Groups of one read an ordering are tested by signs (`_sign_power`).
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

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
EXACT_BOUND = 2000  # groups; up to this number, `_unseen` and `_sign_power` compute as the card does
LEVEL = 0.05  # of the one-sided tests of equivalence
LARGEST_EFFECT = 1e3  # in log-odds or points; no study could be about a larger effect
HALVINGS = 40
LEAST_DIFFER = 0.02  # least distance of the share of differing pairs from both 0 and its largest value


class Spread(NamedTuple):
    """Variance between an unbiased judge's items, in squared points; `logarithm` as in `spread.mean_interval`."""

    variance: float
    error: float
    logarithm: bool


class Errors(NamedTuple):
    """Standard errors of the estimates that decide a card, at a number of effective groups.

    `one_place` is the size of a position's effect at noncentrality 1; `written` are errors of `points` for written
    scores, which decide until `exponent` (`sampling.exponent`) shows answers drawn as they are; `usual`: both for the
    usual ordering, which may be read more often than others; `beyond`: of the
    variance that positions add to them (`sampling.products`), 0 where it need not be known; `reads` of a group in each
    ordering.
    """

    n: int
    groups: float
    log_odds: np.ndarray
    one_place: float
    points: np.ndarray
    written: np.ndarray
    usual: tuple[float, float]
    exponent: float
    interaction: float
    spread: Spread
    beyond: float
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
    one_answer: bool = False,
    groups: float = 1.0,
) -> Errors:
    """Standard errors that estimates are expected to have, from reads of a judge without bias.

    `within` correlates two items of a group; `soft`: probabilities decide all tests; `prompt_noise` is the SD that a
    prompt adds to a log-probability; `one_answer`: scores and probabilities are of one answer.
    """
    shares, orders = _shares(n, differ), _orderings(n, orderings)
    away = np.arange(n) - (shares @ np.arange(n))[:, None]
    design = (1 + (items - 1) * within) / items / groups  # variance of a mean, in units of one item's variance
    moved = prompt_noise**2 * (np.square(shares) * np.square(away)).sum(axis=1)  # variance of an expected score
    variance, exponent, beyond = (shares * np.square(away)).sum(axis=1), 0.0, 0.0
    if soft:
        beyond = 0.0 if one_answer else _error_beyond(n, differ, orderings, repeats) / math.sqrt(items * groups)
        logs = np.log(np.maximum(shares, 1e-300))
        log_variance = (shares * np.square(logs)).sum(axis=1) - np.square((shares * logs).sum(axis=1))
        exponent = math.sqrt(design / (log_variance.mean() * orderings * repeats))
        information, points = _information_of_logs(orders) / prompt_noise**2, moved.mean()
        noise = moved * (orderings - 1) / orderings
        spread = Spread(noise.mean(), math.sqrt((noise.var() + (2 * noise**2).mean() / (orderings - 1)) * design), True)
    else:
        fourth = (shares * away**4).sum(axis=1)
        moved = np.minimum(moved, variance)
        spread = _spread_of_draws(variance - moved, fourth, moved, orderings, repeats, design)
        prompts = moved.mean() / variance.mean()  # repeats of an ordering share its prompt
        averaged = prompts + (1 - prompts) / repeats
        information, points = orderings * _information(shares, orders) / averaged, variance.mean() * averaged
    prompts = min(moved.mean() / variance.mean(), 1.0)
    written = variance.mean() * (prompts + (1 - prompts) / repeats)
    centred = np.eye(n) - 1 / n
    apart = centred[0] * n / (n - 1)  # one position exceeds the mean of all by 1; all other positions are equal
    positions = centred @ np.linalg.pinv(information[:n, :n], hermitian=True) @ centred
    interaction = np.linalg.pinv(information, hermitian=True)[-1, -1] if n > 2 else math.nan
    usual = math.sqrt(points * (1 - 1 / orderings) * design), math.sqrt(written * (1 - 1 / orderings) * design)
    return Errors(
        n=n,
        groups=groups,
        log_odds=np.sqrt(np.diag(positions) * design),
        one_place=math.sqrt(design / (apart @ information[:n, :n] @ apart)),
        points=np.full(orderings, usual[0]),
        written=np.full(orderings, usual[1]),
        usual=usual,
        exponent=exponent,
        interaction=math.sqrt(interaction * design),
        spread=spread,
        beyond=beyond,
        by=order_tests.deciding(hard=not soft, known=1.0 if soft else 0.0, drawn=soft),
        differ=differ,
        reads=items * repeats,
    )


def like(n: int, differ: float, **settings: Any) -> Errors:
    """`expected`, with `differ` of reads (half of the most if NaN)."""
    most = 1 - 1 / n
    differ = most / 2 if math.isnan(differ) else differ
    return expected(n, round(min(max(differ, LEAST_DIFFER), most - LEAST_DIFFER), 3), **settings)


def one_place(positions: np.ndarray, model: Errors) -> float:
    """`Errors.one_place`, by a model."""
    return size(positions) * model.one_place / size(model.log_odds)


def size(errors: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.square(errors).mean()))


@functools.lru_cache(maxsize=64)
def _shares(n: int, differ: float) -> np.ndarray:
    """Probability of each score for each item quality, (qualities, n), so that a share `differ` of pairs differs."""
    quality = (0.5 + special.ndtri((np.arange(QUALITIES) + 0.5) / QUALITIES) / 4) * (n - 1)

    def at(scatter: float) -> np.ndarray:
        return special.softmax(-np.square(np.arange(n) - quality[:, None]) / (2 * scatter**2), axis=1)

    low, high = math.log(1e-3), math.log(1e3)
    for _ in range(60):
        middle = (low + high) / 2
        too_little = 1 - np.square(at(math.exp(middle))).sum(axis=1).mean() < differ
        low, high = (middle, high) if too_little else (low, middle)
    return at(math.exp(low))


@functools.lru_cache(maxsize=64)
def _error_beyond(n: int, differ: float, orderings: int, repeats: int) -> float:
    """`Errors.beyond` of one item."""
    orders = np.tile(_orderings(n, orderings), (repeats, 1))
    item: np.ndarray = np.repeat(np.arange(QUALITIES), len(orders))
    shares = _shares(n, differ)[:, orders].reshape(-1, n)
    products = sampling.products(shares, np.tile(orders, (QUALITIES, 1)).astype(float), item)
    return math.sqrt(products.errors(item).mean())


def _orderings(n: int, orderings: int) -> np.ndarray:
    turns = (np.arange(n)[:, None] + np.arange(n)) % n
    return turns if orderings == n or n == 2 else np.vstack([turns, turns[:, ::-1]])


def _columns(shown: np.ndarray) -> np.ndarray:
    n = shown.shape[1]
    places, scale = np.argsort(shown, axis=1), np.linspace(-1, 1, n)
    line = scale * scale[places]
    return np.concatenate([np.eye(n)[places], line[..., None]], axis=2)[:, :, : n + (n > 2)]


def _information(shares: np.ndarray, shown: np.ndarray) -> np.ndarray:
    columns = _columns(shown)
    columns = columns - columns.mean(axis=0)  # the item's own weight of a score absorbs the mean over orderings
    square = np.einsum("is,dsa,dsb->ab", shares, columns, columns) / len(shares)
    mean = np.einsum("is,dsa->ida", shares, columns)
    return (square - np.einsum("ida,idb->ab", mean, mean) / len(shares)) / len(shown)


def _information_of_logs(shown: np.ndarray) -> np.ndarray:
    columns = _columns(shown)
    columns = columns - columns.mean(axis=0) - columns.mean(axis=1, keepdims=True) + columns.mean(axis=(0, 1))
    return np.einsum("dsa,dsb->ab", columns, columns)


def _spread_of_draws(
    variance: np.ndarray, fourth: np.ndarray, moved: np.ndarray, orderings: int, repeats: int, design: float
) -> Spread:
    """Spread of drawn scores, from the second and fourth moments of repeats, as `spread.item_variances` estimates it.

    Without repeats, only the whole variance over orderings can be shown to be small.
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


def bias_groups(
    errors: Errors, *, log_odds: float = 0.0, points: float = 0.0, power: float = POWER, margin: float = 0.0
) -> Needed:
    """Number of groups at which a share `power` of cards is `biased` by the test for one position's effect in log-odds,
    or for the usual ordering's shift in points. A card of enough groups calls an effect below `margin` negligible.
    """
    if max(log_odds, points) < margin:
        return Needed(math.inf, f"an effect below the margin of {margin:g} is negligible, which more groups show")
    if not _sizes(errors, log_odds, points):
        return Needed(math.inf, "the reads do not vary, so that errors are not known")

    def enough(groups: float) -> bool:
        return share_biased(errors, groups, log_odds=log_odds, points=points) >= power

    return least(enough, FEWEST_FOR_BIASED)


def share_biased(errors: Errors, groups: float, *, log_odds: float = 0.0, points: float = 0.0) -> float:
    """Share of studies with a `biased` card, see `bias_groups`; NaN if the reads do not vary, 0 for few groups."""
    q = errors.n - 1 if log_odds else 1
    sizes, rest = _sizes(errors, log_odds, points), groups - q
    if not sizes:
        return math.nan
    if rest < 1:
        return 0.0
    if _binary(errors) and errors.reads <= 1 and groups <= EXACT_BOUND:
        return _sign_power(math.floor(groups), *_changed(errors.differ, log_odds, points))
    critical = special.fdtri(q, rest, 1 - order_tests.LEVEL / len(order_tests.family(errors.n, errors.by)))
    away = [min(size * groups / errors.groups, MOST_NONCENTRAL) for size in sizes]
    powers = [1 - float(special.ncfdtr(q, rest, noncentrality, critical)) for noncentrality in away]
    sure = 1.0 if log_odds else float(_drawn(errors, groups).mean())
    return sure * powers[0] + (1 - sure) * powers[-1]


def smallest(errors: Errors, groups: float, *, points: bool, power: float = POWER) -> float:
    """The smallest effect that a share `power` of studies finds, see `bias_groups`; NaN if none is found."""

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
    """Noncentrality of the test in log-odds, or of those in points by expected and written scores; or nothing."""
    if _binary(errors):
        share, mean = _changed(errors.differ, log_odds, points)
        times = (share - mean**2) / errors.differ  # variance of a difference over the one without an effect
        variance = max(times, 1e-99) * errors.usual[0] ** 2
        sizes = [(mean / 2) ** 2 / variance if variance > 0 else math.nan]
    elif log_odds:
        sizes = [(log_odds / errors.one_place) ** 2 if errors.one_place > 0 else math.nan]
    else:
        sizes = [(points / error) ** 2 for error in errors.usual if error]
    return [] if not sizes or math.isnan(sizes[0]) else sizes


def _binary(errors: Errors) -> bool:
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


def _sign_power(groups: int, share: float, mean: float) -> float:
    changed, up, tail = np.arange(groups + 1), (1 + mean / share) / 2, order_tests.LEVEL / 2
    most = np.where(0.5**changed > tail, -1, np.floor(special.bdtrik(tail, changed, 0.5)))  # changes to the rarer side
    power = sum(special.bdtr(np.maximum(most, 0), changed, chance) for chance in (up, 1 - up)) * (most >= 0)
    return float(np.diff(special.bdtr(changed, groups, share), prepend=0) @ power)


def equivalence_groups(
    errors: Errors, *, margin_points: float, margin_log_odds: float, margin_spread: float, power: float = POWER
) -> Needed:
    """Groups at which a share `power` of studies shows an unbiased judge `equivalent`: criteria hold, no test finds.

    Estimates are exchangeable normal draws that sum to 0; positions and orderings independent but for two levels in two
    orderings, which gives a few groups too many.
    """
    limits = {"margin_points": margin_points, "margin_log_odds": margin_log_odds, "margin_spread": margin_spread}
    if why := why_never(errors, margin_spread):
        return Needed(math.inf, why)

    def enough(groups: float) -> bool:
        return share_equivalent(errors, groups, **limits, enough=power) >= power

    return least(enough, uniformity.FEW_CLUSTERS)


def why_never(errors: Errors, margin_spread: float) -> str:
    """Reason why no number of groups shows a judge without bias to be `equivalent`; empty if some number does."""
    spread = errors.spread
    if math.isnan(spread.error):
        return "the spread between single items is not known"
    if spread.variance >= margin_spread**2:
        return "single items differ by as much as the margin from one ordering to another"
    if math.isnan(errors.beyond):
        return "what positions do to written scores beyond their probabilities is not known"
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
    """Share of studies in which a judge without bias is `equivalent` (`equivalence_groups`), or one below `enough`."""
    spread = errors.spread
    places, orderings, one, other, _, added = _estimates(errors.n, len(errors.points))
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
    if errors.beyond:
        fits &= (added + t) * errors.beyond * scale < (margin_spread / sampling.FIRST_ORDER) ** 2
    if fits.mean() < enough:
        return float(fits.mean())
    largest = (errors.n - 1) * (1 - 1 / len(errors.points))
    rms = np.sqrt(np.square(of_points).mean(axis=1))
    for size in np.unique(rms[fits]):
        most = _unseen(groups, float(size) * math.sqrt(groups), margin_points, largest)
        fits &= (rms != size) | (far[1] * size <= most).all(axis=1)
    return float(fits.mean())


@functools.lru_cache(maxsize=8)
def _estimates(n: int, orderings: int) -> tuple[np.ndarray, ...]:
    """Simulated estimates of positions, orderings, interaction, spread, exponent and `beyond`, in standard errors."""
    rng = randomness.generator(SEED, "planned groups", n, orderings)

    def centred(k: int) -> np.ndarray:
        drawn = rng.standard_normal((STUDIES, k))
        return (drawn - drawn.mean(axis=1, keepdims=True)) * math.sqrt(k / (k - 1))

    places = centred(n)
    return places, places if n == orderings == 2 else centred(orderings), *rng.standard_normal((4, STUDIES))


def _drawn(errors: Errors, groups: float) -> np.ndarray:
    error = errors.exponent * math.sqrt(errors.groups / groups)
    reach = float(distributions.normal_quantile((1 + sampling.CONFIDENCE) / 2)) * error
    power = 1 + error * _estimates(errors.n, len(errors.points))[4]
    near = (power - reach > 1 / order_tests.NEAR) & (power + reach < order_tests.NEAR)
    return near & (np.abs(power - 1) <= reach)


def _quiet(errors: Errors) -> np.ndarray:
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
    """p-value of each row (m, k) for all values being 0; they have variance 1, and rows sum to 0."""
    k = values.shape[1]
    return np.asarray(distributions.chi_square_tail(np.square(values).sum(axis=1) * (k - 1) / k, k - 1))


def _unseen(groups: float, spread: float, margin: float, largest: float) -> float:
    """The largest absolute shift that `equivalence.p_bounded` shows below the margin, for normal groups, or -1."""
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
    """Smallest whole number from `fewest` that is enough, as all above it must be; infinite above `MOST`."""
    low, high = fewest - 1.0, float(fewest)
    while not enough(high):
        if high >= MOST:
            return Needed(math.inf, f"even {MOST:,} groups are too few")
        low, high = high, min(2 * high, float(MOST))
    while high - low > 1:
        middle = math.floor((low + high) / 2)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Needed(float(high))
