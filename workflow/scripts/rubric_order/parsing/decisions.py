"""Answers of decision models: the probability of each option, from their JSON. No text is parsed.

`decisions` is OpenAI's dialect: a list of answers, by name or in the order of the questions. `systemone` is TypeSafe's:
a mapping by name. Sources: ``openai/types/decision.py`` of the pinned client; docs/decisions.md.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from rubric_order.parsing.choices import Choice

Dialect = Literal["decisions", "systemone"]
Question = Literal["score", "choice", "predicate"]

REFUSAL = "refusal"  # the model declines to answer a question
MISSING_LEVEL = "missing_level"  # an option has no probability, or two
BAD_PROBABILITIES = "bad_probabilities"  # a probability is below 0, above 1 or no number, or the sum is not 1
TIED = "tied"  # several options are equally the most probable
CHOSEN, MOST_PROBABLE = "chosen", "most_probable"  # values of `pattern` of a choice

ROUNDING = 0.005  # largest error of a probability that is rounded to two decimals
SLACK = 1e-6
EQUAL = 1e-9  # largest difference of two probabilities that count as equal
NAME = "score"  # name of the only question, in the dialect that finds answers by names
TYPES: Mapping[Dialect, Mapping[Question, str]] = {
    "decisions": {"score": "score", "choice": "choice", "predicate": "predicate"},
    "systemone": {"score": "score", "choice": "choice", "predicate": "noul"},
}


class Form(NamedTuple):
    """Dialect and question: `score` (an ordered rubric), `choice` (named levels), `predicate` (yes or no per level)."""

    dialect: Dialect
    question: Question

    @classmethod
    def of(cls, named: Sequence[str]) -> "Form":
        """The form for the names of a dialect and a question, which settings have checked."""
        dialect, question = named
        return cls(cast("Dialect", dialect), cast("Question", question))


class Decision(NamedTuple):
    """Probability of each position's option, summing to 1, and the position (from 0) that the model names, or None."""

    probabilities: tuple[float, ...]
    chosen: int | None

    def choice(self, labels: Sequence[str]) -> Choice:
        """The label of the option that the model names, or else of the most probable option; a tie chooses none."""
        if self.chosen is not None:
            return Choice(labels[self.chosen], CHOSEN)
        values = np.array(self.probabilities)
        best = np.flatnonzero(values >= values.max() - EQUAL)
        return Choice(labels[best[0]], MOST_PROBABLE) if len(best) == 1 else Choice(None, reason=TIED)


class DecisionError(ValueError):
    """An answer that gives no probabilities; `reason` is None where it lacks the dialect's form."""

    def __init__(self, reason: str | None, details: str = "") -> None:
        super().__init__(details)
        self.reason = reason


def value_of(label: str) -> str:
    """Name of a level in a `choice`: no bare number, because JavaScript sorts keys that are numbers."""
    return f"Score {label}"


def names_of(form: Form, labels: Sequence[str], number: int = 0) -> list[str]:
    """Names of the questions about one ordering, whose `number` in the request is from 1, or 0 for a single one."""
    names = [value_of(label) for label in labels] if form.question == "predicate" else [NAME]
    return [f"{name} ({number})" if number else name for name in names]


def read_all(content: object, form: Form, labels: Sequence[Sequence[str]]) -> list["Decision | DecisionError"]:
    """A decision, or its error, for each ordering asked about; raises if the answer lacks the dialect's form."""
    numbers = range(1, len(labels) + 1) if len(labels) > 1 else [0]
    names = [names_of(form, of_one, number) for number, of_one in zip(numbers, labels, strict=True)]
    answers = iter(_answers(content, form, [name for of_one in names for name in of_one]))
    decisions: list[Decision | DecisionError] = []
    for of_one, asked in zip(labels, names, strict=True):
        parts = [next(answers) for _ in asked]
        try:
            decisions.append(_decision(parts, form, of_one))
        except DecisionError as error:
            if error.reason is None:
                raise
            decisions.append(error)
    return decisions


def read(content: object, form: Form, labels: Sequence[str]) -> Decision:
    """The decision in an answer about one ordering, see `read_all`.

    >>> answer = {"type": "predicate", "probability": 0.125}
    >>> read({"answers": [answer, {**answer, "probability": 0.375}]}, Form("decisions", "predicate"), "12")
    Decision(probabilities=(0.25, 0.75), chosen=None)
    """
    (decision,) = read_all(content, form, [labels])
    if isinstance(decision, DecisionError):
        raise decision
    return decision


