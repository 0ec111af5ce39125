"""Common parts of the probes that show several candidates: their units, conditions and prompts.

A unit is a pair or list of items of one group under one criterion; the first position is always A. Conditions: `tie`,
`no_tie` (else `OFFERS_TIE`); `length_sentence` against judging by length (not MT-Bench's own); `padded_1`, `padded_2`
(50% longer, nothing new); `truncated` to the shortest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rubric_order import strategies
from rubric_order.base import randomness
from rubric_order.base.errors import InputError, UnfitError
from rubric_order.base.keys import BASELINE
from rubric_order.parsing.choices import Choice
from rubric_order.probes import Kind, Probe, Question, Shown, Unit, _comparisons

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from jinja2 import Template

    from rubric_order.settings.judges.judge import Judge
    from rubric_order.settings.studies import Study

# `papers/...`: a prompt as printed in a paper, question and responses included.
PROMPT_NAMES = ("mt_bench", "devbench", "papers/shi2025_devbench", "relative", "letter")
PAPERS = "papers/"
TEMPLATE = "compare_"  # beginning of a template file's name; the name of a prompt follows that is not a paper's
DEVBENCH = ("devbench", "papers/shi2025_devbench")
OFFERS_TIE = dict.fromkeys((*PROMPT_NAMES, "own"), False) | {"mt_bench": True}
RANKING = "ranking"
LETTERS = "ABCDEFGHIJ"
COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")  # from 2 on
RANKS = ("best", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
MATH = "math"  # task for which the prompt of MT-Bench shows reference answers
# From a textbook section on debiasing judges (46.3), its answer to Q2.
LENGTH_SENTENCE = "Judge on correctness, not length; favor concise correct answers over long verbose ones."
PADDING_SHARE = 0.5
PADDING = (
    "To sum up, the points above are what this answer has to say.",
    "They should be read together, one after the other.",
    "As has been said, each of them stands where it belongs.",
    "With that in mind, the answer above can be read once more from the beginning.",
    "In short, what was to be said has been said above.",
    "This closes the answer that was given above.",
)


class Candidates(Probe):
    """Probe whose units are pairs or lists of candidates, as many as one of `SIZES`."""

    SIZES: Sequence[int]
    SOURCE = "shi2025"
    CONDITIONS: tuple[str, ...] = (BASELINE, "tie", "no_tie", "length_sentence", "padded_1", "padded_2", "truncated")
    PROMPTS = MappingProxyType(dict.fromkeys(PROMPT_NAMES))  # each prompt fits any format of answers
    COMPARES = True
    FIELDS: Mapping[str, str] = {
        "candidates": "the candidates in the order of the read, each once: `{{ one.response }}`, or `one.turns`, each "
        "with `user` and `assistant`; its label is `{{ one.label }}` (`A`, `B`, ...) and its position "
        "`{{ one.number }}`",
        "instruction": "what the candidates answer",
        "criterion": "what the rubric asks; none where there is none",
        "reference": "a reference answer; none where there is none",
        "references": "for tasks in mathematics: the turns with their reference answers",
        "n": "the number of candidates",
        "count": "the number of candidates as a word: two, three, ...",
        "options": "how many answers are offered, as a word",
        "tie": "the label of a tie in condition `tie`; otherwise none",
        "ranking": "whether a ranking is asked for, as in condition `ranking`",
        "example": "the example of a ranking",
        "length_sentence": "the sentence about length in condition `length_sentence`; otherwise none",
    }
    COLUMNS = _comparisons.COLUMNS

    def template(self, judge: Judge, prompt: str | None = None) -> str:
        """Template of the prompt that a study names; else `letter` if a judge only writes a score, or `mt_bench`."""
        prompt = prompt or ("letter" if judge.answer_format == "score" else "mt_bench")
        return prompt if prompt.startswith(PAPERS) else TEMPLATE + prompt

    def try_template(self, template: Template, n: int) -> None:
        """Render a user's template for n candidates, with and without a tie: each once and in order, and all labels."""
        for condition in (BASELINE, "tie"):
            items = [
                {"response": text, "turns": [{"user": "a question", "assistant": text, "reference": None}]}
                | {"instruction": "an instruction", "reference": None, "category": "a task"}
                for text in (f"\x02{k}\x03" for k in range(1, n + 1))
            ]
            labels = _labels(n, False, condition)
            text = _prompt(template, items, "a criterion", labels, Shown(tuple(range(1, n + 1)), (), condition))
            if re.findall("\x02([0-9]+)\x03", text) != [str(k) for k in range(1, n + 1)]:
                raise UnfitError("the template does not write its candidates once each and in order")
            for label in labels:
                if not re.search(rf"\b{label}\b", text):
                    said = "a tie" if label not in LETTERS[:n] else f"the candidate at place {LETTERS.index(label) + 1}"
                    raise UnfitError(f"the template does not write {label}, the label of {said}")

    def choose(self, strategy: str, options: int, *, budget: int | None, rng: np.random.Generator | None) -> np.ndarray:
        from rubric_order.prompts import orderings

        return orderings.choose_candidates(strategy, options, budget=budget, rng=rng)

    def problems(self, study: Study) -> Iterator[str]:
        """Settings of a study that do not fit; with recorded answers all do, because no judge is asked."""
        if study.strategies == ["recorded"]:
            return
        for n in study.scales:
            if n not in self.SIZES:
                expected = f"{self.SIZES[0]}" if len(self.SIZES) == 1 else f"{self.SIZES[0]} to {self.SIZES[-1]}"
                yield f"/scales: probe {study.probe!r} shows {expected} candidates together, found {n}"
                continue
            budget = n if study.budget is None else study.budget
            for strategy in study.strategies:
                if strategy in self.STRATEGIES and strategies.STRATEGIES[strategy].rounds and budget % n:
                    yield f"/budget: strategy {strategy!r} reads {n} candidates in steps of {n}, found {budget}"
        if study.prompt == "relative" and (study.scales != [2] or {"tie", RANKING} & {*study.conditions}):
            yield "/prompt: 'relative' compares two responses without a tie"
        if study.prompt in DEVBENCH and RANKING in study.conditions:
            yield f"/prompt: {study.prompt!r} asks for one choice, not for a ranking"

    def questions(self, reads: pd.DataFrame) -> list[tuple[Question, ...]]:
        rows = zip(reads["labels"], reads["ordering"], reads["condition"], strict=True)
        return [_question(tuple(labels), len(ordering), condition) for labels, ordering, condition in rows]

    def parse(self, text: str, questions: Sequence[Question], *, truncated: bool) -> tuple[Choice, ...]:
        from rubric_order.parsing import verdict

        (question,) = questions
        if question.names == RANKING:
            return (verdict.parse_ranking(text, question.labels, truncated=truncated),)
        tie = question.names == "position_or_tie"
        return (verdict.parse_verdict(text, question.labels, tie=tie, truncated=truncated),)

    def score(
        self, reads: pd.DataFrame, questions: Sequence[tuple[Question, ...]], choices: Sequence[tuple[Choice, ...]]
    ) -> pd.DataFrame:
        return _comparisons.score(reads, questions, choices)


