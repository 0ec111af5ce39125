"""Independence of two orders."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import permutations, randomness
from rubric_order.base.keys import KEYS, stream
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import uniformity
from rubric_order.methods.uncertainty import conditional_logit, fixed_effects, multiplicity, rao_scott, resampling
from rubric_order.methods.uncertainty.resampling import sum_units
from rubric_order.strategies import EVERY_POSITION

COLUMNS = {"scores": [*KEYS, "unit_id", "group_id", "criterion", "criterion_position", "levels", "score", "position"]}


def terms(reads: pd.DataFrame, n: int) -> dict[str, np.ndarray]:
    place = reads["criterion_position"].to_numpy(dtype=int)
    orders = np.array(reads["levels"].tolist(), dtype=int).reshape(len(reads), n)
    position = (place[:, None] == np.arange(1, place.max() + 1)).astype(float)
    levels = np.arange(1, n + 1)
    return {
        "criterion_order": position,
        "level_order": np.hstack([orders[:, [end]] == levels for end in (0, -1)]).astype(float),
    }


class Pairs(NamedTuple):
    """Pairs of reads of one text and criterion with different scores; factors of effects, one row per pair.

    Attributes:
        criterion_order, level_order, interaction: shapes (m, P), (m, n) and (m, P * n).
        group: index of each pair's group, shape (m,).
    """

    criterion_order: np.ndarray
    level_order: np.ndarray
    interaction: np.ndarray
    group: np.ndarray


def pairs_of_reads(reads: pd.DataFrame, n: int) -> Pairs:
    block = pd.factorize(reads["unit_id"] + "\x1f" + reads["criterion"])[0]
    order = np.argsort(block, kind="stable")
    size = np.bincount(block)
    start = np.cumsum(size) - size
    one, two = np.triu_indices(size.max(), 1)
    both = two < size[:, None]  # pairs that a block has, shape (blocks, pairs)
    one, two = (order[(start[:, None] + which)[both]] for which in (one, two))
    score = reads["score"].to_numpy(dtype=int)
    differ = score[one] != score[two]
    one, two = one[differ], two[differ]
    place = reads["criterion_position"].to_numpy(dtype=int)
    orders = np.array(reads["levels"].tolist(), dtype=int).reshape(len(reads), n)
    at = permutations.positions_of(orders)
    places, positions = np.arange(1, place.max() + 1), np.arange(1, n + 1)
    preferred = []  # for each read: 1 at the position of its own score, -1 at the position of the other read's score
    for index, other in ((one, two), (two, one)):
        score_place, rival = (at[index, score[which] - 1][:, None] == positions for which in (index, other))
        preferred.append(score_place.astype(np.int8) - rival.astype(np.int8))
    stands = [(place[index][:, None] == places).astype(np.int8) for index in (one, two)]
    points = (score[one] - score[two]).astype(np.int8)
    products = [(p[:, :, None] * q[:, None, :]).reshape(len(one), -1) for p, q in zip(stands, preferred, strict=True)]
    group = pd.factorize(reads["group_id"], sort=True)[0]
    return Pairs(points[:, None] * (stands[0] - stands[1]), sum(preferred), sum(products), group[one])


def act_apart(pairs: Pairs) -> float:
    if not len(pairs.group):
        return np.nan
    data = conditional_logit.comparisons(np.hstack(pairs[:3]), pairs.group)
    size = pairs.criterion_order.shape[1] + pairs.level_order.shape[1]
    apart = data._replace(rows=data.rows[:, :size])
    return conditional_logit.further_terms(apart, conditional_logit.fit(apart), data.rows[:, size:].astype(float))


def same_selection(counts: np.ndarray) -> float:
    """p-value of equal shares of level positions at each position of the criterion.

    Source: the chi-square test of homogeneity, with the correction of Rao and Scott (1981), second order.
    """
    if len(counts) < 2:
        return np.nan
    shares = counts.sum(axis=(0, 1)) / counts.sum()
    excess = counts - counts.sum(axis=2, keepdims=True) * shares
    # The pooled shares depend on each group's selections; without this step, groups would seem to vary too much.
    of_position = counts.sum(axis=(0, 2)) / counts.sum()
    excess = excess - of_position[:, None] * excess.sum(axis=1, keepdims=True)
    return rao_scott.zero_total(excess.reshape(len(counts), -1))


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Tests of both orders and of their interaction, and the selected level positions for each criterion position.

    ``criterion_order`` and ``level_order`` are tested given the other, with an intercept for each text and criterion.
    ``share``: among the levels selected with the criterion at `criterion_position`.

    Source: conditional logit (McFadden, 1974), with log-odds proportional to the distance of levels, as in the
    adjacent-categories model (Agresti, 2010, Analysis of Ordinal Categorical Data, Section 4.1).
    """
    rows = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        listed = table[(table["levels"].map(len) > 0) & table["strategy"].isin(EVERY_POSITION)]
        for key, reads in listed.groupby(KEYS):
            usable = reads[reads["score"].notna()]
            if usable.empty:
                continue
            name = dict(zip(KEYS, key, strict=True))
            common = name | {
                "n_texts": reads["unit_id"].nunique(),
                "n_groups": reads["group_id"].nunique(),
                "n_scores": len(usable),
                "n_failed": len(reads) - len(usable),
                "confidence": confidence,
                "seed": seed,
            }
            rng = randomness.generator(seed, "crossed orders", *stream(key))
            estimates = [
                *_tests(usable, int(name["n"])),
                *_selections(usable, int(name["n"]), resamples, confidence, rng),
            ]
            rows += [common | row for row in estimates]
    columns = [*KEYS, "quantity", "criterion_position", "position", "estimate", "ci_low", "ci_high", "p", "n_texts"]
    columns += ["n_groups", "n_scores", "n_failed", "n_pairs", "method", "confidence", "seed"]
    return multiplicity.adjust(tidy.make_table_with_gaps(rows, columns))


