"""Engines send requests to a model and return its responses. One module a kind, behind the protocol `Engine`."""

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.judging.engines.limits import Amount
from rubric_order.probes import Question, Shown
from rubric_order.settings.judges import Judge

ENGINES = {"vllm": "vllm_offline", "openai": "openai_api", "simulated": "simulated"}

# Reasons of errors that may pass: such a request is asked again on the next run.
PASSING = frozenset({"rate_limited", "server_error", "timeout", "connection", "malformed", "budget", "stopped"})

# Ways in which an answer can end before it is whole. Such an answer is a failure that may pass.
CUT_SHORT = frozenset({"abort", "error", "repetition"})


@dataclass(frozen=True)
class Request:
    """Request to a judge.

    Attributes:
        request_id: hash of all that determines the answer.
        prompt: the user's message.
        questions: what the answer must say, in the order of the prompt. The log-probabilities of their labels are read
            where there are several questions, and where the answer format is `score`.
        repeat: 0 for the first read of a prompt, then 1, 2, ...
        profile: the judge's profile, see `Judge.under`.
        begun: beginning of an answer that the judge may only complete with a label; None for a free answer.
        dataset, unit_id, options, shown: what the prompt is made of. A real judge sees the prompt alone.
    """

    request_id: str
    prompt: str
    questions: tuple[Question, ...]
    repeat: int = 0
    profile: str = DEFAULT_PROFILE
    begun: str | None = None
    dataset: str = ""
    unit_id: str = ""
    options: tuple[str, ...] = ()
    shown: Shown = field(default_factory=lambda: Shown(()))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that may be written; all questions of one prompt have the same ones."""
        return self.questions[0].labels

    @property
    def names(self) -> tuple[str, ...]:
        """Names of several questions in the prompt; empty where there is one."""
        return tuple(question.name for question in self.questions) if len(self.questions) > 1 else ()


@dataclass(frozen=True)
class Response:
    """Raw answer of a judge. The fields are those of `contracts.responses.STORE`, without the engine."""

    request_id: str
    text: str | None = None
    finish_reason: str | None = None
    error: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    option_logprobs: list[float] | None = None
    option_token: int | None = None
    reasoning: str | None = None
    refusal: str | None = None
    attempts: int | None = None
    tokens: int | None = None
    cost: float | None = None
    model: str | None = None


@dataclass(frozen=True)
class Turn:
    """A job's turn at an endpoint, whose limits hold for all jobs together: one job at a time asks it.

    Attributes:
        spent: use of the judge's budget by earlier runs.
        sent: file of `limits.RateLimiter`.
        open_calls: file of `open_calls.OpenCalls`.
    """

    spent: Amount
    sent: Path
    open_calls: Path


@dataclass(frozen=True)
class Resources:
    """Resources that a job has for its engine.

    Attributes:
        gpus: number of devices.
        model_folder: weights that the workflow converted; None for a model of the hub or a local folder.
        turn: its turn at an endpoint; None where nothing is asked over one, or no other job can ask it.
    """

    gpus: int = 0
    model_folder: Path | None = None
    turn: Turn | None = None


NOTHING = Resources()


class Engine(Protocol):
    """A loaded judge."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, yielding each as it finishes, in any order. Every request gets exactly one response."""

    def describe(self) -> dict[str, Any]:
        """Versions and settings, for the metadata of the responses."""

    def close(self) -> None:
        """Free what the engine holds. Called once, also after answering failed."""


def gpus_to_claim(judge: Judge, gpus: int) -> int:
    """Number of GPUs that a job of a judge claims, where config gives it `gpus`; see `vllm_offline.gpus_to_claim`."""
    if not judge.LOADED:
        return gpus
    claimed: int = importlib.import_module("rubric_order.judging.engines.vllm_offline").gpus_to_claim(gpus)
    return claimed


def load(judge: Judge, resources: Resources = NOTHING) -> Engine:
    """Start the engine that a judge's settings name."""
    module = importlib.import_module(f"rubric_order.judging.engines.{ENGINES[judge.engine]}")
    engine: Engine = module.load(judge, resources)
    return engine