def unit(
    unit_id: str,
    items: Sequence[Mapping[str, Any]],
    about: Mapping[str, Any],
    *,
    template: Template,
    prompt: str,
    criterion: str | None,
) -> Unit:
    """Unit of one pair or list of items in canonical order; InputError if they lack what the prompt asks for."""
    first, prompt = items[0], prompt.removeprefix(TEMPLATE)
    _check(prompt, items, criterion)
    labels = _labels(len(items), OFFERS_TIE[prompt], BASELINE)
    derived = {
        "dataset": first["dataset"],
        "item_id": unit_id,
        "group_id": first["group_id"],
        "criterion": first["criterion"],
        "human_score": float("nan"),
        "benchmark": first["dataset"],
        "task": first["category"],
        "source_id": _source(first["group_id"], first["category"]),
        "candidates": [item["candidate"] for item in items],
        "labels": list(labels),
        "lengths": [len(item["response"]) for item in items],
        "input_length": _input_length(first),
    }
    return Unit(
        unit_id,
        tuple(item["item_id"] for item in items),
        {**derived, **about},
        partial(_questions_of, labels, len(items)),
        partial(_prompt, template, items, criterion, labels),
    )


def _input_length(item: Mapping[str, Any]) -> int:
    turns = item["turns"]
    return len(item["instruction"]) if turns is None else sum(len(turn["user"]) for turn in turns)


def _check(prompt: str, items: Sequence[Mapping[str, Any]], criterion: str | None) -> None:
    where = f"item {items[0]['item_id']!r:.60} of dataset {items[0]['dataset']!r}"
    if prompt == "mt_bench" and any(item["turns"] is None or len(item["turns"]) != 2 for item in items):
        raise InputError(f"{where}: prompt 'mt_bench' shows two turns of a conversation; expected another prompt")
    if prompt in (*DEVBENCH, "relative") and criterion is None:
        raise InputError(f"{where}: prompt {prompt!r} shows the criterion of a rubric; the item has no rubric")


def _source(group: str, category: str | None) -> str:
    """Source that several questions share: the group's id less underscore and category."""
    if isinstance(category, str) and group.lower().endswith(f"_{category.lower()}"):
        return group[: -len(category) - 1]
    return group


