"""Engines: what answers requests. One module a kind, behind one small interface."""

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ENGINES = {"vllm": "vllm_offline"}


@dataclass(frozen=True)
class Request:
    """What is sent to a judge.

    Attributes:
        request_id: hash of all that determines the answer.
        prompt: the user's message.
        n: the scores are 1..n; their log-probabilities are read in answer format `score`.
        repeat: 0 for the first read of a prompt, then 1, 2, ...
    """

    request_id: str
    prompt: str
    n: int
    repeat: int


@dataclass(frozen=True)
class Response:
    """What a judge answered, raw. The fields are those of `rubric_order.store.SCHEMA`."""

    request_id: str
    text: str | None = None
    finish_reason: str | None = None
    error: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    option_logprobs: list[float] | None = None
    option_token: int | None = None


class Engine(Protocol):
    """A loaded judge."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, yielding each as it finishes, in any order. Every request gets exactly one response."""

    def describe(self) -> dict:
        """Versions and settings, for the metadata of the responses."""


def load(judge: dict, *, model_folder: Path | None = None) -> Engine:
    """Start the engine that a judge's settings name.

    Args:
        judge: the judge's block of config.
        model_folder: weights made by the workflow, to be used instead of the model's hub name.
    """
    module = importlib.import_module(f"rubric_order.engines.{ENGINES[judge['engine']]}")
    return module.load(judge, model_folder=model_folder)
