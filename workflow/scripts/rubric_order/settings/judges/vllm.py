"""Settings of judges whose model vLLM runs in the job itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from rubric_order.settings.base import Role, setting
from rubric_order.settings.judges.loaded import Loaded


class Vllm(Loaded):
    """A model that vLLM runs in the job itself."""

    KIND = "vllm"
    RUN_BY, CITED = "with vLLM", ("vllm",)

    engine: Literal["vllm"] = setting(..., role=Role.IDENTITY)
    reasoning_end: str | None = setting(
        None,
        "Mark that ends the judge's reasoning, such as `</think>`; null: no mark. The text before the mark is stored"
        " separately and is not parsed. An answer without the mark is empty.",
        role=Role.IDENTITY,
    )

    @property
    def draws_at(self) -> float | None:
        return None if self.reasoning_end else super().draws_at

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.criteria_format == "lines" and self.reasoning_end:
            yield "criteria_format: 'lines' leaves no room to reason; expected 'free' with reasoning_end"
        if self.engine_args.get("data_parallel_size", 1) != 1:
            yield "engine_args/data_parallel_size: set {judge}/shards instead: a job uses one copy of the model"
