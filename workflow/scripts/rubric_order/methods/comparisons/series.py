"""Series of judgments (one comparison judged in several orders of its candidates), and Shi et al.'s measures of them.

In arrays of choices, candidates and positions are numbered from 1; `TIE` is a tie, `NONE` no choice.

Source: Shi et al., Judging the Judges, Sections 2.2 and 2.3 (called P3 below).
"""

import numpy as np

from rubric_order.base.rows import Row
from rubric_order.methods.position import preference
from rubric_order.methods.uncertainty import cluster_robust, distributions, resampling

TIE = 0
NONE = -1


def stability(choices: np.ndarray, prompt: np.ndarray, *, options: int) -> tuple[np.ndarray, np.ndarray]:
    """Repetition stability of each prompt: the share of its reads that make the commonest choice.

    A read without a choice counts among the reads, but for no choice. So a judge that answers one read in twenty is not
    stable, as in P3's Table 2.

    Args:
        choices: choice of each read, from 1, shape (n_reads,); `TIE` for a tie, `NONE` for no choice.
        prompt: index of each read's prompt, from 0, shape (n_reads,).
        options: number of options that can be chosen, without the tie.

    Returns:
        The share of each prompt, and the number of reads of each prompt.

    Source: P3, Equation 1.
    """
    reads = np.bincount(prompt)
    made = choices != NONE
    cells = prompt[made] * (options + 1) + choices[made]
    counts = np.bincount(cells, minlength=len(reads) * (options + 1)).reshape(len(reads), options + 1)
    return counts.max(axis=1) / reads, reads


def valid(winners: np.ndarray) -> np.ndarray:
    """True for a series with a choice in every order. Shape (n_series, n_orders) -> (n_series,).

    Args:
        winners: the chosen candidate in each order, from 1, shape (n_series, n_orders); `TIE` for a tie, `NONE` for no
            choice.
    """
    return (winners != NONE).all(axis=1)


def consistent(winners: np.ndarray) -> np.ndarray:
    """Consistency of each series: 1 if all orders have the same winner, or all have a tie, else 0. NaN if not `valid`.

    Args:
        winners: the chosen candidate in each order, shape (n_series, n_orders).

    Source: P3, Equation 2.
    """
    return np.where(valid(winners), (winners == winners[:, :1]).all(axis=1), np.nan)