def _decision(given: Sequence[object], form: Form, labels: Sequence[str]) -> Decision:
    """The decision in the answers about one ordering, or `DecisionError`."""
    answers = [_checked(answer, form) for answer in given]
    if form.question == "predicate":
        field = "noul" if form.dialect == "systemone" else "probability"
        return Decision(_normalised([_probability(answer.get(field)) for answer in answers]), None)
    (answer,) = answers
    values = [value_of(label) for label in labels] if form.question == "choice" else list(range(len(labels)))
    probabilities = _sum_checked(_value_probabilities(answer.get("probabilities"), values))
    chosen = answer.get("choice") if form.question == "choice" else None
    if chosen is not None and chosen not in values:
        raise DecisionError(None, f"it chooses {chosen!r:.60}, which is no option")
    return Decision(probabilities, None if chosen is None else values.index(chosen))


def reread(text: str, form: Form, labels: Sequence[Sequence[str]], place: int = 0) -> Choice:
    """The choice of a stored answer for the ordering `place` of `labels`, see `read_all`; no text raises an error."""
    try:
        decision = read_all(json.loads(text), form, labels)[place]
        if isinstance(decision, Decision):
            return decision.choice(labels[place])
        return Choice(None, reason=decision.reason)
    except Exception:  # JSON that is cut off, or whatever else a store may hold
        return Choice(None, reason=MISSING_LEVEL)


def _answers(content: object, form: Form, names: Sequence[str]) -> list[object]:
    """The answer to each question; None for a question without an answer."""
    answers = content.get("answers") if isinstance(content, Mapping) else None
    if form.dialect == "systemone":
        if not isinstance(answers, Mapping):
            raise DecisionError(None, "it has no mapping `answers`")
        return [answers.get(name) for name in names]
    if not isinstance(answers, list):
        raise DecisionError(None, "it has no list `answers`")
    labels = [answer.get("name") or None if isinstance(answer, Mapping) else None for answer in answers]
    if len(answers) == len(names) and all(name in (None, asked) for name, asked in zip(labels, names, strict=True)):
        return answers
    by_name: dict[str, object] = {}
    for name, answer in zip(labels, answers, strict=True):
        if isinstance(name, str):  # two different answers to a question are none
            by_name[name] = answer if by_name.get(name, answer) == answer else None
    if by_name.keys().isdisjoint(names):
        raise DecisionError(None, f"it has {len(answers)} answers, none with the name of one of {len(names)} questions")
    return [by_name.get(name) for name in names]


def _checked(answer: object, form: Form) -> Mapping[str, Any]:
    """An answer to one question; raises for a refusal, no mapping, or another type."""
    if answer is None:
        raise DecisionError(REFUSAL, "a question has no answer")
    if not isinstance(answer, Mapping):
        raise DecisionError(None, "an answer is no mapping")
    expected, kind = TYPES[form.dialect][form.question], answer.get("type")
    if kind == "refusal":
        raise DecisionError(REFUSAL)
    if kind is not None and kind != expected:
        raise DecisionError(None, f"an answer is of type {kind!r:.40}, expected {expected!r}")
    return answer


def _value_probabilities(listed: object, values: Sequence[int | str]) -> list[float]:
    """Probability of each value, from records, a list in order, or a mapping; raises if one is missing or wrong."""
    pairs: list[tuple[object, object]]
    if isinstance(listed, Mapping):
        by_text = {str(value): value for value in values}
        pairs = [(by_text.get(key, key), probability) for key, probability in listed.items()]
    elif isinstance(listed, list) and all(isinstance(entry, Mapping) for entry in listed):
        pairs = [(entry.get("value"), entry.get("probability")) for entry in listed]
    elif isinstance(listed, list) and len(listed) == len(values):
        pairs = list(zip(values, listed, strict=True))
    else:
        raise DecisionError(None, "it has no probabilities")
    shares: dict[object, float] = {}
    for value, probability in pairs:
        # True is 1 in Python, and no level here.
        if isinstance(value, bool) or not isinstance(value, int | str) or value not in values:
            raise DecisionError(MISSING_LEVEL, f"{value!r:.60} is no option")
        if value in shares:
            raise DecisionError(MISSING_LEVEL, f"{value!r:.60} has two probabilities")
        shares[value] = _probability(probability)
    missing = [value for value in values if value not in shares]
    if missing:
        raise DecisionError(MISSING_LEVEL, f"no probability of {', '.join(map(repr, missing))}")
    return [shares[value] for value in values]


def _probability(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DecisionError(BAD_PROBABILITIES, f"{value!r:.40} is no number")
    if not -SLACK <= value <= 1 + SLACK:
        raise DecisionError(BAD_PROBABILITIES, f"{value!r:.40} is no probability")
    return min(max(float(value), 0.0), 1.0)


def _sum_checked(values: Sequence[float]) -> tuple[float, ...]:
    if abs(sum(values) - 1) > len(values) * ROUNDING + SLACK:
        raise DecisionError(BAD_PROBABILITIES, f"they sum to {sum(values):.6g}")
    return _normalised(values)


def _normalised(values: Sequence[float]) -> tuple[float, ...]:
    total = sum(values)
    if not total > 0:
        raise DecisionError(BAD_PROBABILITIES, "all are 0")
    return tuple(value / total for value in values)
