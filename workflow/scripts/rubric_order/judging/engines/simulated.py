"""A judge that computes its answers, see `simulation`: no model, no network, and a known bias."""

import dataclasses
import itertools
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from rubric_order import __version__
from rubric_order.base.keys import BASELINE
from rubric_order.judging.engines import Engine, Request, Response, given
from rubric_order.prompts import conditions
from rubric_order.settings.judges.simulated import Simulated
from rubric_order.simulation import judge as simulation
from rubric_order.simulation.judge import Selection, Simulation, Wording

BATCH_REQUESTS = 4096  # requests that are computed together

_PRAISE = (
    "The response falls short of the criterion in nearly every respect.",
    "The response has clear weaknesses under this criterion.",
    "The response meets the criterion in part.",
    "The response meets the criterion well, with small lapses.",
    "The response meets the criterion in full.",
)
_REMARKS = (
    "It should be read beside the descriptions of the levels.",
    "Some passages carry more than others.",
    "The main points are addressed in turn.",
)

# Answers without a score, each with its finish reason. Names in braces are filled in.
FEEDBACK_FAILURES = (
    ("", "stop"),
    ("Feedback: {remark} I cannot give a score here.", "stop"),
    ("Feedback: {remark} The response addresses", "length"),
    ("Feedback: {remark} [RESULT] {half}", "stop"),
    ("Feedback: {remark} [RESULT] {above}", "stop"),
    ("Feedback: {remark} [RESULT] 1 or [RESULT] 2", "stop"),
)
COMPARED = ("position", "position_or_tie", "ranking")  # kinds of labels where candidates are compared
REFERENCES = {
    "text": "_write",
    "verdict": "_review",
}  # kind of label to the method: for reference answers, and for their reviews
COMPARISON_FAILURES = (
    ("", "stop"),
    ("I cannot say.", "stop"),
    ("[[A]] or [[B]]", "stop"),
    ("Both have their", "length"),
)
# Text that the judge writes as a reference answer. Another simulated judge can read the level from it.
WRITTEN = "A simulated answer. [level {level:.2f} of {n}] It stands for a text that is exactly as good as that."
_LEVEL = re.compile(r"\[level ([0-9]\.[0-9]{2}) of ([0-9]{1,2})\]")
SCORE_FAILURES = (("", "stop"), ("I cannot say.", "stop"), ("{half}", "stop"), ("{above}", "stop"), ("1 or 2", "stop"))


