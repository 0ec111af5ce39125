"""Rank reversal: whether another order of the options ranks competing candidates differently.

Candidates compete where they answer one prompt and are judged by one criterion. Averages of a few whole scores tie
often, and what a tie counts decides what is found; so each measure says how it treats them.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import KEYS
from rubric_order.methods import blocks, resampling, tidy

COLUMNS = {"scores": blocks.COLUMNS}
# Both are expectations when ties are broken at random, anew in each ranking.
EXPECTED = ("kendall_tau", "top1_flip")
# What is common elsewhere: tau-b leaves out prompts in which all candidates tie; the first of several best is the best.
CUSTOMARY = ("kendall_tau_b", "top1_flip_first")
QUANTITIES = (*EXPECTED, *CUSTOMARY)
# A reversal is less agreement, but more flips.
_REVERSAL = {"kendall_tau": -1, "top1_flip": 1, "kendall_tau_b": -1, "top1_flip_first": 1}


class Rankings(NamedTuple):
    """How far two rankings of each prompt's candidates agree, each of shape (..., n_prompts); NaN where undefined.

    Attributes:
        kendall_tau: concordant less discordant pairs, as a share of all pairs: tau-a, the expectation of Kendall's tau
            when ties are broken at random. NaN with fewer than two candidates.
        top1_flip: probability that the best candidates differ when ties are broken at random. NaN without candidates.
        kendall_tau_b: tau-b, as `scipy.stats.kendalltau` gives it; NaN where either ranking is one tie.
        top1_flip_first: whether the best candidates differ when the first of several is taken, as `numpy.argmax` does.
    """

    kendall_tau: np.ndarray
    top1_flip: np.ndarray
    kendall_tau_b: np.ndarray
    top1_flip_first: np.ndarray


def compare_rankings(scores: np.ndarray, other: np.ndarray) -> Rankings:
    """Compare two rankings of the candidates of each prompt.

    A candidate without a score in either is left out of both.

    Args:
        scores, other: score of each candidate, NaN where there is none, shape (..., n_prompts, n_candidates).

    Source: Xu et al. (2026), Section 4.4, Table 7; the treatment of ties is ours, since the paper gives none.
    """
    missing = np.isnan(scores) | np.isnan(other)
    first, second = np.triu_indices(scores.shape[-1], 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = np.sign(scores[..., first] - scores[..., second])
        y = np.sign(other[..., first] - other[..., second])
        pairs = ~(missing[..., first] | missing[..., second])
        x, y = np.where(pairs, x, 0), np.where(pairs, y, 0)
        balance = (x * y).sum(axis=-1)
        tau = balance / pairs.sum(axis=-1)
        tau_b = balance / np.sqrt((x != 0).sum(axis=-1) * (y != 0).sum(axis=-1))
    scores, other = np.where(missing, -np.inf, scores), np.where(missing, -np.inf, other)
    best = [_share_of_best(ranking, missing) for ranking in (scores, other)]
    empty = missing.all(axis=-1)
    flip = np.where(empty, np.nan, 1 - (best[0] * best[1]).sum(axis=-1))
    first_flip = np.where(empty, np.nan, scores.argmax(axis=-1) != other.argmax(axis=-1))
    return Rankings(tau, flip, tau_b, first_flip)


def _share_of_best(scores: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Probability of each candidate to be the best one when ties are broken at random."""
    best = (scores == scores.max(axis=-1, keepdims=True)) & ~missing
    return best / np.maximum(best.sum(axis=-1, keepdims=True), 1)


def halves(k: int, size: int, count: int, *, rng: np.random.Generator) -> np.ndarray:
    """Random pairs of disjoint subsets of k reads, each of `size` reads.

    Returns:
        Shape (2, count, k), 1 where a read is in the subset.
    """
    rank = rng.permuted(np.tile(np.arange(k), (count, 1)), axis=1)
    return np.stack([rank < size, (rank >= size) & (rank < 2 * size)]).astype(float)


