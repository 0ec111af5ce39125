"""Collect the distinct requests of a study and judge, in the order in which they are sent."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from rubric_order import entry, files, judges, plan, prompts

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
    owned = {name for path in earlier for name in pd.read_parquet(path, columns=["request_id"])["request_id"]}
    requests = plan.distinct_requests(
        reads, owned_elsewhere=owned, greedy=judges.greedy_profiles(judge, reads["profile"].unique())
    )
    source = prompts.load_template(template)
    parts = [SCHEMA.empty_table()]
    tables = {
        str(table["dataset"].iloc[0]): (table, path)
        for table, path in zip(map(pd.read_parquet, items), rubrics, strict=True)
        if len(table)
    }
    for dataset, block in requests.groupby("dataset", sort=False):
        table, path = tables[dataset]
        rendered = plan.render_requests(block, table, pd.read_parquet(path), source, probe=probe)
        parts.append(pa.Table.from_pandas(rendered, schema=SCHEMA, preserve_index=False))
    files.write_parquet(pa.concat_tables(parts), output)
    entry.log.info("%d reads need %d requests of this study's own", len(reads), len(requests))


if __name__ == "__main__":
    entry.run(main)