@cache
def _labels(n: int, tie: bool, condition: str) -> tuple[str, ...]:
    tie = {"tie": True, "no_tie": False, RANKING: False}.get(condition, tie)
    return tuple(LETTERS[: n + tie])


@cache
def _question(labels: tuple[str, ...], n: int, condition: str) -> tuple[Question, ...]:
    written = _labels(n, len(labels) > n, condition)
    kind: Kind = "ranking" if condition == RANKING else "position_or_tie" if len(written) > n else "position"
    return (Question("", written, kind),)


def _questions_of(labels: tuple[str, ...], n: int, shown: Shown) -> tuple[Question, ...]:
    return _question(labels, n, shown.condition)


def sampled(unit_ids: Sequence[str], comparisons: Mapping[str, Any]) -> set[str]:
    """The units that a study reads; the draw does not depend on their order."""
    ids, size = sorted(unit_ids), comparisons["sample"]
    if size is None or size >= len(ids):
        return set(ids)
    rng = randomness.generator(comparisons["seed"], "sampled comparisons", len(ids))
    return {ids[place] for place in rng.permutation(len(ids))[:size]}


def records(items: pd.DataFrame) -> dict[str, Mapping[str, Any]]:
    """Dictionary from item id to item, as a mapping."""
    return {item["item_id"]: item for item in items.to_dict("records")}


def criteria(rubrics: pd.DataFrame) -> dict[str, str]:
    """Dictionary from rubric id to the question that the rubric asks."""
    return dict(zip(rubrics["rubric_id"], rubrics["question"], strict=True))


# --- prompts


def _prompt(
    template: Template, items: Sequence[Mapping[str, Any]], criterion: str | None, labels: tuple[str, ...], shown: Shown
) -> str:
    """The prompt that shows the candidates in one order."""
    n = len(items)
    (question,) = _question(labels, n, shown.condition)
    texts = _texts(items, shown.condition)
    candidates = [
        {"label": LETTERS[place], "number": place + 1, **texts[option - 1]}
        for place, option in enumerate(shown.ordering)
    ]
    first = items[0]
    turns = first["turns"] if first["turns"] is not None else ()
    return template.render(
        n=n,
        count=COUNTS[n - 2],
        options=COUNTS[len(question.labels) - 2],
        candidates=candidates,
        tie=question.labels[-1] if question.names == "position_or_tie" else None,
        ranking=shown.condition == RANKING,
        example=" > ".join(RANKS[:n]),
        length_sentence=LENGTH_SENTENCE if shown.condition == "length_sentence" else None,
        instruction=first["instruction"],
        reference=first["reference"] if isinstance(first["reference"], str) else None,
        references=[turn for turn in turns if turn["reference"]] if first["category"] == MATH else [],
        criterion=criterion,
    )


def _texts(items: Sequence[Mapping[str, Any]], condition: str) -> list[dict[str, Any]]:
    """Texts of the candidates under a condition: the whole response, and the turns of a conversation."""
    responses = _varied([item["response"] for item in items], condition, last=True)
    lengths = {0 if item["turns"] is None else len(item["turns"]) for item in items}
    if len(lengths) > 1 or 0 in lengths:
        return [{"response": response, "turns": []} for response in responses]
    by_turn = [[item["turns"][place] for item in items] for place in range(lengths.pop())]
    said = [_varied([turn["assistant"] for turn in turns], condition, last=turns is by_turn[-1]) for turns in by_turn]
    return [
        {
            "response": response,
            "turns": [
                {"user": turns[place]["user"], "assistant": texts[place]}
                for turns, texts in zip(by_turn, said, strict=True)
            ],
        }
        for place, response in enumerate(responses)
    ]


def _varied(texts: Sequence[str], condition: str, *, last: bool) -> list[str]:
    if condition == "truncated":
        shortest = min(map(len, texts))
        return [cut(text, shortest) for text in texts]
    padded = condition.startswith("padded_") and last
    return [pad(text) if padded and condition == f"padded_{k}" else text for k, text in enumerate(texts, start=1)]


def cut(text: str, length: int) -> str:
    """A text of at most `length` characters, cut after a word."""
    if len(text) <= length:
        return text
    beginning = text[: length + 1]
    words = max(beginning.rfind(" "), beginning.rfind("\n"))
    return (beginning[:words] if words > 0 else beginning[:length]).rstrip()


def pad(text: str) -> str:
    """A text with sentences at its end that say nothing new; they make it longer by `PADDING_SHARE`."""
    wanted, added = PADDING_SHARE * len(text), []
    for sentence in itertools.cycle(PADDING):
        added.append(sentence)
        if sum(map(len, added)) + len(added) > wanted:
            return f"{text}\n\n{' '.join(added)}"
    raise AssertionError("the cycle has no end")
