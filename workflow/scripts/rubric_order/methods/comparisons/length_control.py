"""Length control: effect of a text's length on its log-odds of being preferred, and win rates without this effect.

Log-odds of i over j: theta_i - theta_j + phi tanh((length_i - length_j) / sd) + gamma_q (difficulty; only against a
baseline) + beta place (1 or -1). A tie is a verdict of a half. The controlled win rate averages probabilities without
the term of length.

Source: Dubois, Galambosi, Liang and Hashimoto (2024), Length-Controlled AlpacaEval. Ours: the position, one phi, random
difficulties, errors from clusters.
"""

from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from rubric_order.base import flags
from rubric_order.methods.uncertainty import cluster_robust, conditional_logit

LEAST_PAIRS = 8  # reads that each candidate needs, if candidates get strengths
NO_SPREAD = 0.02  # log-odds; a smaller standard deviation of difficulties counts as 0
NO_GAIN = 1.35  # gain in log-likelihood by difficulties: half of the 5% critical value of a chi-square test of variance
LEAST_CANDIDATES = 5  # candidates beside the baseline that each question needs, if questions get difficulties
MOST_STEPS = 60
NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())
NO_NODES = 0.0, np.zeros(1), np.ones(1)


class Pairs(NamedTuple):
    """Reads of pairs, each array of shape (reads,): `verdict` for the first candidate (canonical order), 1, 0 or a
    half; difference of lengths in characters, and its `sd` over pairs; `place` 1 if the first stands first, else -1.
    """

    verdict: np.ndarray
    first: np.ndarray
    second: np.ndarray
    baseline: int
    question: np.ndarray
    length: np.ndarray
    sd: float
    place: np.ndarray
    cluster: np.ndarray

    def rows(self, chosen: np.ndarray) -> "Pairs":
        """The reads for which `chosen`, shape (reads,), is True."""
        return self._replace(**{name: getattr(self, name)[chosen] for name in self._fields if name not in WHOLE})


WHOLE = ("baseline", "sd")


class Design(NamedTuple):
    """Columns of the regression, length and position last, for the `usable` reads; `side` is 1 if the second candidate
    is the baseline, else -1, None without difficulties.

    Reads of candidates that always or never win carry no information on strengths and are left out.
    """

    x: np.ndarray
    usable: np.ndarray
    side: np.ndarray | None
    notes: tuple[str, ...]

    @property
    def sides(self) -> np.ndarray:
        """`side` of a design whose questions get difficulties."""
        if self.side is None:
            raise ValueError("the design has no difficulties")
        return self.side


def design(pairs: Pairs, length: np.ndarray, further: np.ndarray | None = None) -> Design:
    """Columns: `further` ones, strengths (if each candidate has `LEAST_PAIRS` reads), `length`, position.

    Difficulties need a baseline and `LEAST_CANDIDATES` other candidates a question.
    """
    usable: np.ndarray = np.ones(len(pairs.verdict), dtype=bool)
    notes: list[str] = []
    parts: list[np.ndarray] = [] if further is None else [further]
    last = [length[:, None], pairs.place[:, None]]
    if not _are_comparable(pairs):
        return Design(np.column_stack(parts + last), usable, None, ("no strengths",))
    usable = told(pairs)
    if not usable.all():
        notes.append("candidates that always or never win left out")
    some = pairs.rows(usable)
    one = np.eye(int(max(pairs.first.max(), pairs.second.max())) + 1)
    strengths = one[some.first] - one[some.second]
    # Only differences of strengths count. So the strength of one candidate is 0: of the baseline if there is a
    # baseline.
    strengths = np.delete(strengths, max(some.baseline, 0), axis=1)
    side = np.where(some.first == some.baseline, -1.0, 1.0) if _has_difficulties(some) else None
    if side is None:
        notes.append("no difficulties")
    x = np.column_stack([*(part[usable] for part in parts), strengths, *(column[usable] for column in last)])
    return Design(x, usable, side, tuple(notes))


def _are_comparable(pairs: Pairs) -> bool:
    both = np.concatenate([pairs.first, pairs.second])
    reads = np.bincount(both)
    return bool(len(reads) > 1 and reads[reads > 0].min() >= LEAST_PAIRS)


