"""Studies with a simulated judge, without prompts or answers as text: parsed reads, and true values of the estimates,
over all items that the judge could meet. At temperature 1, and for the soft readout, probabilities are averaged, not
draws.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.methods.position import uniformity
from rubric_order.prompts import orderings
from rubric_order.simulation.judge import Selection, Simulation, human_scores, joined, opinions, quality_of, select

ITEMS_AT_ONCE = 20_000  # number of items whose reads fit into memory
ITEMS_OF_TRUTH = 400_000


class Truth(NamedTuple):
    """The true value of a quantity over all items, and the standard error of its computation."""

    value: np.ndarray
    error: np.ndarray


class Reads(NamedTuple):
    """Reads of several items by one judge.

    Attributes:
        shown: the score at each position, shape (items, reads, n).
        selection: see `judge.select`, one row per read; the reads of an item are consecutive.
        human: mean human score of each item, shape (items,).
    """

    shown: np.ndarray
    selection: Selection
    human: np.ndarray

    @property
    def positions(self) -> np.ndarray:
        """Selected position of each read, 0 where it failed, shape (items, reads)."""
        selected = np.where(self.selection.failed, 0, self.selection.position)
        return selected.reshape(self.shown.shape[:2])

    @property
    def scores(self) -> np.ndarray:
        """Score of each read, NaN where it failed, shape (items, reads)."""
        place = np.maximum(self.positions, 1)[..., None] - 1
        return np.where(self.positions == 0, np.nan, np.take_along_axis(self.shown, place, axis=2)[..., 0])

    @property
    def probabilities(self) -> np.ndarray:
        """Probability of each position in each read, given that it does not fail, shape (items, reads, n)."""
        mass = self.selection.probabilities
        return (mass / mass.sum(axis=1, keepdims=True)).reshape(self.shown.shape)


def read_items(
    judge: Simulation,
    *,
    n: int,
    strategies: Sequence[str],
    budget: int | None = None,
    temperature: float = 1.0,
    groups: int,
    candidates: int = 1,
    raters: int = 3,
    rater_noise: float = 0.75,
    seed: int,
) -> dict[str, Reads]:
    """Reads of new items by strategy; strategies that have a prompt in common share its reads.

    Args:
        n, strategies, budget: see `orderings.choose`.
        groups, candidates: number of groups, and of items in each, which share a quarter of the variance of quality.
        raters, rater_noise: see `judge.human_scores`.
    """
    rng = randomness.generator(seed, "simulated study", n)
    group: np.ndarray = np.repeat(_new_keys(rng, groups), candidates)
    item = _new_keys(rng, len(group))
    quality = quality_of(group, item, item)
    human = human_scores(quality, item, raters=raters, rater_noise=rater_noise).mean(axis=1)
    opinion = opinions(judge, quality, item=item, group=group)
    reads = {}
    for strategy in strategies:
        if strategy == "random":
            count = 2 * n if budget is None else budget
            drawn = orderings.random_orderings(n, len(item) * count, rng=rng)
            orders = drawn.reshape(len(item), count, n)
        else:
            orders = orderings.choose(strategy, n, budget=budget)[None]  # the same for all items
        ordering = orders @ max(10, n) ** np.arange(n)
        key = joined(joined(item[:, None], ordering), _repeats(ordering))
        orders = np.broadcast_to(orders, (*key.shape, n))
        selection = select(
            judge,
            orders.reshape(-1, n),
            opinion=np.repeat(opinion, orders.shape[1]),
            item=np.repeat(item, orders.shape[1]),
            group=np.repeat(group, orders.shape[1]),
            read=key.ravel(),
            temperature=temperature,
        )
        reads[strategy] = Reads(orders, selection, human)
    return reads


def _new_keys(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(0, 2**64, size=count, dtype=np.uint64)


def _repeats(orderings: np.ndarray) -> np.ndarray:
    return np.tril(orderings[:, :, None] == orderings[:, None, :], -1).sum(axis=2)


def as_scores(reads: dict[str, Reads], *, candidates: int = 1, **keys: str) -> pd.DataFrame:
    """Reads in the form of `scores.score_reads`; `keys`: values of the key columns, by default ``simulated``."""
    parts = []
    for strategy, block in reads.items():
        items, count, n = block.shown.shape
        number: np.ndarray = np.arange(items)
        group = [f"g{place:05d}" for place in number // candidates]
        candidate = [f"c{place:02d}" for place in number % candidates]
        names = {"item_id": [f"{g}-{c}" for g, c in zip(group, candidate, strict=True)]}
        names |= {"group_id": group, "candidate": candidate}
        columns = dict.fromkeys(KEYS[:-2], "simulated") | {"profile": DEFAULT_PROFILE, "condition": BASELINE} | keys
        rows = block.shown.reshape(-1, n)
        failed = block.selection.failed
        shares = block.probabilities.reshape(-1, n)
        table = pd.DataFrame(
            columns
            | {name: pd.array(values, dtype="str").repeat(count) for name, values in names.items()}
            | {
                "question": "",
                "criterion": "quality",
                "human_score": np.repeat(block.human, count),
                "probe": "score_order",
                "strategy": strategy,
                "n": n,
                "read_index": np.tile(np.arange(count), items),
                "ordering": list(rows),
                "repeat": _repeats(rows.dot(max(10, n) ** np.arange(n)).reshape(items, count)).ravel(),
                "score": pd.array(block.scores.ravel(), dtype="Int8"),
                "position": pd.array(np.where(failed, np.nan, block.selection.position), dtype="Int8"),
                "failure": np.where(failed, "no_score", None),
                "expected_score": (shares * rows).sum(axis=1),
                "option_mass": block.selection.probabilities.sum(axis=1),
                "position_probabilities": list(shares),
            }
        )
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _batches(judge: Simulation, items: int, seed: int, **study: Any) -> Iterator[dict[str, Reads]]:
    for place in range(-(-items // ITEMS_AT_ONCE)):
        yield read_items(judge, groups=min(ITEMS_AT_ONCE, items - place * ITEMS_AT_ONCE), seed=seed + place, **study)


def true_selection(
    judge: Simulation,
    n: int,
    *,
    strategy: str = "balanced",
    temperature: float = 1.0,
    readout: Readout = Readout.HARD,
    items: int = ITEMS_OF_TRUTH,
    seed: int = 1,
) -> tuple[Truth, Truth]:
    """Share of each position among the judge's selections, shape (n,), and Cramer's V of these shares, over all items.

    Without a preference and an interaction the true shares are 1/n, whatever effects items have: those returned then
    show how good the computation is. Soft readout: the mean probability of the position.
    """
    shares, residual = _shares(_position_totals(judge, n, strategy, temperature, readout, items, seed))
    v = uniformity.cramers_v(shares)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = n / (n - 1) * (shares - 1 / n) / v
    root = np.sqrt(len(residual))
    return Truth(shares, residual.std(axis=0) / root), Truth(v, (residual @ slope).std() / root)


def true_shares(judge: Simulation, n: int, **options: Any) -> Truth:
    return true_selection(judge, n, **options)[0]


def true_v(judge: Simulation, n: int, **options: Any) -> Truth:
    return true_selection(judge, n, **options)[1]


def _position_totals(
    judge: Simulation, n: int, strategy: str, temperature: float, readout: Readout, items: int, seed: int
) -> np.ndarray:
    """Expected number of times that each position is selected in each item, shape (items, n)."""
    totals = []
    for batch in _batches(judge, items, seed, n=n, strategies=[strategy], temperature=temperature):
        reads = batch[strategy]
        if readout == Readout.SOFT:
            expected = reads.probabilities
        elif temperature == 1:
            expected = reads.selection.probabilities.reshape(reads.shown.shape)
        else:
            rates = judge.failure_rates(n)
            expected = ((1 - rates) * np.eye(n))[reads.selection.position - 1].reshape(reads.shown.shape)
        totals.append(expected.sum(axis=1))
    return np.concatenate(totals)


def _shares(per_item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    weight = per_item.sum(axis=1, keepdims=True)
    shares = per_item.sum(axis=0) / weight.sum()
    return shares, (per_item - shares * weight) / weight.mean()


def true_agreement(
    judge: Simulation,
    n: int,
    *,
    strategies: Sequence[str] = ("balanced", "fixed"),
    budget: int | None = None,
    temperature: float = 1.0,
    readout: Readout = Readout.HARD,
    raters: int = 3,
    rater_noise: float = 0.75,
    items: int = ITEMS_OF_TRUTH,
    seed: int = 1,
) -> Truth:
    """Pearson's r of items' mean scores (hard: without failed reads; soft: expected scores) with their mean human
    scores, for each strategy, and the first strategy's r minus the second's; shape (strategies + 1,).
    """
    means: dict[str, list[np.ndarray]] = {strategy: [] for strategy in strategies}
    human = []
    study = {"budget": budget, "temperature": temperature, "raters": raters, "rater_noise": rater_noise}
    for batch in _batches(judge, items, seed, n=n, strategies=strategies, **study):
        for strategy, reads in batch.items():
            expected = (reads.probabilities * reads.shown).sum(axis=2)
            scores = reads.scores if readout == Readout.HARD else expected
            has_score = ~np.isnan(scores)
            with np.errstate(invalid="ignore"):
                means[strategy].append(np.where(has_score, scores, 0).sum(axis=1) / has_score.sum(axis=1))
        human.append(reads.human)
    y = np.concatenate(human)
    both = [_pearson(np.concatenate(means[strategy]), y) for strategy in strategies]
    values = [r for r, _ in both]
    moves = [move for _, move in both]
    values.append(values[0] - values[1] if len(values) > 1 else np.nan)
    moves.append(moves[0] - moves[1] if len(moves) > 1 else np.full(len(y), np.nan))
    return Truth(np.array(values), np.array([move.std() for move in moves]) / np.sqrt(len(y)))


def _pearson(x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    is_known = ~np.isnan(x)
    zx, zy = ((values - values[is_known].mean()) / values[is_known].std() for values in (x, y))
    r = (zx * zy)[is_known].mean()
    return r, np.where(is_known, zx * zy - r * (zx**2 + zy**2) / 2, 0) / is_known.mean()