class SimulatedEngine(Engine[Simulated]):
    """A simulated judge under fixed parameters."""

    JUDGE = Simulated

    def start(self) -> None:
        self.simulation = Simulation.of(self.judge)

    def describe(self) -> dict[str, Any]:
        return {"engine": "simulated", "engine_version": __version__}

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        delay = self.simulation.seconds_per_request
        waiting = iter(requests)
        while batch := list(itertools.islice(waiting, BATCH_REQUESTS)):
            # Requests that are computed together have one shape and one temperature.
            batch.sort(key=_kind)
            for (*_, questions, label_kind, profile), alike in itertools.groupby(batch, key=_kind):
                temperature = given(self.judge.under(profile).sampling.temperature)
                answers = self._answer_several if questions > 1 else self._answer_one
                if label_kind in COMPARED:
                    answers = self._compare
                elif label_kind in REFERENCES:
                    answers = getattr(self, REFERENCES[label_kind])
                for response in answers(list(alike), temperature):
                    if delay:
                        time.sleep(delay)
                    yield response

    def _answer_one(self, requests: Sequence[Request], temperature: float) -> Iterator[Response]:
        """Answers to one question, whose options the prompt shows in some order."""
        n = len(requests[0].labels)
        orderings = np.array([request.shown.ordering for request in requests], dtype=int).reshape(len(requests), n)
        items = [(request.dataset, request.unit_id) for request in requests]
        wording = _wording(requests, n)
        selection = self._select(self.simulation, requests, items, orderings, temperature, shift=0.0, wording=wording)
        scores = np.take_along_axis(orderings, selection.position[:, None] - 1, axis=1)[:, 0]
        logprobs = _score_logprobs(selection, orderings)
        remarks = _remarks(requests)
        for place, request in enumerate(requests):
            score, remark = int(scores[place]), int(remarks[place])
            failed = selection.failed[place]
            text, reason = self._failure(n, remark) if failed else self._text(score, request.labels, remark)
            score_only = self.judge.answer_format == "score"
            yield Response(
                request.request_id,
                text=text,
                finish_reason=reason,
                option_logprobs=logprobs[place].tolist() if score_only else None,
                option_token=0 if score_only else None,
            )

    def _answer_several(self, requests: Sequence[Request], temperature: float) -> Iterator[Response]:
        """Answers to several questions, one line each; a failed question has none. Only a crossed design lists the
        levels: else no position of a level can be preferred.
        """
        places, n = len(requests[0].questions), len(requests[0].labels)
        crossed = bool(requests[0].shown.levels)
        order = [request.shown.levels or range(1, n + 1) for request in requests]
        orderings = np.array(order, dtype=int).reshape(len(requests), n)
        judge = self.simulation
        if not crossed:
            effects = {"preference": "none", "interaction": 0.0, "item_positions": 0.0, "group_positions": 0.0}
            judge = dataclasses.replace(judge, **effects)  # type: ignore[arg-type]
        lines: list[list[str]] = [[] for _ in requests]
        logprobs = []
        carried = np.zeros(len(requests))
        for place, shift in enumerate(self.simulation.criterion_shifts(places)):
            items = [(request.dataset, _item_of(request, place)) for request in requests]
            selection = self._select(judge, requests, items, orderings, temperature, shift=shift + carried, place=place)
            scores = np.take_along_axis(orderings, selection.position[:, None] - 1, axis=1)[:, 0]
            logprobs.append(_score_logprobs(selection, orderings))
            for line, request, score, failed in zip(
                lines, requests, scores.tolist(), selection.failed.tolist(), strict=True
            ):
                if not failed:
                    line.append(f"[{request.questions[place].name}] {request.labels[score - 1]}")
            middle = (simulation.LOW + simulation.HIGH) / 2
            carried = self.simulation.carry_over * (simulation.values(n)[scores - 1] - middle)
        score_only = self.judge.answer_format == "score"
        for request, line, options in zip(requests, lines, np.hstack(logprobs), strict=True):
            text = "\n".join(line if score_only else [f"Feedback: {_REMARKS[0]}", *line])
            yield Response(
                request.request_id,
                text=text,
                finish_reason="stop",
                option_logprobs=options.tolist() if score_only else None,
            )

    def _compare(self, requests: Sequence[Request], temperature: float) -> Iterator[Response]:
        """Answers that say which candidate is best, or rank them all."""
        orderings = np.array([request.shown.ordering for request in requests], dtype=int)
        (label_kind,) = {request.questions[0].names for request in requests}
        units = [f"{request.dataset}\x1f{request.unit_id}" for request in requests]
        groups = [f"{request.dataset}\x1f{request.options[0].partition('-')[0]}" for request in requests]
        head = f"judge\x1f{self.judge.model}\x1f{self.simulation.seed}"
        comparison = simulation.compare(
            self.simulation,
            orderings,
            self._merit(requests, head),
            unit=simulation.keys(f"{head}\x1funit\x1f{unit}" for unit in units),
            group=simulation.keys(f"{head}\x1fgroup\x1f{group}" for group in groups),
            read=simulation.keys(f"read\x1f0\x1f{request.request_id}" for request in requests),
            temperature=temperature,
            tie=label_kind == "position_or_tie",
            ranking=label_kind == "ranking",
        )
        with np.errstate(divide="ignore"):
            logprobs = np.log(comparison.probabilities)
        score_only = self.judge.answer_format == "score"
        rows = zip(requests, comparison.places.tolist(), comparison.failed.tolist(), logprobs.tolist(), strict=True)
        for (request, places, failed, options), remark in zip(rows, _remarks(requests).tolist(), strict=True):
            verdict = " > ".join(request.labels[place] for place in places)
            said = COMPARISON_FAILURES[remark % len(COMPARISON_FAILURES)] if failed else (verdict, "stop")
            text = said[0] if score_only or failed else f"{_REMARKS[remark % len(_REMARKS)]} [[{verdict}]]"
            yield Response(
                request.request_id,
                text=text,
                finish_reason=said[1],
                option_logprobs=options if score_only else None,
                option_token=0 if score_only else None,
            )

    def _write(self, requests: Sequence[Request], temperature: float) -> Iterator[Response]:
        """Reference answers, of the level that was asked for plus an error of the judge."""
        wanted = np.array([request.shown.levels[0] for request in requests], dtype=float)
        sizes = np.array([_asked_scale(request.prompt) for request in requests])
        levels = np.zeros(len(requests))
        for n in np.unique(sizes):
            rows = np.flatnonzero(sizes == n)
            key = simulation.keys(f"write\x1f{requests[row].request_id}" for row in rows)
            levels[rows] = simulation.written_level(self.simulation, wanted[rows], key, int(n))
        for request, level, n in zip(requests, levels.tolist(), sizes.tolist(), strict=True):
            yield Response(request.request_id, text=WRITTEN.format(level=level, n=n), finish_reason="stop")

    def _review(self, requests: Sequence[Request], temperature: float) -> Iterator[Response]:
        """Verdicts: yes if the text has the level that was asked for. Texts by judges of other kinds get no verdict."""
        wanted = np.array([request.shown.levels[0] for request in requests], dtype=float)
        levels = [_LEVEL.search(request.prompt) for request in requests]
        for row, (request, level) in enumerate(zip(requests, levels, strict=True)):
            if level is None:
                yield Response(request.request_id, text="I cannot say.", finish_reason="stop")
                continue
            key = simulation.keys([f"review\x1f{request.request_id}"])
            seen = np.array([float(level[1])])
            (fits,) = simulation.matches(self.simulation, seen, wanted[[row]], key, int(level[2]))
            yield Response(request.request_id, text="Yes." if fits else "No.", finish_reason="stop")

    def _merit(self, requests: Sequence[Request], head: str) -> np.ndarray:
        """Log-weight of each candidate of each request, without effects of its position, shape (reads, n)."""
        judge = self.simulation
        items = [(request.dataset, item) for request in requests for item in request.options]
        merit: dict[tuple[str, str], float] = {}
        for dataset in {dataset for dataset, _ in items}:
            ids = sorted({item for name, item in items if name == dataset})
            item_keys = simulation.keys(f"{head}\x1f{dataset}\x1f{item}" for item in ids)
            parts = [item.partition("-") for item in ids]
            group_keys = simulation.keys(f"{head}\x1fgroup\x1f{dataset}\x1f{group}" for group, _, _ in parts)
            quality = simulation.latent_quality(dataset, ids)
            opinion = simulation.opinions(judge, quality, item=item_keys, group=group_keys)
            family = np.array([name.startswith(tuple(judge.family)) for _, _, name in parts], dtype=float)
            length = simulation.latent_length(dataset, ids)
            values = judge.decisiveness * opinion + judge.length * length + judge.own_family * family
            merit |= dict(zip(((dataset, item) for item in ids), values.tolist(), strict=True))
        table = np.array([merit[item] for item in items]).reshape(len(requests), -1)
        return table + judge.length * judge.padding * _padded(requests, table.shape[1])

    def _select(
        self,
        judge: Simulation,
        requests: Sequence[Request],
        items: Sequence[tuple[str, str]],
        orderings: np.ndarray,
        temperature: float,
        *,
        shift: float | np.ndarray,
        place: int = 0,
        wording: Wording | None = None,
    ) -> Selection:
        """Selections of a judge, one for each request.

        Args:
            items: dataset and id of the item that each request is about.
            orderings: of the options, shape (requests, n).
            shift: added to the opinion of the item, for all requests or for each.
            place: index of the question in the prompt, from 0.
            wording: see `_wording`.
        """
        index = {item: number for number, item in enumerate(dict.fromkeys(items))}
        of_item = np.array([index[item] for item in items])
        head = f"judge\x1f{self.judge.model}\x1f{self.simulation.seed}"
        item_keys = simulation.keys(f"{head}\x1f{dataset}\x1f{item_id}" for dataset, item_id in index)
        groups = ((dataset, item_id.partition("-")[0]) for dataset, item_id in index)
        group_keys = simulation.keys(f"{head}\x1fgroup\x1f{dataset}\x1f{group}" for dataset, group in groups)
        quality = np.zeros(len(index))
        for dataset in {dataset for dataset, _ in index}:
            rows = [number for (name, _), number in index.items() if name == dataset]
            quality[rows] = simulation.latent_quality(dataset, [item for name, item in index if name == dataset])
        for item, request in zip(items, requests, strict=True):
            if request.unit_id and "[level " in request.prompt and (level := _level_to_judge(request.prompt)):
                quality[index[item]] = level
        read_keys = simulation.keys(f"read\x1f{place}\x1f{request.request_id}" for request in requests)
        opinion = simulation.opinions(judge, quality, item=item_keys, group=group_keys)[of_item] + shift
        return simulation.select(
            judge,
            orderings,
            opinion=opinion,
            item=item_keys[of_item],
            group=group_keys[of_item],
            read=read_keys,
            temperature=temperature,
            wording=wording,
        )

    def _text(self, score: int, labels: Sequence[str], remark: int) -> tuple[str, str]:
        label = labels[score - 1]
        if self.judge.answer_format == "score":
            return label, "stop"
        praise = _PRAISE[round((score - 1) * (len(_PRAISE) - 1) / (len(labels) - 1))]
        return f"Feedback: {praise} {_REMARKS[remark % len(_REMARKS)]} [RESULT] {label}", "stop"

    def _failure(self, n: int, remark: int) -> tuple[str, str]:
        kinds = SCORE_FAILURES if self.judge.answer_format == "score" else FEEDBACK_FAILURES
        text, reason = kinds[remark % len(kinds)]
        return text.format(remark=_REMARKS[0], half=f"{n - 1}.5", above=n + 1), reason