def told(pairs: Pairs) -> np.ndarray:
    """True for reads of candidates that neither win nor lose all their reads, repeated until no more are left out."""
    usable: np.ndarray = np.ones(len(pairs.verdict), dtype=bool)
    while True:
        both = np.concatenate([pairs.first[usable], pairs.second[usable]])
        won = np.concatenate([pairs.verdict[usable], 1 - pairs.verdict[usable]])
        reads, wins = np.bincount(both), np.bincount(both, won)
        mixed = (wins > 0) & (wins < reads)
        left = usable.copy()
        left[usable] = mixed[pairs.first[usable]] & mixed[pairs.second[usable]]
        if left.sum() == usable.sum():
            return usable
        usable = left


def _has_difficulties(pairs: Pairs) -> bool:
    if pairs.baseline < 0 or not len(pairs.verdict):
        return False
    other = np.where(pairs.first == pairs.baseline, pairs.second, pairs.first)
    per_question = np.unique(np.column_stack([pairs.question, other]), axis=0)[:, 0]
    return bool(np.bincount(per_question)[np.unique(per_question)].min() >= LEAST_CANDIDATES)


class Difficult(NamedTuple):
    """A regression with random difficulties of questions; its last coefficient, `sd`, is their standard deviation."""

    fit: cluster_robust.Fit
    sd: float


def fit_difficulties(design: Design, pairs: Pairs, n_clusters: int) -> Difficult:
    """Fit with normal difficulties, integrated by Gauss-Hermite quadrature; errors from each question's derivatives.

    AlpacaEval (`two_steps`) takes difficulties from the same verdicts as known: with few candidates, its effect of
    length is too large and its error too small.
    """
    x, side, verdict, question = design.x, design.sides, pairs.verdict, pairs.question
    start = np.append(penalised(x, verdict, np.full(x.shape[1], 1e-6)), 0.5)

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        total, score, _ = _likelihood(b, x, side, verdict, question, n_clusters)
        return -total, -score.sum(axis=0)

    best = optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-7 * len(verdict)})
    _, score, information = _likelihood(best.x, x, side, verdict, question, n_clusters, second=True)
    if np.abs(x @ best.x[:-1]).max() > conditional_logit.FURTHEST:
        return Difficult(cluster_robust.nothing(score.shape, flags.SEPARATED), np.nan)
    # Collinear columns give an eigenvalue of 0, up to rounding: `space` leaves out sums that these columns do not
    # determine.
    values = np.linalg.eigvalsh(information.sum(axis=0))
    fitted = cluster_robust.Sums(best.x, score, information).fit()
    if (
        abs(best.x[-1]) < NO_SPREAD
        or values[0] < -cluster_robust.ROUNDING * values[-1]
        or np.isnan(fitted.influence).any()
    ):
        equal = _equal_difficulties(design, pairs, n_clusters)
        if -best.fun - _likelihood(equal.fit.coefficients, x, side, verdict, question, n_clusters)[0] < NO_GAIN:
            return equal
        if values[0] < -cluster_robust.ROUNDING * values[-1]:
            return Difficult(cluster_robust.nothing(score.shape, flags.SEPARATED), np.nan)
    return Difficult(fitted, abs(float(best.x[-1])))


def _equal_difficulties(design: Design, pairs: Pairs, n_clusters: int) -> Difficult:
    """Fit in which all questions are equally hard. At a standard deviation of 0 its column has no information (the
    likelihood is even in it): kept, it would leave no coefficient an error.
    """
    plain = fit(design.x, pairs.verdict, pairs.question, n_clusters)
    k = design.x.shape[1]
    space = np.zeros((k + 1, k + 1))
    space[:k, :k] = plain.space
    padded = np.column_stack([plain.influence, np.zeros(len(plain.influence))])
    coefficients = np.append(plain.coefficients, 0.0)
    weights = plain.weights and plain.weights._replace(root=np.pad(plain.weights.root, ((0, 1), (0, 0))))
    padded_fit = plain._replace(coefficients=coefficients, influence=padded, space=space, least=None, weights=weights)
    return Difficult(padded_fit, 0.0)


