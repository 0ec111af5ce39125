"""Decision models: a text and a question are sent, and probabilities come back. This module writes bodies and reads
answers.
"""

import functools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rubric_order.base.errors import InputError
from rubric_order.judging.decision_questions import questions_of
from rubric_order.judging.engines import Request, Response, transport
from rubric_order.judging.engines.calls import CallingEngine, Calls, Prepared, Usage, is_count
from rubric_order.judging.engines.failures import CallError
from rubric_order.judging.engines.openai_calls import Connection, connect, description
from rubric_order.judging.engines.protocols import HttpProtocol
from rubric_order.parsing import decisions
from rubric_order.parsing.decisions import Decision, DecisionError, Form
from rubric_order.prompts.structured import Structured
from rubric_order.settings.judges.decisions import Decisions

ADDRESSES = ("/decisions", "/systemone")  # how a complete address of calls ends
FINISHED = "decision"  # finish reason of a decision, which is not generated
TEMPLATE_TOKENS = 256  # tokens that a server adds to a question
ANSWER_TOKENS = 64  # tokens that a server can count for the answer to a question
ANSWER_BYTES = 2**20  # most bytes of an answer, per question: far more than all probabilities need


class DecisionProtocol(HttpProtocol[Decisions]):
    """The protocol with the settings and the dialect of one judge."""

    VERSION = r"-v?\d[\w.-]*"  # jev-1.13.0

    def __init__(self, judge: Decisions, connection: Connection) -> None:
        super().__init__(judge, connection)
        self.form = Form(judge.dialect, judge.question)

    async def prepare(self, request: Request) -> Prepared:
        try:
            prompt = Structured.decode(request.prompt)
        except ValueError as error:
            raise InputError(f"judge: request {request.request_id}: {error}") from None
        judge = self.under(request.profile)
        body = self.body(prompt, judge)
        questions = len(body["questions"])
        # Servers may count the text once per question. A token has at least one byte.
        others = filter(None, (body["questions"], judge.extra_body))
        asked = sum(len(json.dumps(part, ensure_ascii=False).encode()) for part in others)
        limit = min(questions * ANSWER_BYTES, transport.DEFAULT_LIMIT)
        return Prepared(
            prompt=questions * (len(prompt.text.encode()) + TEMPLATE_TOKENS) + asked,
            completion=questions * ANSWER_TOKENS,
            send=functools.partial(self.post, self._address(), body, limit, functools.partial(self.response, request)),
            body=body,
        )

    def body(self, prompt: Structured, judge: Decisions) -> dict[str, Any]:
        questions = questions_of(prompt, self.form)
        if self.form.dialect == "systemone":
            body: dict[str, Any] = {"model": judge.shown_name, "state": prompt.text, "questions": questions}
        else:
            listed = [{"name": name, **question} for name, question in questions.items()]
            body = {"model": judge.shown_name, "input": prompt.text, "questions": listed}
        return body | judge.extra_body

    def _address(self) -> str:
        whole = self.judge.base_url.rstrip("/")
        return whole if whole.endswith(ADDRESSES) else f"/{self.form.dialect}"

    def usage(self, content: Mapping[str, Any]) -> Usage | None:
        return usage_of(content)

    def response(self, request: Request, content: Mapping[str, Any], usage: Usage | None) -> Response:
        """The response from an answer: its JSON as text, and log-probabilities of the options in canonical order."""
        labels = [[option.label for option in options] for options in Structured.decode(request.prompt).shown]
        model = content.get("model")
        if not isinstance(model, str | None):
            raise CallError("bad_request", "model of the answer is no text", billed=True)
        error, logprobs = self.wrong_model(model), None
        try:
            results = decisions.read_all(content, self.form, labels)
            problems = [decision for decision in results if isinstance(decision, DecisionError)]
            self.unknown += bool(problems)
            if len(problems) < len(results):
                logprobs = _logprobs(results, labels, request.labels)
            elif error is None:
                details = self.connection.plain(str(problems[0]))
                error = f"{problems[0].reason}: {details}" if details else problems[0].reason
        except DecisionError as problem:
            if error is None:
                raise CallError("bad_request", self.connection.plain(str(problem)), billed=True) from None
        return Response(
            request.request_id,
            text=json.dumps(content, ensure_ascii=False),
            finish_reason=FINISHED,
            error=error,
            prompt_tokens=usage.prompt if usage else None,
            completion_tokens=usage.completion if usage else None,
            cached_tokens=usage.cached if usage else None,
            option_logprobs=logprobs,
            model=model,
        )


class DecisionsEngine(CallingEngine[Decisions]):
    """An endpoint of a decision model."""

    JUDGE = Decisions

    def start(self) -> None:
        protocol = DecisionProtocol(self.judge, connect(self.judge))
        self.calls = Calls(protocol, self.judge, self.resources.turn, self.describe())

    def describe(self) -> dict[str, Any]:
        place = {"base_url": self.judge.base_url, "dialect": self.judge.dialect}
        return description(self.judge, self.started) | place


def usage_of(content: Mapping[str, Any]) -> Usage | None:
    """Tokens used, as an answer counts them; None without counts. A missing count of output tokens is taken as 0."""
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


def _logprobs(
    results: Sequence[Decision | DecisionError], labels: Sequence[Sequence[str]], canonical: Sequence[str]
) -> list[float]:
    """Log-probabilities of the options in canonical order, one ordering after the other; NaN for a failed decision."""
    logprobs: list[float] = []
    for decision, names in zip(results, labels, strict=True):
        if isinstance(decision, DecisionError):
            logprobs += [math.nan] * len(canonical)
            continue
        by_label = dict(zip(names, decision.probabilities, strict=True))
        with np.errstate(divide="ignore"):
            logprobs += [float(np.log(by_label[label])) for label in canonical]
    return logprobs
