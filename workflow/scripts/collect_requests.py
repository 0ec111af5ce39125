"""Collect the distinct requests of a study and judge, in the order in which they are sent."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa

from rubric_order.base import command_line, files
from rubric_order.config import judges
from rubric_order.planning import plan
from rubric_order.prompts import frames

COLUMNS = ["request_id", "profile", "dataset", "item_id", "n", "ordering", "repeat"]
SCHEMA = pa.schema(
    {
        "request_id": pa.string(),
        "profile": pa.string(),
        "dataset": pa.string(),
        "item_id": pa.string(),
        "n": pa.int8(),
        "ordering": pa.list_(pa.int8()),
        "repeat": pa.int16(),
        "prompt": pa.string(),
        "criteria": pa.list_(pa.string()),
    }
)


ROWS = 32_768  # rows that are written at once


def main(
    plans: list[Path],
    items: list[Path],
    rubrics: list[Path],
    earlier: list[Path],
    template: Path,
    probe: str,
    judge: dict,
    output: Path,
) -> None:
    """Write each request once, with its prompt; requests of earlier studies are left to them."""
    reads = files.read_tables(plans, COLUMNS)
    owned = files.read_tables(earlier, ["request_id"])["request_id"] if earlier else []
    requests = plan.distinct_requests(
        reads, owned_elsewhere=owned, greedy=judges.greedy_profiles(judge, reads["profile"].unique())
    )
    source = frames.load_template(template)
    tables = {
        str(table["dataset"].iloc[0]): (table, path)
        for table, path in zip(map(pd.read_parquet, items), rubrics, strict=True)
        if len(table)
    }

    def rendered() -> Iterator[pa.Table]:
        yield SCHEMA.empty_table()
        for dataset, block in requests.groupby("dataset", sort=False):
            table, path = tables[dataset]
            prompted = plan.render_requests(block, table, pd.read_parquet(path), source, probe=probe)
            for start in range(0, len(prompted), ROWS):
                part = prompted.iloc[start : start + ROWS]
                yield pa.Table.from_pandas(part, schema=SCHEMA, preserve_index=False)

    files.write_parquet(rendered(), output)
    command_line.log.info("%d reads need %d requests of this study's own", len(reads), len(requests))


if __name__ == "__main__":
    command_line.run(main)
