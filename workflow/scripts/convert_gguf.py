"""Convert a GGUF file, which a Python package ships, into a model folder that vLLM can load."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.judging import weights


def main(gguf: dict, output: Path) -> None:
    """Dequantise the weights in the file, and write the model folder."""
    weights.convert_gguf(gguf["package"], gguf["file"], gguf["sha256"], output, dtype=gguf["dtype"])


if __name__ == "__main__":
    command_line.run(main)