def _tests(reads: pd.DataFrame, n: int) -> list[Row]:
    columns = terms(reads, n)
    block = pd.factorize(reads["unit_id"] + "\x1f" + reads["criterion"])[0]
    group = pd.factorize(reads["group_id"])[0]
    score = reads["score"].to_numpy(dtype=float)
    rows = []
    for effect, other in (("criterion_order", "level_order"), ("level_order", "criterion_order")):
        p = fixed_effects.no_effect(score, columns[effect], columns[other], block, group)
        rows.append({"quantity": effect, "p": p, "method": "score test, fixed effects of text and criterion"})
    pairs = pairs_of_reads(reads, n)
    details = {"n_pairs": len(pairs.group), "method": "score test, conditional logit of pairs of reads"}
    return [*rows, {"quantity": "interaction", "p": act_apart(pairs)} | details]


def _selections(reads: pd.DataFrame, n: int, resamples: int, confidence: float, rng: np.random.Generator) -> list[Row]:
    group = pd.factorize(reads["group_id"], sort=True)[0]
    place = reads["criterion_position"].to_numpy(dtype=int) - 1
    n_places = int(place.max()) + 1
    cell = place * n + reads["position"].to_numpy(dtype=int) - 1
    of_read = (cell[:, None] == np.arange(n_places * n)).astype(float)
    counts = sum_units(of_read, group)
    weights: np.ndarray = resampling.bootstrap_weights(len(counts), resamples, rng=rng).astype(float)
    drawn = np.vstack([counts.sum(axis=0, keepdims=True), weights @ counts]).reshape(-1, n_places, n)
    if len(counts) < 2:
        drawn[1:] = np.nan
    with np.errstate(invalid="ignore"):
        shares, v = drawn / drawn.sum(axis=-1, keepdims=True), uniformity.cramers_v(drawn)
    low, high = resampling.percentile_interval(shares[1:], confidence)
    v_low, v_high = resampling.percentile_interval(v[1:], confidence)
    method = {"method": f"percentile bootstrap over groups, {resamples} resamples"}
    rows = []
    for p in range(n_places):
        for q in range(n):
            ends = {"estimate": shares[0, p, q], "ci_low": low[p, q], "ci_high": high[p, q]}
            rows.append(method | {"quantity": "share", "criterion_position": p + 1, "position": q + 1} | ends)
        ends = {"estimate": v[0, p], "ci_low": v_low[p], "ci_high": v_high[p]}
        rows.append(method | {"quantity": "cramers_v", "criterion_position": p + 1} | ends)
    p_value = same_selection(counts.reshape(-1, n_places, n))
    rows.append({"quantity": "same_selection", "p": p_value, "method": "homogeneity of shares, groups as the sample"})
    return rows
