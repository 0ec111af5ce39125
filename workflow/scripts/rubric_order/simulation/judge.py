"""A judge whose bias is known by construction; docs/simulated.md has the model.

Comparisons are Davidson's model (1970), rankings Plackett's (1975). Every random number is a hash of the item, prompt
or read that it belongs to, so results do not depend on the order, the chunks or the shards in which requests are
answered.
"""

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from scipy import special

from rubric_order.settings.judges.recorded import Rehearsed
from rubric_order.settings.judges.simulated import Simulated

# Shapes of the preference for positions, as functions of a place from 0 (first position) to 1 (last position).
SHAPES = {
    "none": lambda place: 0 * place,
    "first": lambda place: 1 - place,
    "last": lambda place: place,
    "u_shaped": lambda place: (2 * place - 1) ** 2,
}
LOW, HIGH = 1.0, 5.0  # values of the lowest and the highest score, on every scale
GROUP_SHARE, TEXT_SHARE = 0.25, 0.5  # shares of the variance of quality; the rest is the item's own
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

# Purposes of the random numbers of a key: each purpose has its own numbers.
_GROUP, _TEXT, _CRITERION, _ERROR, _ITEM_SCORES, _ITEM_POSITIONS, _PROMPT, _SELECT, _FAIL, _RATERS = range(1, 11)
_GROUP_ERROR, _GROUP_SCORES, _GROUP_POSITIONS, _LENGTH, _RANK, _GROUP_ATTRACTION, _WRITE, _REVIEW = range(11, 19)


@dataclass(frozen=True)
class Simulation:
    """Parameters of a simulated judge, each described in `settings.judges.simulated.Simulation`. Log-weights are
    natural logarithms: 1 makes an option e times as probable.
    """

    seed: int = 0
    leniency: float = 0.0
    spread: float = 1.0
    item_error: float = 0.5
    group_error: float = 0.0
    tolerance: float = 0.75
    decisiveness: float = 1.0
    usual_decisiveness: float = 1.0
    preference: str | Sequence[float] = "none"
    preference_strength: float = 1.0
    interaction: float | Sequence[Sequence[float]] = 0.0
    item_scores: float = 0.0
    item_positions: float = 0.0
    group_scores: float = 0.0
    group_positions: float = 0.0
    prompts: float = 0.0
    criterion_position: float | Sequence[float] = 0.0
    carry_over: float = 0.0
    tie: float = 0.0
    length: float = 0.0
    padding: float = 1.0
    own_family: float = 0.0
    family: Sequence[str] = ()
    id_preference: Mapping[str, float] = field(default_factory=dict)
    number_attraction: float = 0.0
    text_attraction: float = 0.0
    group_attraction: float = 0.0
    writing_error: float = 0.0
    reviewing_error: float = 0.0
    failure_rate: float | Sequence[float] = 0.0
    seconds_per_request: float = 0.0

    @classmethod
    def of(cls, judge: Simulated | Rehearsed) -> Self:
        return cls(**(judge.simulation.block() if judge.simulation else {}))

    def position_weights(self, n: int) -> np.ndarray:
        if isinstance(self.preference, str):
            return self.preference_strength * SHAPES[self.preference](np.linspace(0, 1, n))
        return self.preference_strength * _stretched(self.preference, n)

    def interaction_weights(self, n: int) -> np.ndarray:
        """Log-weight of each score (rows) at each position (columns), shape (n, n)."""
        if isinstance(self.interaction, int | float):
            centred = np.linspace(-1, 1, n)
            return -self.interaction * np.outer(centred, centred)
        rows = np.array([_stretched(row, n) for row in self.interaction])
        return np.array([_stretched(column, n) for column in rows.T]).T

    def failure_rates(self, n: int) -> np.ndarray:
        return _stretched(np.atleast_1d(self.failure_rate), n)

    def criterion_shifts(self, n: int) -> np.ndarray:
        """Amount that each position among n criteria adds to the judge's opinion, shape (n,)."""
        if isinstance(self.criterion_position, int | float):
            return self.criterion_position * np.linspace(0, 1, n)
        return _stretched(self.criterion_position, n)


