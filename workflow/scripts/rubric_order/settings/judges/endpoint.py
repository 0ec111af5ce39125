"""Settings of judges behind an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from annotated_types import Ge, Le
from pydantic import StringConstraints

from rubric_order.settings.base import EitherOr, Role, Settings, Text, setting
from rubric_order.settings.judges.chat import Chat
from rubric_order.settings.judges.judge import WIRE, Capabilities
from rubric_order.settings.judges.over_http import ENDPOINT_BLOCKS, Addressed

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds per unit of time
Duration = Annotated[str, StringConstraints(pattern="^[0-9]+([.][0-9]+)?[smhd]$")]


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