def mean_scores(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Mean score of each item over chosen reads, those without a score left out.

    A sum is divided once, so that equal means tie.

    Args:
        values: items by reads, NaN without a score, shape (n_items, K).
        chosen: 1 for a chosen read, shape (count, K).

    Returns:
        Shape (count, n_items); NaN where no chosen read has a score.
    """
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return (chosen @ np.where(known, values, 0).T) / (chosen @ known.T.astype(float))


def prompts(items: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """The prompts with at least two candidates, and where their scores stand.

    Args:
        items: see `blocks.Block`.

    Returns:
        The group and criterion of each prompt, and the rows of its items padded with -1, shape (n_prompts,
        n_candidates).
    """
    number = items.groupby(["group_id", "criterion"], sort=True).ngroup().to_numpy()
    place = items.groupby(number).cumcount().to_numpy()
    rows = np.full((number.max() + 1, place.max() + 1), -1)
    rows[number, place] = np.arange(len(items))
    first = items.iloc[rows[:, 0]][["group_id", "criterion"]].reset_index(drop=True)
    competing = (rows >= 0).sum(axis=1) > 1
    return first[competing].reset_index(drop=True), rows[competing]


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int, halvings: int = 50
) -> pd.DataFrame:
    """How much the ranking of candidates changes from one strategy to another, beside how much it changes by itself.

    Two rankings from few reads differ also where the order of the options means nothing. So each strategy's reads are
    halved at random and the halves compared, within a strategy and between two, always with the same number of reads.
    What the halves of two strategies disagree more than those of one is due to the strategies.

    Args:
        scores: see `blocks.blocks`; the strategies of a setting lie in one table.
        resamples, confidence, seed: see the package. Groups are drawn: competing candidates cannot be drawn apart, and
            prompts of one group (an article's criteria) depend on each other.
        halvings: random halvings that are averaged over.

    Returns:
        One row a judge, dataset, scale, readout, pair of strategies (`strategy`, `other`), `comparison` and `quantity`
        of `QUANTITIES`, averaged over those of `n_prompts` prompts with at least two candidates for which it is
        defined (`n_defined`). `comparison` is ``between``, all reads of the two strategies (`k`, `k_other`), as in the
        paper; ``between_halves``, ``within_strategy`` and ``within_other``, halves of `k` reads; or ``excess``: the
        reversal between halves of the two strategies less the mean of those within each.

        The expectation of the excess is 0 where the strategies' reads have the same distribution. For independent reads
        and `EXPECTED` quantities it is half the mean squared distance between the strategies' expected rankings, so
        it is at least 0. Two things make it too small rather than too large: halves of `balanced` have no ordering in
        common, and so differ more than independent ones; and strategies can share an answer, such as that to the
        canonical ordering.

    Source: Xu et al. (2026), Sections 4.4 and 5.6, Table 7; the halves, and all intervals, are ours.
    """
    sampling = {"resamples": resamples, "confidence": confidence, "seed": seed, "halvings": halvings}
    parts = []
    shared = [key for key in KEYS if key != "strategy"]
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        settings: dict[tuple, list[blocks.Block]] = {}
        for block in blocks.blocks(table):
            settings.setdefault(tuple(block.keys[key] for key in shared), []).append(block)
        for setting, strategies in settings.items():
            for one, two in itertools.combinations(strategies, 2):
                about = dict(zip(shared, setting, strict=True))
                about |= {"strategy": one.keys["strategy"], "other": two.keys["strategy"]}
                parts += [(about | extra, rows) for extra, rows in _compare_blocks(one, two, **sampling)]
    columns = [*shared[:-1], "strategy", "other", "n", "readout", "comparison", "quantity", "estimate", "ci_low"]
    columns += ["ci_high", "k", "k_other", "n_defined", "n_prompts", "n_groups"]
    table = tidy.from_parts(parts, columns)
    table = table.sort_values([*shared[:-1], "strategy", "other", "n", "readout"], kind="stable", ignore_index=True)
    method = f"percentile bootstrap over groups, {resamples} resamples; {halvings} halvings"
    return table.assign(method=method, confidence=confidence, seed=seed)


def _compare_blocks(
    one: blocks.Block, two: blocks.Block, *, resamples: int, confidence: float, seed: int, halvings: int
) -> Iterator[tuple[dict, dict]]:
    """Every comparison of two strategies' reads, by each readout that both have; see `tidy.from_parts`."""
    known = dict(two.readouts())
    for readout, values in one.readouts():
        if readout not in known:
            continue
        items, left, right = _same_items(one, two, values, known[readout])
        groups, places = prompts(items)
        if groups.empty:
            continue
        size = min(left.shape[1], right.shape[1]) // 2
        rng = randomness.generator(seed, "halvings", left.shape[1], right.shape[1])
        compared = _compare(left, right, places, size, halvings, rng)
        unit = pd.factorize(groups["group_id"], sort=True)[0]
        about = {"readout": readout, "n_prompts": len(groups), "n_groups": int(unit.max()) + 1}
        for comparison, rows in _rows(compared, unit, resamples=resamples, confidence=confidence, seed=seed):
            k = left.shape[1], right.shape[1]
            k = {"k": k[0], "k_other": k[1]} if comparison == "between" else {"k": size, "k_other": size}
            yield about | {"comparison": comparison} | k, rows


def _rows(
    compared: dict[str, np.ndarray], unit: np.ndarray, *, resamples: int, confidence: float, seed: int
) -> Iterator[tuple[str, dict]]:
    """Means over prompts of each comparison, with intervals over groups."""
    means = {}
    for comparison, table in compared.items():
        known = ~np.isnan(table)
        sums = resampling.resampled_sums(
            np.column_stack([np.where(known, table, 0), known]),
            unit,
            resamples=resamples,
            seed=seed,
            name="rank reversal",
        )
        with np.errstate(invalid="ignore"):
            means[comparison] = sums[:, : len(QUANTITIES)] / sums[:, len(QUANTITIES) :]
    defined = {comparison: (~np.isnan(table)).sum(axis=0) for comparison, table in compared.items()}
    if "between_halves" in compared:
        within = (means["within_strategy"] + means["within_other"]) / 2
        means["excess"] = (means["between_halves"] - within) * [_REVERSAL[name] for name in QUANTITIES]
        defined["excess"] = np.min([defined[name] for name in compared if name != "between"], axis=0)
    for comparison, values in means.items():
        low, high = resampling.percentile_interval(values[1:], confidence)
        rows = {"quantity": np.array(QUANTITIES, dtype=object), "estimate": values[0], "ci_low": low, "ci_high": high}
        yield comparison, rows | {"n_defined": defined[comparison]}


def _same_items(
    one: blocks.Block, two: blocks.Block, left: np.ndarray, right: np.ndarray
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The items that both strategies have, with their scores."""
    _, rows, others = np.intersect1d(one.items["item_id"], two.items["item_id"], return_indices=True)
    return one.items.iloc[rows].reset_index(drop=True), left[rows], right[others]


def _compare(
    left: np.ndarray, right: np.ndarray, places: np.ndarray, size: int, halvings: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Each comparison of two strategies' rankings of each prompt, shape (n_prompts, quantities)."""

    def ranked(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        means = np.concatenate([mean_scores(values, chosen), np.full((len(chosen), 1), np.nan)], axis=1)
        return means[:, places]  # -1, the padding, is the column of NaN

    def compare(scores: np.ndarray, other: np.ndarray) -> np.ndarray:
        table = np.stack(compare_rankings(scores, other), axis=-1)
        known = ~np.isnan(table)
        with np.errstate(invalid="ignore"):
            return np.where(known, table, 0).sum(axis=0) / known.sum(axis=0)  # over halvings

    whole = [ranked(values, np.ones((1, values.shape[1]))) for values in (left, right)]
    compared = {"between": compare(*whole)}
    if size == 0:
        return compared
    one, other_one = (ranked(left, chosen) for chosen in halves(left.shape[1], size, halvings, rng=rng))
    two, other_two = (ranked(right, chosen) for chosen in halves(right.shape[1], size, halvings, rng=rng))
    compared["between_halves"] = (compare(one, two) + compare(other_one, other_two)) / 2
    compared["within_strategy"] = compare(one, other_one)
    compared["within_other"] = compare(two, other_two)
    return compared
