"""Settings of judges that are asked over the chat completions protocol: behind an endpoint, or a server of a job."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import StringConstraints

from rubric_order.settings.base import Arguments, EitherOr, Positive, Role, Settings, Text, setting, whole
from rubric_order.settings.judges.judge import WIRE, Capabilities
from rubric_order.settings.judges.over_http import ENDPOINT_BLOCKS, Addressed, OverHttp
from rubric_order.settings.judges.vllm import Loaded

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

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds per unit of time
Duration = Annotated[str, StringConstraints(pattern="^[0-9]+([.][0-9]+)?[smhd]$")]


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


class Batch(Settings):
    """Requests in batches, which an endpoint answers later and at a lower price."""

    wait: Duration = setting(
        "1h",
        "How long a job waits for its batches, such as 90m or 1h. Then it ends, and a later run fetches the answers.",
    )
    poll: Duration = setting("60s", "Time between two checks of the batches' state.")
    requests: Annotated[int, Ge(1), Le(50_000)] = setting(10_000, "Largest number of requests in one batch.")
    window: Text = setting(
        "24h", "Time within which the endpoint is to answer, in the endpoint's own notation (`completion_window`)."
    )


def seconds(duration: str) -> float:
    """Length of a duration of config in seconds.

    >>> seconds("90m")
    5400.0
    """
    return float(duration[:-1]) * UNITS[duration[-1]]


class Endpoint(Addressed, Chat):
    """A judge behind an OpenAI-compatible endpoint."""

    KIND = "openai"
    RUN_BY = "over an OpenAI-compatible endpoint"
    UNCONSTRAINED = "over an endpoint it needs dialect 'vllm'"

    engine: Literal["openai"] = setting(..., role=Role.IDENTITY)
    batch: Annotated[bool | Batch, EitherOr(bool, Batch)] = setting(
        False,
        "Whether requests are sent by the endpoint's Batch API, which answers later and often at half the price."
        " `true` takes the defaults of the keys below. A block sets these keys.",
        **WIRE,
    )

    @property
    def batches(self) -> Batch | None:
        return self.batch if isinstance(self.batch, Batch) else Batch() if self.batch else None

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.batch and self.dialect != "openai":
            yield f"batch: it is for dialect 'openai', found {self.dialect!r}"

    @property
    def capabilities(self) -> Capabilities:
        is_vllm = self.dialect == "vllm"
        return Capabilities(
            log_probabilities=is_vllm or self.top_logprobs > 0,
            constrained=is_vllm,
            tokenizer=True,
            prefix_cache=ENDPOINT_BLOCKS,
            prices=self.prices,
        )


class Serve(Settings):
    """A server of vLLM that runs for the time of a job."""

    arguments: Arguments = setting(
        None,
        "Further arguments of the server by name, such as `reasoning_parser`. Arguments of the engine belong in"
        " `engine_args`.",
        otherwise="`{}`",
    )
    ready_timeout: Positive = setting(
        None,
        "Seconds that the server may take to load the model.",
        otherwise="`1800`",
        reruns="`judge_shard`, which loads no model where nothing is new",
    )


class Server(Chat, Loaded):
    """A model that vLLM's server runs for the time of a job."""

    KIND = "openai"
    ENGINE = "openai_server"
    RUN_BY, CITED = "with the server of vLLM", ("vllm",)

    engine: Literal["openai"] = setting(..., role=Role.IDENTITY)
    serve: Serve = setting(
        ...,
        "vLLM's server, which the job starts on a free port of this machine and stops at its end. It takes the place"
        " of an endpoint at base_url.",
        role=Role.IDENTITY,
    )

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, prices=self.prices)

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """Identity without the time that a server may take to start."""
        values = Loaded._identity_of_kind(self, formats) | super()._identity_of_kind(formats)
        arguments = {"arguments": whole(self.serve.arguments or {})}
        return values | {"serve": arguments, "dialect": "vllm", "top_logprobs": None}

    def _problems_of_profile(self) -> Iterator[str]:
        yield from super()._problems_of_profile()
        if self.sampling.seed is None:
            yield "sampling/seed: the server of serve needs a value"
