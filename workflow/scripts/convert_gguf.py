"""Make a GGUF file that a Python package ships loadable for vLLM."""

from pathlib import Path

from rubric_order import entry, models


def main(gguf: dict, output: Path) -> None:
    """Dequantise the file into a model folder."""
    models.convert_gguf(gguf["package"], gguf["file"], gguf["sha256"], output, dtype=gguf["dtype"])


if __name__ == "__main__":
    entry.run(main)
