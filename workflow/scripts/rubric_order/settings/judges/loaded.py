"""Settings of judges whose model a job loads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from rubric_order.settings.base import Arguments, Role, Settings, Sha256, setting, whole
from rubric_order.settings.judges.judge import Blocks, Capabilities, Judge, is_local

# Arguments of vLLM that only change its speed and memory. Any other argument may change what a model answers.
SPEED = {
    "async_scheduling",
    "block_size",
    "compilation_config",
    "data_parallel_size",
    "disable_log_stats",
    "distributed_executor_backend",
    "download_dir",
    "enable_chunked_prefill",
    "enable_prefix_caching",
    "enforce_eager",
    "gpu_memory_utilization",
    "kv_cache_memory_bytes",
    "language_model_only",  # no prompt holds an image
    "max_num_batched_tokens",
    "max_num_seqs",
    "max_parallel_loading_workers",
    "pipeline_parallel_size",
    "safetensors_load_strategy",
    "scheduling_policy",
}

# Arguments of vLLM that have a setting of their own here. If argument and setting were given, one would silently win.
OWN_SETTINGS = {
    "model": "model",
    "revision": "revision",
    "dtype": "dtype",
    "quantization": "quantization",
    "max_model_len": "max_model_len",
    "seed": "sampling/seed",
    "tensor_parallel_size": "gpu",
}

GPU_BLOCK_TOKENS, CPU_BLOCK_TOKENS = 16, 128  # vLLM's default block sizes


class Gguf(Settings):
    """Weights that an installed Python package ships as a GGUF file."""

    package: str = setting(..., "Import name of the package.")
    file: str = setting(..., "Name of the GGUF file in the package.")
    sha256: Sha256 = setting(..., "Checksum of the file.")


class Loaded(Judge):
    """A judge whose model a job loads."""

    LOADED = True

    gguf: Gguf | None = setting(
        None,
        "Weights in a GGUF file of an installed Python package. A rule of the workflow converts them once.",
        role=Role.IDENTITY,
    )
    chat_template: str | None = setting(
        None,
        "File with a chat template (Jinja) in place of the model's own; null: the model's own.",
        role=Role.IDENTITY,
    )
    batch_invariant: bool = setting(
        False,
        "Whether answers are independent of the other prompts in the batch, where vLLM and the GPU can do that. It is"
        " slower.",
        role=Role.IDENTITY,
    )
    engine_args: Arguments = setting(
        {},
        "Further arguments of vLLM's engine, passed on by name.",
        role=Role.IDENTITY,
        reruns="an argument that is known to change speed and memory alone (`rubric_order.settings.judges.SPEED`):"
        " `judge_shard`, which loads no model where nothing is new. Any other: `plan_reads` and below; every prompt"
        " is a new request",
    )

    @property
    def capabilities(self) -> Capabilities:
        size = self.engine_args.get("block_size") or (GPU_BLOCK_TOKENS if self.gpu else CPU_BLOCK_TOKENS)
        caches = self.engine_args.get("enable_prefix_caching") is not False
        return Capabilities(tokenizer=True, prefix_cache=Blocks(size) if caches else None)

    @property
    def has_open_weights(self) -> bool:
        pinned = re.fullmatch("[0-9a-f]{40}", self.revision or "") is not None
        return not self.gguf and (is_local(self.model) or not pinned)

    @property
    def needs_conversion(self) -> bool:
        return self.gguf is not None

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        return {
            "engine_args": {name: whole(value) for name, value in self.engine_args.items() if name not in SPEED} or None
        }

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        for name in OWN_SETTINGS:
            if name in self.engine_args:
                yield f"engine_args/{name}: set {{judge}}/{OWN_SETTINGS[name]} instead"
