"""Collect the distinct requests of a study and judge, in the order in which they are sent."""

from pathlib import Path

import pandas as pd

from rubric_order import entry, files, plan, prompts


def main(
    plans: list[Path], items: list[Path], rubrics: list[Path], earlier: list[Path], template: Path, output: Path
) -> None:
    """Write each request once, with its prompt; requests of earlier studies are left to them."""
    source = prompts.load_template(template)
    reads, texts = [], []
    for plan_file, item_file, rubric_file in zip(plans, items, rubrics, strict=True):
        table = pd.read_parquet(plan_file)
        reads.append(table)
        texts.append(plan.render_reads(table, pd.read_parquet(item_file), pd.read_parquet(rubric_file), source))
    owned = {name for path in earlier for name in pd.read_parquet(path, columns=["request_id"])["request_id"]}
    all_reads = pd.concat(reads, ignore_index=True)
    requests = plan.distinct_requests(all_reads, pd.concat(texts, ignore_index=True), owned_elsewhere=owned)
    files.write_parquet(requests, output)
    entry.log.info("%d reads need %d requests of this study's own", len(all_reads), len(requests))


if __name__ == "__main__":
    entry.run(main)
