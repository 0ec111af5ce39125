"""Convert a GGUF file, which a Python package ships, into a model folder that vLLM can load."""

from rubric_order.base import command_line
from rubric_order.jobs.weights import convert_gguf

if __name__ == "__main__":
    command_line.run(convert_gguf)
