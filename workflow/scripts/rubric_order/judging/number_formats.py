"""Number formats that a processor has no instructions for: computing in such a format is several times slower."""

import platform
from pathlib import Path

from rubric_order.judging.engines import vllm_offline
from rubric_order.settings.judges.judge import Judge

# From a kind of processor to its number formats, and from a format to features: a processor with any of the features is
# fast in the format. Nothing is known about other kinds of processors.
FAST = {
    "x86_64": {"bfloat16": {"avx512_bf16", "amx_bf16"}, "float16": {"avx512_fp16", "amx_fp16"}},
    "aarch64": {"bfloat16": {"bf16"}, "float16": {"asimdhp"}},
}


def warning(name: str, judge: Judge, *, gpus: int) -> str | None:
    """Warning that a judge's number format is slow on this machine; None where it is fast or nothing is known."""
    if not judge.LOADED or gpus or not vllm_offline.is_cpu_build():
        return None
    if not is_slow(judge.dtype, platform.machine(), features()):
        return None
    return (
        f"warning: judge {name} computes in {judge.dtype}, for which this processor has no instructions: that is"
        " several times as slow as `dtype: float32` (which makes every prompt a new request)"
    )


def is_slow(number_format: str, machine: str, features: set[str]) -> bool:
    fast = FAST.get(machine, {}).get(number_format)
    return bool(features) and fast is not None and not fast & features


def features(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str]:
    try:
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    fields = (line.partition(":") for line in lines)
    return next((set(value.split()) for key, _, value in fields if key.strip() in ("flags", "Features")), set())
