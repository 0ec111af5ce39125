"""Answers of functions: the values that a function may return, and the response made from them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from rubric_order.judging.engines import Request, Response

MOST_CHARACTERS = 4 * 2**20  # longest text
MOST_TOKENS = 2**31 - 1
MOST_PROBABILITY = 1.01  # greatest sum of the probabilities of all labels: 1, and rounding


@dataclass(frozen=True)
class Answer:
    """Answer of a function that judges. It has either a `text` or a `score`.

    Attributes:
        text: text that the judge wrote; it is parsed like any judge's text.
        score: the label of the prompt that the judge chose, such as 4; it is parsed like the text ``4``.
        probabilities: probability of each label of the prompt, such as ``{1: 0.1, 2: 0.9}``. For a prompt with several
            criteria, a mapping from the name of each criterion to such probabilities. None if they are not known.
        reasoning: the judge's reasoning; it is kept, and not parsed.
        finish_reason: ``length`` where the text was cut off.
        model: name of the model that answered.
        prompt_tokens, completion_tokens, cached_tokens: tokens that the call used.
    """

    text: str | None = None
    score: int | str | None = None
    probabilities: Mapping[Any, Any] | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


FIELDS = tuple(field.name for field in fields(Answer))
EXPECTED = "expected text, a score as a whole number, or Answer(...)"


class WrongAnswerError(Exception):
    """A function has returned a value that is not an answer."""


def response(request: Request, returned: object) -> Response:
    """The response from a returned text, score, `Answer`, or mapping with its fields. A score becomes the text that
    names it.
    """
    answer = _answer(returned)
    if (answer.text is None) == (answer.score is None):
        there = "both" if answer.text is not None else "neither"
        raise WrongAnswerError(f"expected either a text or a score, found {there}")
    text = _text(answer.text, "text") if answer.score is None else _score(answer.score)
    counts = {name: _count(getattr(answer, name), name) for name in FIELDS if name.endswith("_tokens")}
    if (counts["cached_tokens"] or 0) > (counts["prompt_tokens"] or 0):
        raise WrongAnswerError("cached_tokens: expected a part of prompt_tokens")
    return Response(
        request.request_id,
        text=text,
        finish_reason=_text(answer.finish_reason, "finish_reason") or "stop",
        option_logprobs=None if answer.probabilities is None else _logprobs(request, answer.probabilities),
        reasoning=_text(answer.reasoning, "reasoning"),
        model=_text(answer.model, "model"),
        prompt_tokens=counts["prompt_tokens"],
        completion_tokens=counts["completion_tokens"],
        cached_tokens=counts["cached_tokens"],
    )


def _answer(returned: object) -> Answer:
    if isinstance(returned, Answer):
        return returned
    if isinstance(returned, str):
        return Answer(text=returned)
    if isinstance(returned, Integral) and not isinstance(returned, bool):
        return Answer(score=int(returned))
    if isinstance(returned, Mapping):
        if unknown := [key for key in returned if key not in FIELDS]:
            raise WrongAnswerError(f"unknown key {unknown[0]!r:.60}; expected {', '.join(FIELDS)}")
        return Answer(**returned)
    raise WrongAnswerError(f"{EXPECTED}, found {type(returned).__name__} {returned!r:.80}")


def _text(value: object, name: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise WrongAnswerError(f"{name}: expected text, found {type(value).__name__} {value!r:.80}")
    if len(value) > MOST_CHARACTERS:
        raise WrongAnswerError(f"{name}: expected at most {MOST_CHARACTERS:,} characters, found {len(value):,}")
    return str(value)


def _score(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return str(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    raise WrongAnswerError(f"score: expected a whole number or a label, found {type(value).__name__} {value!r:.80}")


def _count(value: object, name: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= int(value) <= MOST_TOKENS:
        raise WrongAnswerError(f"{name}: expected a number of tokens, found {value!r:.80}")
    return int(value)


def _logprobs(request: Request, probabilities: object) -> list[float]:
    """Log-probabilities of the labels of each question, in the form of `Response.option_logprobs`."""
    if not request.names:
        return _label_logprobs(request.labels, probabilities, "probabilities")
    of_criteria = _mapping(request.names, probabilities, "probabilities", "criterion")
    return [
        logprob
        for name in request.names
        for logprob in _label_logprobs(request.labels, of_criteria[name], f"probabilities: {name}")
    ]


def _label_logprobs(labels: Sequence[str], probabilities: object, where: str) -> list[float]:
    by_label = _mapping(labels, probabilities, where, "label")
    for label, value in by_label.items():
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not 0 <= float(value) <= MOST_PROBABILITY:
            raise WrongAnswerError(f"{where}: {label}: expected a probability, found {value!r:.80}")
    total = math.fsum(float(value) for value in by_label.values())
    if not 0 < total <= MOST_PROBABILITY:
        raise WrongAnswerError(f"{where}: expected a sum above 0 and up to 1, found {total:.4g}")
    return [math.log(value) if value > 0 else -math.inf for value in (float(by_label[label]) for label in labels)]


def _mapping(names: Sequence[str], given: object, where: str, kind: str) -> dict[str, Any]:
    """A mapping whose keys are exactly the given names. Keys may also be given as numbers, which become text."""
    if not isinstance(given, Mapping):
        raise WrongAnswerError(f"{where}: expected a mapping by {kind}, found {type(given).__name__} {given!r:.80}")
    by_name = {str(key): value for key, value in given.items()}
    if sorted(by_name) != sorted(names) or len(by_name) != len(given):
        listed = ", ".join(map(str, given)) or "none"
        raise WrongAnswerError(f"{where}: expected each {kind} once, {', '.join(names)}; found {listed:.80}")
    return by_name
