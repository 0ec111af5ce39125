"""Read a dataset into its table of items and its table of rubrics."""

from pathlib import Path

from rubric_order import datasets, entry
from rubric_order.files import write_parquet


def main(dataset: str, files: dict[str, Path], settings: dict, items: Path, rubrics: Path) -> None:
    """Check every item and rubric; write nothing if one is wrong."""
    read = datasets.read(settings["adapter"], files)
    item_table, rubric_table = datasets.prepare(dataset, read, limit=settings["limit"])
    write_parquet(item_table, items, dataset=dataset, **settings)
    write_parquet(rubric_table, rubrics, dataset=dataset, **settings)
    groups = item_table["group_id"].nunique()
    entry.log.info("%s: %d items in %d groups, %d rubrics", dataset, len(item_table), groups, len(rubric_table))


if __name__ == "__main__":
    entry.run(main)
