"""Settings of the chat completions protocol, which judges behind endpoints and servers of jobs share."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from rubric_order.settings.base import Role, setting
from rubric_order.settings.judges.over_http import OverHttp

# Fields of a request to an endpoint that settings write. A field of the same name in `extra_body` would silently win.
CHAT_BODY = {
    "model": "model",
    "messages": "system_prompt",
    "temperature": "sampling/temperature",
    "top_p": "sampling/top_p",
    "max_tokens": "sampling/max_tokens",
    "max_completion_tokens": "sampling/max_tokens, with max_tokens_name",
    "stop": "sampling/stop",
    "seed": "sampling/seed",
    "chat_template_kwargs": "chat_template_kwargs",
    "logprobs": "answer_format",
    "top_logprobs": "top_logprobs",
    "structured_outputs": "second_request or criteria_format",
    "n": "greedy_repeats and a strategy's budget",
}


class Chat(OverHttp):
    """A judge that is asked over the chat completions protocol."""

    IN_BODY = CHAT_BODY

    dialect: Literal["openai", "vllm"] = setting(
        "openai",
        "Form of the requests. `vllm` also uses what vLLM's server adds to the protocol, such as answer_prefix and the"
        " log-probability of every score. A server of `serve` always has dialect `vllm`.",
        role=Role.IDENTITY,
    )
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = setting(
        "max_tokens", "Name of the endpoint's field that limits the length of an answer.", role=Role.IDENTITY
    )
    top_logprobs: Annotated[int, Ge(0), Le(20)] = setting(
        20,
        "Number of likeliest tokens whose log-probabilities are requested in answer format `score`. It is 0 for an"
        " endpoint that gives no log-probabilities.",
        role=Role.IDENTITY,
        reruns="`plan_reads` and below; where log-probabilities are read, every prompt is a new request",
    )

    @property
    def draws_at(self) -> float | None:
        return None if self.extra_body else super().draws_at

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        reads_options = "criteria_format" in formats or self.answer_format == "score"
        likeliest = self.top_logprobs if self.dialect != "vllm" and reads_options else None
        return super()._identity_of_kind(formats) | {"top_logprobs": likeliest}

    def _problems_of_profile(self) -> Iterator[str]:
        yield from super()._problems_of_profile()
        if self.limits_tokens and self.sampling.max_tokens is None:
            yield "sampling/max_tokens: limits of tokens or cost need a value, to know the most that a call can use"