def _asked_scale(prompt: str) -> int:
    (scale,) = re.findall(r"on the scale from 1 \(worst\) to ([0-9]{1,2}) \(best\)", prompt)[:1]
    return int(scale)


def _level_to_judge(prompt: str) -> float | None:
    """Quality of the response to judge if a simulated judge wrote it as a reference answer; another reference answer
    that the prompt shows does not count.
    """
    response = prompt.partition("###Response to evaluate:")[2].partition("###")[0]
    if (level := _LEVEL.search(response)) is None:
        return None
    low, high = simulation.LOW, simulation.HIGH
    value = low + (float(level[1]) - 1) * (high - low) / (int(level[2]) - 1)
    return value - (low + high) / 2


def _kind(request: Request) -> tuple[int, int, int, int, str, str]:
    form, questions = request.shown, request.questions
    sizes = len(request.labels), len(form.ordering), len(form.levels), len(questions)
    return *sizes, questions[0].names, request.profile


def _padded(requests: Sequence[Request], n: int) -> np.ndarray:
    """1 for each candidate that the condition of its request pads, else 0, shape (reads, n)."""
    padded = np.zeros((len(requests), n))
    for row, request in enumerate(requests):
        before, separator, number = request.shown.condition.partition("padded_")
        if separator and not before:
            padded[row, int(number) - 1] = 1
    return padded


def _wording(requests: Sequence[Request], n: int) -> Wording | None:
    """Wording of the prompts, apart from the order of the levels; None if all have the usual wording."""
    condition_names = [request.shown.condition for request in requests]
    if {*condition_names} == {BASELINE} or not all(name in conditions.Offered() for name in {*condition_names}):
        return None
    said = [conditions.read(name, n) for name in condition_names]
    text = np.array([condition.reference or 0 for condition in said])
    number = np.where(text > 0, [condition.id_level for condition in said], 0)
    return Wording(np.array([request.labels for request in requests]), number, text)


def _item_of(request: Request, place: int) -> str:
    return f"{request.unit_id}-{request.questions[place].name.lower().replace(' ', '_')}"


def _score_logprobs(selection: Selection, orders: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        logprobs: np.ndarray = np.log(np.take_along_axis(selection.probabilities, np.argsort(orders, axis=1), axis=1))
    return logprobs


def _remarks(requests: Sequence[Request]) -> np.ndarray:
    return simulation.keys(f"remark\x1f{request.request_id}" for request in requests) >> np.uint64(33)
