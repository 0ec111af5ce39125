"""Items of known quality (see `judge.latent_quality`) for rehearsals and for the simulated judge, which knows it."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair, Turn
from rubric_order.datasets.rubrics import MAX_LEVELS, Rubric
from rubric_order.simulation import judge

LEVELS = 9  # default number of levels of the rubrics
LENGTH = 400  # characters of a response of middling length


class Simulated(Adapter):
    files = ()

    def read(
        self,
        *,
        dataset: str,
        n_groups: int = 40,
        n_candidates: int = 8,
        candidates: Sequence[str] | None = None,
        criteria: Sequence[str] = ("quality",),
        levels: int = LEVELS,
        raters: int = 3,
        rater_noise: float = 0.75,
        length_spread: float = 0.0,
        references: bool = False,
        labels: int = 0,
        turns: int = 0,
        categories: Sequence[str] = (),
        pairs: str | None = None,
        preferences: bool = False,
    ) -> Iterator[Item | Pair]:
        """Items of simulated groups, candidates and criteria; docs/simulation.md has the options.

        `rater_noise` is in standard deviations of quality, `length_spread` that of log length about the median
        `LENGTH`.
        """
        whole = {"n_groups": (n_groups, 1), "n_candidates": (n_candidates, 1), "raters": (raters, 0)}
        whole |= {"labels": (labels, 0), "turns": (turns, 0)}
        _check(f"dataset {dataset}: options", whole, criteria, levels, rater_noise, length_spread)
        names_of_candidates = (
            [f"c{number:02d}" for number in range(1, n_candidates + 1)] if candidates is None else list(candidates)
        )
        if pairs not in (None, "all", *names_of_candidates):
            expected = f"all or one of {', '.join(map(repr, names_of_candidates))}"
            raise InputError(f"dataset {dataset}: options: pairs: expected {expected}, found {pairs!r:.60}")
        rubrics = {name: _rubric(name, levels) for name in criteria}
        places = [
            (f"g{group:04d}", candidate, criterion)
            for group in range(1, n_groups + 1)
            for candidate in names_of_candidates
            for criterion in criteria
        ]
        ids = ["-".join(place) for place in places]
        quality = judge.latent_quality(dataset, ids)
        rater_keys = judge.keys(f"raters\x1f{dataset}\x1f{item_id}" for item_id in ids)
        scores = judge.human_scores(quality, rater_keys, raters=raters, rater_noise=rater_noise)
        golden = judge.human_scores(quality, rater_keys, raters=labels, rater_noise=rater_noise / 3)
        wanted = np.exp(length_spread * judge.latent_length(dataset, ids)) * (LENGTH if length_spread else 0)
        rows = zip(places, ids, scores.tolist(), golden.tolist(), wanted.tolist(), strict=True)
        for (group, candidate, criterion), item_id, row, golden_scores, length in rows:
            response = _response(f"What {candidate} responds to task {group}.", length)
            reference = f"What should be responded to task {group}." if references else None
            yield Item(
                where=f"dataset {dataset}: item {item_id}",
                item_id=item_id,
                group_id=group,
                candidate=candidate,
                instruction=f"Task {group} of {dataset}.",
                response=response,
                rubric=rubrics[criterion],
                reference=reference,
                human_scores=row,
                reference_labels=golden_scores,
                category=categories[(int(group[1:]) - 1) % len(categories)] if categories else None,
                turns=[Turn(f"Turn {turn} of task {group}.", response, reference) for turn in range(1, turns + 1)]
                or None,
            )
        if pairs is not None:
            yield from _pairs(places, quality, pairs, known=preferences)


def _pairs(places: Sequence[tuple[str, str, str]], quality: np.ndarray, pairs: str, *, known: bool) -> Iterator[Pair]:
    """The pairs of the candidates of each group under each criterion, see `read`."""
    better = dict(zip(places, quality.tolist(), strict=True))
    candidates = list(dict.fromkeys(candidate for _, candidate, _ in places))
    with_one = [(pairs, name) for name in candidates if name != pairs]
    compared = list(itertools.combinations(candidates, 2)) if pairs == "all" else with_one
    for group, criterion in dict.fromkeys((group, criterion) for group, _, criterion in places):
        for one, other in compared:
            first, second = (group, one, criterion), (group, other, criterion)
            yield Pair(
                where=f"dataset: pair {'-'.join(first)} and {other}",
                pair_id=f"{group}-{one}-{other}-{criterion}",
                group_id=group,
                item_a="-".join(first),
                item_b="-".join(second),
                preference=("a" if better[first] > better[second] else "b") if known else None,
                criterion=criterion,
            )


def _check(
    where: str,
    whole: Mapping[str, tuple[object, int]],
    criteria: Any,
    levels: Any,
    rater_noise: Any,
    length_spread: Any,
) -> None:
    """Check the options of `read`; `whole` has the value and the minimum of each option that is a whole number."""
    for name, (value, low) in whole.items():
        if type(value) is not int or value < low:
            raise InputError(f"{where}: {name}: expected a whole number from {low}, found {value!r:.60}")
    if type(levels) is not int or not 2 <= levels <= MAX_LEVELS:
        raise InputError(f"{where}: levels: expected a whole number from 2 to {MAX_LEVELS}, found {levels!r:.60}")
    if type(rater_noise) not in (int, float) or not 0 <= rater_noise < float("inf"):
        raise InputError(f"{where}: rater_noise: expected a number from 0, found {rater_noise!r:.60}")
    if isinstance(criteria, str) or not criteria or not all(_is_id(name) for name in criteria):
        raise InputError(f"{where}: criteria: expected a list of ids without hyphens, found {criteria!r:.60}")
    if type(length_spread) not in (int, float) or not 0 <= length_spread <= 2:
        raise InputError(f"{where}: length_spread: expected a number from 0 to 2, found {length_spread!r:.60}")


def _response(text: str, length: float) -> str:
    missing = max(0, round(length) - len(text))
    return text + (" and so on" * (missing // 10 + 1))[:missing].rstrip()


def _is_id(name: object) -> bool:
    return isinstance(name, str) and name.replace("_", "").isalnum()


def _rubric(criterion: str, levels: int) -> Rubric:
    name = criterion.replace("_", " ")
    texts = (f"It reaches level {level} of {levels} in {name}." for level in range(1, levels + 1))
    return Rubric(f"simulated_{criterion}_{levels}", criterion, f"How good is the response in {name}?", tuple(texts))
