"""Say what judging will take, before it begins."""

from pathlib import Path

import pyarrow.parquet as pq

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.base.labels import Labels, with_labels
from rubric_order.judging import costs, number_formats
from rubric_order.judging.store import Store
from rubric_order.tables import plan_cost


def main(judges: dict, plans: Path, requests: Path, stores: Path, models: Path, output: Path) -> None:
    """Print and write what each judge still has to do.

    Args:
        judges: of each judge its `settings`, the name of the folder of `converted` weights, and the datasets of each of
            its `studies`.
        plans: folder of plans, a folder a study and dataset and a file a judge.
        requests: folder of requests, a folder a study and a file a judge.
        stores: folder of response stores, one a judge.
        models: folder of converted weights.
        output: the CSV file; Markdown, LaTeX and HTML go beside it.
    """
    parts = {}
    for judge, block in judges.items():
        reads = {
            study: sum(pq.read_metadata(plans / study / name / f"{judge}.parquet").num_rows for name in datasets)
            for study, datasets in block["studies"].items()
        }
        encode = costs.encoder(block["settings"], models / block["converted"])
        files = {study: requests / study / f"{judge}.parquet" for study in reads}
        parts[judge] = costs.judge_costs(block["settings"], files, reads, Store(stores / judge), encode=encode)
    rows = plan_cost.table(parts)
    labels = Labels({judge: block["settings"]["label"] for judge, block in judges.items()}, {})
    printed = with_labels(plan_cost.for_print(rows), labels)
    tables.write(rows, printed, output.with_suffix(""), plan_cost.CAPTION)
    print(printed.to_markdown(index=False, disable_numparse=True))
    print(f"\n{plan_cost.saved(rows)}\n{plan_cost.CAPTION}")
    for judge, block in judges.items():
        if slow := number_formats.warning(judge, block["settings"]):
            print(slow)


if __name__ == "__main__":
    command_line.run(main)
