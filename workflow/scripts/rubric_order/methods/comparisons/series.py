"""Series of judgments (one comparison judged in several orders of its candidates), and Shi et al.'s measures of them.

Choices, candidates and positions are numbered from 1; `TIE` is a tie, `NONE` no choice. Source: Shi et al., Judging the
Judges, Sections 2.2 and 2.3 (P3 below).
"""

import numpy as np

from rubric_order.base.rows import Row
from rubric_order.methods.position import preference
from rubric_order.methods.uncertainty import cluster_robust, distributions, resampling

TIE = 0
NONE = -1


def stability(choices: np.ndarray, prompt: np.ndarray, *, options: int) -> tuple[np.ndarray, np.ndarray]:
    """Share of each prompt's reads that make its commonest choice, and its reads (also those without a choice). Source:
    P3, Equation 1, Table 2.
    """
    reads = np.bincount(prompt)
    has_choice = choices != NONE
    cells = prompt[has_choice] * (options + 1) + choices[has_choice]
    counts = np.bincount(cells, minlength=len(reads) * (options + 1)).reshape(len(reads), options + 1)
    return counts.max(axis=1) / reads, reads


def valid(winners: np.ndarray) -> np.ndarray:
    """True for a series with a choice in every order. Shape (n_series, n_orders) -> (n_series,)."""
    return (winners != NONE).all(axis=1)


def consistent(winners: np.ndarray) -> np.ndarray:
    """1 if all orders have the same winner, or all a tie, else 0; NaN if not `valid`. Source: P3, Equation 2."""
    return np.where(valid(winners), (winners == winners[:, :1]).all(axis=1), np.nan)