def _likelihood(
    b: np.ndarray,
    x: np.ndarray,
    side: np.ndarray,
    verdict: np.ndarray,
    question: np.ndarray,
    n: int,
    *,
    second: bool = False,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Log-likelihood with random difficulties, its derivatives by question and, if `second`, minus the second ones."""
    eta = (x @ b[:-1])[:, None] + b[-1] * side[:, None] * NODES
    of_reads = verdict[:, None] * eta - np.logaddexp(0, eta)
    sums = np.stack([np.bincount(question, column, n) for column in of_reads.T], axis=1) + LOG_WEIGHTS
    total = special.logsumexp(sums, axis=1)
    posterior = np.exp(sums - total[:, None])
    p = special.expit(eta)
    rest, share = verdict[:, None] - p, posterior[question]
    spread = side[:, None] * NODES
    terms = np.column_stack([x * (share * rest).sum(axis=1)[:, None], (share * rest * spread).sum(axis=1)])
    score = _question_sums(terms, question, n)
    if not second:
        return float(total.sum()), score, np.empty((0, score.shape[1], score.shape[1]))
    # Louis (1982): minus the second derivative is the mean information of the reads minus the variance of their score.
    of_nodes = np.stack(
        [
            _question_sums(np.column_stack([x * rest[:, [j]], rest[:, j] * spread[:, j]]), question, n)
            for j in range(len(NODES))
        ],
        axis=1,
    )
    weight = share * p * (1 - p)
    full = np.empty((len(x), x.shape[1] + 1, x.shape[1] + 1))
    full[:, :-1, :-1] = x[:, :, None] * x[:, None, :] * weight.sum(axis=1)[:, None, None]
    full[:, :-1, -1] = full[:, -1, :-1] = x * (weight * spread).sum(axis=1)[:, None]
    full[:, -1, -1] = (weight * spread**2).sum(axis=1)
    mean = np.einsum("qj,qja,qjb->qab", posterior, of_nodes, of_nodes, optimize=True)
    information = _question_sums(full, question, n) - mean + score[:, :, None] * score[:, None, :]
    return float(total.sum()), score, information


def _question_sums(values: np.ndarray, question: np.ndarray, n: int) -> np.ndarray:
    return cluster_robust.sums_by(question, np.arange(len(values)), None, n, values)


def two_steps(design: Design, pairs: Pairs, n_clusters: int) -> float:
    """Effect of length by AlpacaEval's own two steps, without an interval: difficulties shrunk as if their standard
    deviation were 1, then each candidate's sensitivity to them.
    """
    x, question = design.x, pairs.question
    columns = np.column_stack([np.eye(n_clusters)[question] * design.sides[:, None], x])
    penalty = np.concatenate([np.ones(n_clusters), np.full(x.shape[1], 1e-6)])
    gamma = penalised(columns, pairs.verdict, penalty)[:n_clusters]
    terms = x[:, :-2] * gamma[question][:, None]
    return float(penalised(np.column_stack([terms, x]), pairs.verdict, np.full(2 * x.shape[1] - 2, 1e-6))[-2])


def penalised(x: np.ndarray, verdict: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Coefficients of a logistic regression with penalties `penalty` b^2 / 2, by Newton's method with halved steps."""
    b = np.zeros(x.shape[1])

    def loss(b: np.ndarray) -> float:
        z = x @ b
        return float(np.logaddexp(0, z).sum() - verdict @ z + (penalty * b**2).sum() / 2)

    before = loss(b)
    for _ in range(MOST_STEPS):
        p = special.expit(x @ b)
        information = (x * (p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(information, x.T @ (verdict - p) - penalty * b)
        size, after = 1.0, loss(b + step)
        while size > 1e-6 and after > before:
            size /= 2
            after = loss(b + size * step)
        b, before = b + size * step, after
        if np.abs(size * step).max() < 1e-9:
            break
    return b


def scaled(pairs: Pairs) -> np.ndarray:
    """AlpacaEval's difference of lengths, shape (reads,), from -1 to 1."""
    return np.tanh(pairs.length / pairs.sd) if pairs.sd > 0 else np.zeros(len(pairs.length))


def fit(x: np.ndarray, verdict: np.ndarray, cluster: np.ndarray, n_clusters: int) -> cluster_robust.Fit:
    """Logistic regression with clusters as the sample; verdicts between 0 and 1 count for both candidates."""
    won, lost = np.flatnonzero(verdict > 0), np.flatnonzero(verdict < 1)
    weight = np.concatenate([verdict[won], 1 - verdict[lost]])
    rows = np.concatenate([x[won], -x[lost]])
    where = np.concatenate([cluster[won], cluster[lost]])
    data = conditional_logit.Comparisons(rows, where, np.arange(len(rows)), weight, n_clusters)
    return conditional_logit.fit(data, penalised=False)


def fit_log_odds(x: np.ndarray, log_odds: np.ndarray, cluster: np.ndarray, n_clusters: int) -> cluster_robust.Fit:
    """Fit known log-odds of the first candidate over the second by least squares, with clusters as the sample."""
    right = np.zeros((n_clusters, x.shape[1]))
    np.add.at(right, cluster, x * log_odds[:, None])
    information = np.zeros((n_clusters, x.shape[1], x.shape[1]))
    np.add.at(information, cluster, x[:, :, None] * x[:, None, :])
    return cluster_robust.least_squares(right, information).fit()


class WinRate(NamedTuple):
    """Raw win rate and that at a difference of lengths of 0 (NaN where not `tells_controlled`), each with its influence
    (n_clusters,), see `cluster_robust.interval`.
    """

    raw: float
    of_raw: np.ndarray
    controlled: float
    of_controlled: np.ndarray


def win_rate(pairs: Pairs, design: Design, found: cluster_robust.Fit, candidate: int, n_clusters: int) -> WinRate:
    """Win rate of one candidate over its reads in a regression.

    Controlled, each read keeps its positions: without them, the difference from the raw rate would hold their effect. A
    cluster's influence is through coefficients, and through opponents and positions.
    """
    mine = (pairs.first == candidate) | (pairs.second == candidate)
    side = np.where(pairs.first == candidate, 1.0, -1.0)[mine]
    won = np.where(side > 0, pairs.verdict[mine], 1 - pairs.verdict[mine])
    columns = design.x[mine].copy()
    columns[:, -2] = 0  # no term of length
    columns *= side[:, None]
    k = columns.shape[1]
    raw, of_raw = float(won.mean()), _mean_influence(won, pairs.cluster[mine], n_clusters)
    if not tells_controlled(pairs.rows(mine), columns, found):
        return WinRate(raw, of_raw, np.nan, np.full(n_clusters, np.nan))
    sd, nodes, weights = (found.coefficients[-1], NODES, np.exp(LOG_WEIGHTS)) if design.side is not None else NO_NODES
    p = special.expit((columns @ found.coefficients[:k])[:, None] + sd * nodes)
    steep = p * (1 - p) * weights
    slope = (columns * steep.sum(axis=1)[:, None]).mean(axis=0)
    slope = np.append(slope, (steep * nodes).sum(axis=1).mean()) if design.side is not None else slope
    expected = p @ weights
    of_controlled = found.influence @ slope + _mean_influence(expected, pairs.cluster[mine], n_clusters)
    return WinRate(raw, of_raw, float(expected.mean()), of_controlled)


def tells_controlled(pairs: Pairs, columns: np.ndarray, found: cluster_robust.Fit) -> bool:
    """False if candidates and positions determine the difference of lengths, or if all pairs share one, not 0."""
    k = columns.shape[1]
    gap = np.abs(columns @ found.space[:k] - np.pad(columns, [(0, 0), (0, len(found.space) - k)])).max()
    return bool(gap < 1e-6 and (pairs.sd > 0 or not pairs.length.any()))


def _mean_influence(values: np.ndarray, cluster: np.ndarray, n_clusters: int) -> np.ndarray:
    total, size = (np.bincount(cluster, weights, n_clusters) for weights in (values, np.ones(len(values))))
    left = len(values) - size
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 0, values.mean() - (values.sum() - total) / left, 0.0)


def within(
    outcome: np.ndarray, terms: np.ndarray, unit: np.ndarray, cluster: np.ndarray, n_clusters: int
) -> cluster_robust.Fit:
    """Effects of terms that vary among a pair's reads on log-odds of the first candidate (1; second -1, tie 0).

    A conditional logit (`preference`): preference and rate of ties cancel. A tie lies half-way (Davidson).
    """
    order = np.argsort(unit, kind="stable")
    size = np.bincount(unit)
    start = np.cumsum(size) - size
    one, other = (
        np.concatenate(
            [
                np.add.outer(start[size == count], np.array(part, dtype=int)).ravel()
                for count, part in _pairs_of(size, side)
            ]
        ).astype(int)
        for side in (0, 1)
    )
    one, other = order[one], order[other]
    unlike = outcome[one] != outcome[other]
    one, other = one[unlike], other[unlike]
    x = (terms[one] - terms[other]) * ((outcome[one] - outcome[other]) / 2)[:, None]
    moved = (x != 0).any(axis=1)
    data = conditional_logit.comparisons(x[moved], cluster[one][moved])._replace(n_clusters=n_clusters)
    return conditional_logit.fit(data)


def _pairs_of(size: np.ndarray, side: int) -> list[tuple[int, np.ndarray]]:
    return [(int(count), np.triu_indices(count, 1)[side]) for count in np.unique(size)]
