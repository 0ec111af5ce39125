from pathlib import Path
from typing import Any

from rubric_order import datasets
from rubric_order.base import command_line
from rubric_order.contracts.items import ITEMS, PAIRS, RUBRICS


def prepare_items(
    dataset: str, files: dict[str, Path], settings: dict[str, Any], items: Path, rubrics: Path, pairs: Path
) -> None:
    """Check every item, rubric and pair of a dataset, and write the tables; if one is wrong, nothing is written.

    `files`: path by the name that config gives; `settings`: `adapter`, `limit` and `options`.
    """
    entries = datasets.read(settings["adapter"], files, settings["options"], dataset=dataset)
    tables = datasets.prepare(dataset, entries, limit=settings["limit"])
    ITEMS.write(tables.items, items, dataset=dataset, **settings)
    RUBRICS.write(tables.rubrics, rubrics, dataset=dataset, **settings)
    PAIRS.write(tables.pairs, pairs, dataset=dataset, **settings)
    counts = len(tables.items), tables.items["group_id"].nunique(), len(tables.rubrics), len(tables.pairs)
    command_line.log.info("%s: %d items in %d groups, %d rubrics, %d pairs", dataset, *counts)