def flips(winners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inconsistency, 1 or 0, NaN if not `valid`: strict (several winners), and soft (one winner and a tie)."""
    least = np.where(winners > TIE, winners, np.iinfo(np.int64).max).min(axis=1)
    strict = winners.max(axis=1) > least
    agreed = consistent(winners)
    is_valid = ~np.isnan(agreed)
    return np.where(is_valid, strict, np.nan), np.where(is_valid, (agreed == 0) & ~strict, np.nan)


def primacy(places: np.ndarray, winners: np.ndarray, *, p: int) -> np.ndarray:
    """Share with which an inconsistent series counts for the first position; NaN for other series.

    A series counts for the position that it chooses most often, evenly for several. Source: P3, Section 2.2, which does
    not say how several count.
    """
    counts = (places[:, :, None] == np.arange(1, p + 1)).sum(axis=1)
    commonest = counts == counts.max(axis=1, keepdims=True)
    return np.where(consistent(winners) == 0, commonest[:, 0] / commonest.sum(axis=1), np.nan)


def leaning(places: np.ndarray, winners: np.ndarray, *, p: int) -> np.ndarray:
    """Contributions to `preference_fairness`: 1 for recency, -1 for primacy, 0 if consistent, NaN if not valid."""
    first = primacy(places, winners, p=p)
    return np.where(np.isnan(first), np.where(valid(winners), 0.0, np.nan), 1 - 2 * first)


def preference_fairness(pcn: float, rcn: float, n: int) -> float:
    """(rcn - pcn) / n for n series of which `pcn` count for primacy and `rcn` for recency; at most 1 - PC in size.

    Equal to P3's Equation 3: rcn x irr - pcn x ipr, scaled by n and -n.
    """
    if not n:
        return np.nan
    inconsistent = pcn + rcn
    ipr, irr = (pcn / inconsistent, rcn / inconsistent) if inconsistent else (0.0, 0.0)
    raw = rcn * irr - pcn * ipr
    return (raw + n) / (2 * n) * 2 - 1


def even_fairness(consistency: float, p: int) -> float:
    """Preference fairness if positions are chosen equally often in inconsistent series: above 0 for p > 2, because p -
    1 positions count as recency.
    """
    return (1 - 2 / p) * (1 - consistency)


def random_judge(p: int, ties: float = 0.0, *, orders: int | None = None) -> tuple[float, float]:
    """Consistency and fairness of random choices in each of `orders` (p by default) that balance positions."""
    count = p if orders is None else orders
    same = ties**count + p * ((1 - ties) / p) ** count
    return same, even_fairness(same, p)


def overall_win_rate(winners: np.ndarray, *, candidate: np.ndarray, p: int) -> np.ndarray:
    """1 if the candidate wins in all orders, 0 if another does, 1/p if none; NaN if not valid (P3, Section 2.3)."""
    agreed = consistent(winners)
    won = (agreed == 1) & (winners[:, 0] == candidate)
    nobody = (agreed == 0) | ((agreed == 1) & (winners[:, 0] == TIE))
    return np.where(np.isnan(agreed), np.nan, won + nobody / p)


def disagreement(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability that two reads of a comparison, (n, n_orders, 1 + p), differ in the same order and in different ones,
    (n,); NaN if an order has fewer than two choices.
    """
    reads = counts.sum(axis=2)
    enough = (reads > 1).all(axis=1)
    size = np.where(enough[:, None], reads, 2)
    same_order = 1 - (counts * (counts - 1)).sum(axis=2) / (size * (size - 1))
    shares = counts / size[..., None]
    orders = counts.shape[1]
    total = shares.sum(axis=1)
    agreeing = (
        ((total**2).sum(axis=1) - (shares**2).sum(axis=(1, 2))) / (orders * (orders - 1)) if orders > 1 else np.nan
    )
    within = np.where(enough, same_order.mean(axis=1), np.nan)
    return within, np.where(enough, 1 - agreeing, np.nan)


def place_preference(winners: np.ndarray, shown: np.ndarray, cluster: np.ndarray) -> tuple[cluster_robust.Fit, int]:
    """Effects of positions (p coefficients) on a judge's choices, by the conditional logit of `preference`, and the
    number of discordant pairs of reads.

    A tie is an option where no candidate stands, with p last coefficients by the first-numbered candidate's position:
    Davidson and Beaver's (1977) order effect, without their one constant of ties.
    """
    p = shown.shape[2]
    choices = np.where(winners == TIE, p, np.where(winners == NONE, -1, winners - 1)).astype(np.int8)
    places = np.argsort(shown, axis=2)
    ties = p + (places[..., :1] + np.arange(p)) % p  # the first is the tie; no read chooses the others
    of = preference.compare_scores(choices, np.concatenate([places, ties], axis=2).astype(np.int8), cluster)
    return preference.positions(of).fit(), of.discordant


def first_last(p: int) -> np.ndarray:
    """Weights of the first position minus the last among the coefficients of `place_preference`, shape (2 p,)."""
    return np.eye(2 * p)[0] - np.eye(2 * p)[p - 1]


def centred(p: int) -> np.ndarray:
    """Weights of each position minus the mean over positions, for `place_preference`, shape (p, 2 p)."""
    return np.eye(p, 2 * p) - np.repeat([1 / p, 0], p)


def within_pairs(first: np.ndarray, won: np.ndarray, pair: np.ndarray, cluster: np.ndarray, confidence: float) -> Row:
    """Log-odds that the first position adds over the last, among comparisons (also in one order) of the same two
    candidates: half of Mantel and Haenszel's log-odds ratio, with clusters as the sample.

    `sizes` is each cluster's information: choices in pairs with both orders, times the share of the rarer. Source:
    Mantel and Haenszel (1959); Davidson and Beaver (1977) for the model in which this is the order effect.
    """
    decided = ~np.isnan(won)
    first, won, pair, cluster = first[decided], won[decided] > 0, pair[decided], cluster[decided]
    cell = 2 * ~first + ~won  # first-numbered candidate first and winner, first and loser, second and winner, ...
    counts = np.zeros((int(pair.max(initial=-1)) + 1, 4))
    np.add.at(counts, (pair, cell), 1)
    a, b, c, d = counts.T
    n = np.maximum(counts.sum(axis=1), 1)
    same, other, zero = a * d / n, b * c / n, np.zeros(len(n))
    slopes = [np.stack(part, axis=1) for part in ([d / n, zero, zero, a / n], [zero, c / n, b / n, zero])]
    moved = [slope - (total / n)[:, None] for slope, total in zip(slopes, (same, other), strict=True)]
    is_first = (a + b) / n
    weight = np.where(first, 1 - is_first[pair], is_first[pair])
    n_clusters = int(cluster.max(initial=-1)) + 1
    sizes = np.bincount(cluster, weight, minlength=n_clusters)
    row: Row = {"sizes": sizes[sizes > 0], "estimate": np.nan, "ci_low": np.nan, "ci_high": np.nan, "p": np.nan}
    if same.sum() + other.sum() == 0 or (sizes > 0).sum() < 2:
        return row
    df = min(resampling.degrees(sizes[sizes > 0]), (sizes > 0).sum() - 1.0)
    score = np.bincount(cluster, (first - is_first[pair]) * (won - ((a + c) / n)[pair]), minlength=n_clusters)
    spread = np.sqrt((score**2).sum())
    p = float(2 * distributions.t_tail(abs(score.sum()) / spread, df)) if spread > 0 else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.log(same.sum() / other.sum()) / 2
        influence = (moved[0] / same.sum() - moved[1] / other.sum())[pair, cell] / 2
        by_cluster = np.bincount(cluster, influence, minlength=n_clusters)
    reach = distributions.t_quantile((1 + confidence) / 2, df) * np.sqrt((by_cluster**2).sum())
    ends = {"ci_low": estimate - reach, "ci_high": estimate + reach} if np.isfinite(estimate) else {}
    return row | {"estimate": float(estimate), "p": p} | ends
