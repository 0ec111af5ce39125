"""Fetch one file of a dataset and check it."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.datasets import fetching


def main(source: dict, mirror: Path | None, what: str, output: Path) -> None:
    """Read a file from the mirror or the network. The file is put in place only if its checksum is right.

    Args:
        source: the file's block of config, see `fetching.fetch`.
        mirror: folder to read from instead of the network; None for the network.
        what: name of the dataset and file, for messages.
        output: the file to write.
    """
    fetching.fetch(source, output, mirror=mirror, what=f"dataset {what}")


if __name__ == "__main__":
    command_line.run(main)