class Wording(NamedTuple):
    """Content of prompts other than the order of their options.

    Attributes:
        ids: written form of each score 1 to n in each read, shape (reads, n).
        number, text: score that the prompt states for the reference answer, and score for which its text was written,
            shape (reads,); 0 where none is shown.
    """

    ids: np.ndarray
    number: np.ndarray
    text: np.ndarray


class Selection(NamedTuple):
    """Selections of the judge, one per read.

    Attributes:
        position: 1-based position of the selected option, shape (reads,).
        failed: whether the answer has no score, shape (reads,).
        probabilities: of the option at each position, shape (reads, n); failures have the rest.
    """

    position: np.ndarray
    failed: np.ndarray
    probabilities: np.ndarray


def _stretched(values: Sequence[float], n: int) -> np.ndarray:
    return np.asarray(np.interp(np.linspace(0, 1, n), np.linspace(0, 1, len(values)), np.asarray(values, dtype=float)))


def values(n: int) -> np.ndarray:
    return np.linspace(LOW, HIGH, n)


def keys(parts: Iterable[str]) -> np.ndarray:
    digests = b"".join(hashlib.blake2b(part.encode(), digest_size=8).digest() for part in parts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def joined(key: np.ndarray, other: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return _mixed(key + _GOLDEN * _mixed(np.asarray(other, dtype=np.uint64)))


def _mixed(key: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): each bit of the result depends on the whole key."""
    mixed = key ^ (key >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)  # arrays overflow without a warning
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def uniforms(key: np.ndarray, purpose: int, count: int) -> np.ndarray:
    """Independent uniform numbers in (0, 1) for each key and a purpose, shape (keys, count)."""
    with np.errstate(over="ignore"):
        start = _mixed(np.asarray(key, dtype=np.uint64) + _GOLDEN * np.uint64(purpose))
        bits = _mixed(start[:, None] + _GOLDEN * np.arange(1, count + 1, dtype=np.uint64))
    bits >>= np.uint64(12)
    numbers: np.ndarray = bits.astype(float)
    numbers += 0.5
    numbers /= 2.0**52
    return numbers


def normals(key: np.ndarray, purpose: int, count: int) -> np.ndarray:
    return special.ndtri(uniforms(key, purpose, count))


def latent_quality(dataset: str, item_ids: Sequence[str]) -> np.ndarray:
    """Quality of items, standard normal over many groups, shape (items,). Of the variance, items with the same first
    part of the id (a group) share a quarter, those that differ in the last part alone (one text, several criteria)
    half.
    """
    groups = [item.partition("-")[0] for item in item_ids]
    texts = [item.rpartition("-")[0] if item.count("-") > 1 else item for item in item_ids]
    return quality_of(*(_quality_keys(dataset, ids) for ids in (groups, texts, item_ids)))


def _quality_keys(dataset: str, names: Sequence[str]) -> np.ndarray:
    return keys(f"quality\x1f{dataset}\x1f{name}" for name in names)


def quality_of(group: np.ndarray, text: np.ndarray, item: np.ndarray) -> np.ndarray:
    """Quality of items, from the keys of their groups, of their texts and of the items, shape (items,)."""
    parts = (
        (group, _GROUP, GROUP_SHARE),
        (text, _TEXT, TEXT_SHARE),
        (item, _CRITERION, 1 - GROUP_SHARE - TEXT_SHARE),
    )
    return sum(np.sqrt(share) * normals(key, purpose, 1)[:, 0] for key, purpose, share in parts)


def human_scores(quality: np.ndarray, item: np.ndarray, *, raters: int, rater_noise: float) -> np.ndarray:
    """Whole scores 1 to 5 that simulated people give, shape (items, raters); `rater_noise` in standard deviations of
    quality.
    """
    opinion = quality[:, None] + rater_noise * normals(item, _RATERS, raters)
    return np.clip(np.rint((LOW + HIGH) / 2 + opinion), LOW, HIGH)


def opinions(simulation: Simulation, quality: np.ndarray, *, item: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Opinion of the judge on items, in values, from their quality and keys, shape (items,)."""
    seen = quality + simulation.item_error * normals(item, _ERROR, 1)[:, 0]
    if simulation.group_error:
        seen = seen + simulation.group_error * normals(group, _GROUP_ERROR, 1)[:, 0]
    return (LOW + HIGH) / 2 + simulation.leniency + simulation.spread * seen


def select(
    simulation: Simulation,
    shown: np.ndarray,
    *,
    opinion: np.ndarray,
    item: np.ndarray,
    group: np.ndarray,
    read: np.ndarray,
    temperature: float,
    wording: Wording | None = None,
) -> Selection:
    """Select an option in each read.

    Args:
        shown: the score at each position, shape (reads, n).
        opinion: see `opinions`, shape (reads,).
        item, group, read: keys, shape (reads,). A prompt is an item and an ordering.
        temperature: at 0 the most probable option is selected.
        wording: None if prompts differ only in the order of the options.
    """
    n = shown.shape[1]
    # A row for each position: Numpy is quick with few long rows, and slow with many short ones.
    weights = np.ascontiguousarray(_weights(simulation, shown, opinion, item, group, wording).T)
    weights -= weights.max(axis=0)
    probabilities = _shares(np.exp(weights), axis=0)
    if temperature == 0:
        selected = weights.argmax(axis=0)
    else:
        drawn_from = probabilities if temperature == 1 else _shares(np.exp(weights / temperature), axis=0)
        chance = uniforms(read, _SELECT, 1)[:, 0]
        selected = sum(chance > cumulated for cumulated in itertools.accumulate(drawn_from[:-1]))
    rates = simulation.failure_rates(n)
    failed = uniforms(read, _FAIL, 1)[:, 0] < rates[selected]
    return Selection(selected + 1, failed, np.ascontiguousarray(probabilities.T) * (1 - rates))


def latent_length(dataset: str, item_ids: Sequence[str]) -> np.ndarray:
    return normals(keys(f"length\x1f{dataset}\x1f{item_id}" for item_id in item_ids), _LENGTH, 1)[:, 0]


class Comparison(NamedTuple):
    """Verdicts of the judge on prompts that compare candidates.

    Attributes:
        places: positions from 0, the best first, n for a tie; shape (reads, 1), or (reads, n) for rankings.
        failed: whether the answer has no verdict, shape (reads,).
        probabilities: that each position (or a tie, in a last column) is named best; failures have the rest.
    """

    places: np.ndarray
    failed: np.ndarray
    probabilities: np.ndarray


def compare(
    simulation: Simulation,
    shown: np.ndarray,
    merit: np.ndarray,
    *,
    unit: np.ndarray,
    group: np.ndarray,
    read: np.ndarray,
    temperature: float,
    tie: bool,
    ranking: bool,
) -> Comparison:
    """Compare candidates in each read.

    Args:
        shown: the candidate at each position, shape (reads, n).
        merit: log-weight of each candidate in canonical order, without its position's, shape (reads, n).
        unit, group, read: keys of the pair or list, its group and the read, shape (reads,).
    """
    n = shown.shape[1]
    weights = np.take_along_axis(merit, shown - 1, axis=1) + simulation.position_weights(n)
    for size, key, purpose in (
        (simulation.item_positions, unit, _ITEM_POSITIONS),
        (simulation.group_positions, group, _GROUP_POSITIONS),
    ):
        if size:
            weights = weights + size * normals(joined(key, np.full(len(key), n)), purpose, n)
    if tie:
        weights = np.column_stack([weights, simulation.tie + merit.mean(axis=1)])
    if simulation.prompts:
        prompt = joined(unit, shown @ max(10, n) ** np.arange(n))
        weights = weights + simulation.prompts * normals(prompt, _PROMPT, weights.shape[1])
    weights = weights - weights.max(axis=1, keepdims=True)
    # The option with the greatest sum of log-weight and Gumbel noise is a draw from the softmax. The order of all these
    # sums is a draw without replacement.
    noise = -np.log(-np.log(uniforms(read, _RANK, weights.shape[1]))) if temperature else 0
    order = np.argsort(-(weights + temperature * noise), axis=1, kind="stable")
    places = order if ranking else order[:, :1]
    rates = simulation.failure_rates(n)
    rates = np.append(rates, rates.mean()) if tie else rates
    failed = uniforms(read, _FAIL, 1)[:, 0] < rates[places[:, 0]]
    return Comparison(places, failed, _shares(np.exp(weights), axis=1) * (1 - rates))


def _weights(
    simulation: Simulation,
    shown: np.ndarray,
    opinion: np.ndarray,
    item: np.ndarray,
    group: np.ndarray,
    wording: Wording | None,
) -> np.ndarray:
    """Log-weight of the option at each position of each read, shape (reads, n): decisiveness * (-(v_s - m_i)^2 / (2
    tolerance^2) + effects on scores) + effects of positions, of the wording, and of one prompt.
    """
    n = shown.shape[1]
    scores: np.ndarray = shown - 1

    def of(key: np.ndarray, purpose: int) -> np.ndarray:
        """Effects of each key on n scores or positions, which differ between scales. Runs of one key are drawn once."""
        first = np.append(True, key[1:] != key[:-1])[: len(key)]
        drawn = normals(joined(key[first], np.full(first.sum(), n)), purpose, n)
        return drawn[np.cumsum(first) - 1]

    weights = -((values(n)[scores] - opinion[:, None]) ** 2) / (2 * simulation.tolerance**2)
    for size, key, purpose in (
        (simulation.item_scores, item, _ITEM_SCORES),
        (simulation.group_scores, group, _GROUP_SCORES),
    ):
        if size:
            weights += size * np.take_along_axis(of(key, purpose), scores, axis=1)
    weights *= simulation.decisiveness
    weights += simulation.position_weights(n) + simulation.interaction_weights(n)[scores, np.arange(n)]
    if wording is not None:
        weights += _wording_weights(simulation, shown, group, wording)
    for size, key, purpose in (
        (simulation.item_positions, item, _ITEM_POSITIONS),
        (simulation.group_positions, group, _GROUP_POSITIONS),
    ):
        if size:
            weights += size * of(key, purpose)
    if simulation.prompts:
        prompt = joined(item, shown @ max(10, n) ** np.arange(n))
        weights += simulation.prompts * normals(prompt, _PROMPT, n)
    if simulation.usual_decisiveness != 1:
        weights[(shown == np.arange(1, n + 1)).all(axis=1)] *= simulation.usual_decisiveness
    return weights


def written_level(simulation: Simulation, wanted: np.ndarray, read: np.ndarray, n: int) -> np.ndarray:
    step = (HIGH - LOW) / (n - 1)
    return np.clip(wanted + simulation.writing_error / step * normals(read, _WRITE, 1)[:, 0], 1, n)


def matches(simulation: Simulation, level: np.ndarray, wanted: np.ndarray, read: np.ndarray, n: int) -> np.ndarray:
    step = (HIGH - LOW) / (n - 1)
    seen = level + simulation.reviewing_error / step * normals(read, _REVIEW, 1)[:, 0]
    return np.abs(seen - wanted) <= 0.5 / step


def _wording_weights(simulation: Simulation, shown: np.ndarray, group: np.ndarray, wording: Wording) -> np.ndarray:
    """Log-weight that IDs and a reference answer give the option at each position, shape (reads, n)."""
    ids, number = np.unique(wording.ids, return_inverse=True)
    worth = np.array([simulation.id_preference.get(label, 0.0) for label in ids])[number.reshape(shown.shape)]
    weights = np.take_along_axis(worth, shown - 1, axis=1)
    pull = np.full(len(shown), simulation.number_attraction)
    if simulation.group_attraction:
        pull += simulation.group_attraction * normals(group, _GROUP_ATTRACTION, 1)[:, 0]
    for level, attraction in ((wording.number, pull), (wording.text, simulation.text_attraction)):
        weights -= np.where(level > 0, attraction, 0.0)[:, None] * np.abs(shown - level[:, None])
    return weights


def _shares(weights: np.ndarray, *, axis: int) -> np.ndarray:
    return weights / weights.sum(axis=axis, keepdims=True)