def flips(winners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inconsistency of each series, 1 or 0: strict (several winners), and soft (one winner and a tie).

    NaN if the series is not `valid`.

    Args:
        winners: the chosen candidate in each order, from 1, shape (n_series, n_orders); `TIE` for a tie, `NONE` for no
            choice.
    """
    least = np.where(winners > TIE, winners, np.iinfo(np.int64).max).min(axis=1)
    strict = winners.max(axis=1) > least
    agreed = consistent(winners)
    is_valid = ~np.isnan(agreed)
    return np.where(is_valid, strict, np.nan), np.where(is_valid, (agreed == 0) & ~strict, np.nan)


def primacy(places: np.ndarray, winners: np.ndarray, *, p: int) -> np.ndarray:
    """Share with which an inconsistent series counts for the first position; NaN for all other series.

    The rest of the series counts for the other positions. A series counts for the position that it chooses most often.
    If it chooses several positions equally often, it is divided evenly among them. So with two positions A and B, and C
    for a tie, the series A,A and A,C count for the first position, and B,B and C,B for the second. With more than two
    candidates, the first position is compared with all other positions together.

    Args:
        places: the chosen position in each order, shape (n_series, n_orders).
        winners: the chosen candidate in each order, shape (n_series, n_orders).
        p: number of candidates.

    Returns:
        1 for the first position, 0 for another position, a value between 0 and 1 if the first and another position are
        chosen equally often.

    Source: P3, Section 2.2, which does not say how a series with several positions counts.
    """
    counts = (places[:, :, None] == np.arange(1, p + 1)).sum(axis=1)
    commonest = counts == counts.max(axis=1, keepdims=True)
    return np.where(consistent(winners) == 0, commonest[:, 0] / commonest.sum(axis=1), np.nan)


def leaning(places: np.ndarray, winners: np.ndarray, *, p: int) -> np.ndarray:
    """Contributions of series to preference fairness: 1 for recency, -1 for primacy, 0 if consistent, NaN if not valid.

    The mean over valid series is `preference_fairness`.

    Args:
        places: the chosen position in each order, shape (n_series, n_orders).
        winners: the chosen candidate in each order, shape (n_series, n_orders).
        p: number of candidates.
    """
    first = primacy(places, winners, p=p)
    return np.where(np.isnan(first), np.where(valid(winners), 0.0, np.nan), 1 - 2 * first)


def preference_fairness(pcn: float, rcn: float, n: int) -> float:
    """Preference fairness of n series, of which `pcn` count for primacy and `rcn` for recency.

    P3 defines the raw score rcn x irr - pcn x ipr, where irr = rcn / (rcn + pcn) and ipr = pcn / (rcn + pcn). It is
    (rcn^2 - pcn^2) / (rcn + pcn) = rcn - pcn. So the fairness is (rcn - pcn) / n, and its size is at most the share of
    inconsistent series: |PF| <= 1 - PC. NaN if n is 0.

    Args:
        pcn: number of series that count for primacy; it need not be whole.
        rcn: number of series that count for recency; it need not be whole.
        n: number of series, consistent series included.

    Source: P3, Equation 3, with n and -n as the greatest and the least raw score.
    """
    if not n:
        return np.nan
    inconsistent = pcn + rcn
    ipr, irr = (pcn / inconsistent, rcn / inconsistent) if inconsistent else (0.0, 0.0)
    raw = rcn * irr - pcn * ipr
    return (raw + n) / (2 * n) * 2 - 1


def even_fairness(consistency: float, p: int) -> float:
    """Preference fairness if the positions of a list are chosen equally often in the inconsistent series.

    Series that choose any of the p - 1 positions after the first count together for recency. So the fairness is above 0
    for more than two candidates.

    Args:
        consistency: position consistency, from 0 to 1.
        p: number of positions.
    """
    return (1 - 2 / p) * (1 - consistency)


def random_judge(p: int, ties: float = 0.0, *, orders: int | None = None) -> tuple[float, float]:
    """Position consistency and preference fairness of a judge that chooses at random in each order of p candidates.

    Args:
        p: number of candidates.
        ties: probability of a tie; the candidates share the rest equally.
        orders: number of orders; p by default. The fairness holds if, over these orders, each candidate stands in each
            position equally often.
    """
    count = p if orders is None else orders
    same = ties**count + p * ((1 - ties) / p) ** count
    return same, even_fairness(same, p)


def overall_win_rate(winners: np.ndarray, *, candidate: np.ndarray, p: int) -> np.ndarray:
    """Contribution of each series to a candidate's overall win rate.

    Args:
        winners: the chosen candidate in each order, shape (n_series, n_orders).
        candidate: index of the candidate in each series, from 1, shape (n_series,).
        p: number of candidates.

    Returns:
        Shape (n_series,): 1 if the candidate wins in all orders, 0 if another candidate wins in all orders, 1/p if no
        candidate does. NaN if the series is not valid.

    Source: P3, Section 2.3.
    """
    agreed = consistent(winners)
    won = (agreed == 1) & (winners[:, 0] == candidate)
    nobody = (agreed == 0) | ((agreed == 1) & (winners[:, 0] == TIE))
    return np.where(np.isnan(agreed), np.nan, won + nobody / p)


def disagreement(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability that two reads of a comparison have different winners: in the same order, and in different orders.

    Args:
        counts: number of reads of each comparison in each order with each winner, shape (n, n_orders, 1 + p).

    Returns:
        The mean over a comparison's orders, and the mean over its pairs of orders, each of shape (n,). NaN if an order
        has fewer than two reads with a choice.
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
    """Effects of positions on a judge's choices, by the conditional logit of `preference` over a comparison's reads.

    A tie is an additional option that stands where no candidate stands. Only reads of one comparison are compared with
    each other, so the judge's inclination to call a tie in this comparison cancels. The inclination may also depend on
    the position of the first-numbered candidate (for pairs: on the order): it has a term for each of these positions.
    The result is the order effect of Davidson and Beaver (1977). They assume one constant of ties for all pairs and
    both orders.

    Args:
        winners: the chosen candidate of each read, shape (n, n_reads).
        shown: index of the candidate at each position, from 1, shape (n, n_reads, p).
        cluster: index of each comparison's cluster, from 0, shape (n,).

    Returns:
        The fit, and the number of discordant pairs of reads: only these pairs tell anything. The fit has a coefficient
        for each position, and p last coefficients for the tie, one by the first-numbered candidate's position.
    """
    p = shown.shape[2]
    choices = np.where(winners == TIE, p, np.where(winners == NONE, -1, winners - 1)).astype(np.int8)
    places = np.argsort(shown, axis=2)
    ties = p + (places[..., :1] + np.arange(p)) % p  # the first is the tie; no read chooses the others
    of = preference.of_scores(choices, np.concatenate([places, ties], axis=2).astype(np.int8), cluster)
    return preference.positions(of).fit(), of.discordant


def first_last(p: int) -> np.ndarray:
    """Weights of the first position minus the last among the coefficients of `place_preference`, shape (2 p,)."""
    return np.eye(2 * p)[0] - np.eye(2 * p)[p - 1]


def centred(p: int) -> np.ndarray:
    """Weights of each position minus the mean over positions, for `place_preference`, shape (p, 2 p)."""
    return np.eye(p, 2 * p) - np.repeat([1 / p, 0], p)


def within_pairs(first: np.ndarray, won: np.ndarray, pair: np.ndarray, cluster: np.ndarray, confidence: float) -> Row:
    """Log-odds that the first position adds over the last, among comparisons of the same two candidates.

    A comparison may be read in one order. The two candidates of a pair may be unequal, and one of them may stand first
    more often: comparisons are compared within their pair. The effect is half of Mantel and Haenszel's common log-odds
    ratio of order and winner. Its test is theirs, with clusters as the sample.

    Args:
        first: True if the first-numbered candidate stands first, shape (n,).
        won: 1 if the first-numbered candidate won, 0 if the other won, NaN for a tie or no choice, shape (n,).
        pair: index of each comparison's pair of candidates, from 0, shape (n,).
        cluster: index of each comparison's cluster, from 0, shape (n,).
        confidence: nominal coverage of the interval, such as 0.95.

    Returns:
        `estimate`, `ci_low`, `ci_high`, `p`; and `sizes`, the information of each cluster that has any: the number of
        its choices in pairs with choices in both orders, each weighted by the share of the rarer order.

    Source: Mantel and Haenszel (1959), Statistical aspects of the analysis of data from retrospective studies of
    disease; Davidson and Beaver (1977) for the model in which this is the order effect.
    """
    kept = ~np.isnan(won)
    first, won, pair, cluster = first[kept], won[kept] > 0, pair[kept], cluster[kept]
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
