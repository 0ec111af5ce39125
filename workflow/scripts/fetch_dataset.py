"""Fetch one file of a dataset and check it."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.datasets import fetching


def main(source: dict, mirror: Path | None, what: str, output: Path) -> None:
    """Read a file from the mirror or (None) the network, and put it in place only if its checksum is right.

    `source` is its block of config, see `fetching.fetch`; `what` names it in messages.
    """
    fetching.fetch(source, output, mirror=mirror, what=f"dataset {what}")


if __name__ == "__main__":
    command_line.run(main)
