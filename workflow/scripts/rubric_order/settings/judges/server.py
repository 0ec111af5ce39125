"""Settings of judges that a server of vLLM runs for the time of a job."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Literal

from rubric_order.settings.base import Arguments, Positive, Role, Settings, setting, whole
from rubric_order.settings.judges.chat import Chat
from rubric_order.settings.judges.judge import Capabilities
from rubric_order.settings.judges.loaded import Loaded


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
