"""Decision models: a text and a question are sent, and probabilities come back. Nothing is generated.

Calls, limits, account and delivery are those of every judge over HTTP. This module writes bodies and reads answers.
"""

import functools
import importlib.metadata
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.called import AddressedEngine
from rubric_order.judging.engines.openai_calls import CallError, Connection
from rubric_order.judging.engines.protocols import Prepared, Protocol, Usage, is_count
from rubric_order.parsing import decisions
from rubric_order.parsing.decisions import DecisionError, Form
from rubric_order.prompts.structured import Structured
from rubric_order.settings.judges import Decisions

FINISHED = "decision"  # finish reason of a decision: an answer that was not generated
TEMPLATE_TOKENS = 256  # tokens that a server adds to a question
ANSWER_TOKENS = 64  # tokens that a server can count for the answer to a question
ANSWER_BYTES = 2**20  # of an answer, far more than the probabilities of all levels take
# Requests are named by the prompt and the kind of question, not by these words: they never change.
STATEMENT = "{question} Is this the level that fits: {description}"


class DecisionProtocol(Protocol[Decisions]):
    """The protocol as one judge speaks it, in its dialect."""

    VERSION = r"-v?\d[\w.-]*"  # jev-1.13.0

    def __init__(self, judge: Decisions, connection: Connection) -> None:
        super().__init__(judge, connection)
        self.form = Form(judge.dialect, judge.question)

    async def prepare(self, request: Request) -> Prepared:
        """The call for a request.

        Raises:
            InputError: its prompt is not in parts.
        """
        try:
            prompt = Structured.decode(request.prompt)
        except ValueError as error:
            raise InputError(f"judge: request {request.request_id}: {error}") from None
        body = self.body(prompt, self.under(request.profile))
        questions = len(body["questions"])
        # Servers may count the text once a question. A token has at least one byte.
        asked = len(json.dumps(body["questions"], ensure_ascii=False).encode())
        return Prepared(
            f"/{self.judge.dialect}",
            body,
            prompt=questions * (len(prompt.text.encode()) + TEMPLATE_TOKENS) + asked,
            completion=questions * ANSWER_TOKENS,
            limit=ANSWER_BYTES,
            read=functools.partial(self.response, request),
        )

    def body(self, prompt: Structured, judge: Decisions) -> dict[str, Any]:
        """Body that is sent for a prompt."""
        questions = _questions(prompt, self.form)
        if self.form.dialect == "systemone":
            body: dict[str, Any] = {"model": judge.shown_name, "state": prompt.text, "questions": questions}
        else:
            listed = [{"name": name, **question} for name, question in questions.items()]
            body = {"model": judge.shown_name, "input": prompt.text, "questions": listed}
        return body | judge.extra_body

    def usage(self, content: Mapping[str, Any]) -> Usage | None:
        return usage_of(content)

    def response(self, request: Request, content: Mapping[str, Any], usage: Usage | None) -> Response:
        """The response that an answer holds: its JSON, and the probability of each option in canonical order.

        Raises:
            CallError: the answer does not follow the protocol.
        """
        labels = [option.label for option in Structured.decode(request.prompt).options]
        model = content.get("model")
        if not isinstance(model, str | None):
            raise CallError("bad_request", "model of the answer is no text", billed=True)
        error, logprobs = self.wrong_model(model), None
        try:
            if error is None:
                decision = decisions.read(content, self.form, labels)
                logprobs = _logprobs(decision.probabilities, labels, request.labels)
        except DecisionError as problem:
            if problem.reason is None:
                raise CallError("bad_request", self.connection.plain(str(problem)), billed=True) from None
            details = self.connection.plain(str(problem))
            error = f"{problem.reason}: {details}" if details else problem.reason
            self.unknown += 1
        return Response(
            request.request_id,
            text=self.connection.without_secrets(json.dumps(content, ensure_ascii=False)),
            finish_reason=FINISHED,
            error=error,
            prompt_tokens=usage.prompt if usage else None,
            completion_tokens=usage.completion if usage else None,
            cached_tokens=usage.cached if usage else None,
            option_logprobs=logprobs,
            model=model,
        )


class DecisionsEngine(AddressedEngine[Decisions]):
    """An endpoint of a decision model."""

    JUDGE = Decisions

    def _protocol(self, connection: Connection) -> DecisionProtocol:
        return DecisionProtocol(self.judge, connection)

    def describe(self) -> dict[str, Any]:
        about = {"engine": "decisions", "engine_version": importlib.metadata.version("openai"), "started": self.started}
        return about | {"base_url": self.judge.base_url, "dialect": self.judge.dialect}


def usage_of(content: Mapping[str, Any]) -> Usage | None:
    """Tokens that an answer says to have used; None where it does not. The answer itself may count none."""
    usage = content.get("usage")
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("input_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    prompt, completion = usage.get("input_tokens"), usage.get("output_tokens", 0)
    if not (is_count(prompt) and is_count(completion)):
        return None
    cached, written = details.get("cached_tokens"), details.get("cache_write_tokens", 0)
    cached = min(cached, prompt) if is_count(cached) else None
    written = min(written, prompt - (cached or 0)) if is_count(written) else 0
    return Usage(prompt, completion, cached, written)


def _questions(prompt: Structured, form: Form) -> dict[str, dict[str, Any]]:
    """The questions of a prompt by name, in their order."""
    kind = decisions.TYPES[form.dialect][form.question]
    if form.question == "predicate":
        return {
            decisions.value_of(option.label): {
                "type": kind,
                "instructions": STATEMENT.format(question=prompt.question, description=option.description),
            }
            for option in prompt.options
        }
    return {decisions.NAME: {"type": kind, "instructions": prompt.question, **_levels(prompt, form)}}


def _levels(prompt: Structured, form: Form) -> dict[str, Any]:
    """The field of a question that lists its options, in the order of the prompt."""
    if form.question == "score":
        # No label travels with a level: what names it is its text, and its number is its place.
        texts = [option.description for option in prompt.options]
        systemone = form.dialect == "systemone"
        return {"criteria": texts} if systemone else {"levels": [{"label": text} for text in texts]}
    named = {decisions.value_of(option.label): option.description for option in prompt.options}
    if form.dialect == "systemone":
        return {"criteria": named}
    return {"choices": [{"value": value, "description": text} for value, text in named.items()]}


def _logprobs(probabilities: tuple[float, ...], labels: list[str], canonical: tuple[str, ...]) -> list[float]:
    """Log-probabilities of the options in canonical order, from those of the options as they were shown."""
    by_label = dict(zip(labels, probabilities, strict=True))
    with np.errstate(divide="ignore"):
        return [float(np.log(by_label[label])) for label in canonical]
