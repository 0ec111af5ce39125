from pathlib import Path
from typing import Any

from rubric_order.datasets import fetching


def fetch_dataset(source: dict[str, Any], mirror: Path | None, what: str, output: Path) -> None:
    """Read a file from the mirror or (None) the network, and put it in place only if its checksum is right.

    `source` is its block of config, see `fetching.fetch`; `what` names it in messages.
    """
    fetching.fetch(source, output, mirror=mirror, what=f"dataset {what}")
