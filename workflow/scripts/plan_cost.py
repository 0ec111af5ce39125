"""Say what judging will take, before it begins."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.base.errors import printable
from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels, with_labels
from rubric_order.contracts.items import ITEMS, RUBRICS
from rubric_order.contracts.reads import PLAN
from rubric_order.judging import costs, number_formats, reference_costs
from rubric_order.judging.store import Store
from rubric_order.planning import references as planning
from rubric_order.settings.judges import read
from rubric_order.tables import plan_cost


def main(judges: dict, references: dict, plans: Path, requests: Path, stores: Path, models: Path, output: Path) -> None:
    """Print and write what each judge still has to do.

    Args:
        judges: of each judge its `settings`, the name of the folder of `converted` weights, the datasets of each of
            its `studies`, and whether its revision is `unpinned`.
        references: of each dataset whose reference answers are to be made first, how (`settings`, `rounds`), from which
            files, the `labels` of who makes them, and the conditions of the `studies` that read the dataset.
        plans: folder of plans, a folder a study and dataset and a file a judge.
        requests: folder of requests, a folder a study and a file a judge.
        stores: folder of response stores, one a judge.
        models: folder of converted weights.
        output: the CSV file; Markdown, LaTeX and HTML go beside it.
    """
    parts = {}
    planned = {name: read(block["settings"]) for name, block in judges.items()}
    for name, block in judges.items():
        reads = {
            study: sum(pq.read_metadata(plans / study / dataset / f"{name}.parquet").num_rows for dataset in datasets)
            for study, datasets in block["studies"].items()
        }
        encode = costs.encoder(planned[name], models / block["converted"])
        files = {study: requests / study / f"{name}.parquet" for study in reads}
        parts[name] = costs.judge_costs(planned[name], files, reads, Store(stores / name), encode=encode)
        parts[name]["to_come"] = 0.0
        for dataset, block_of in references.items():
            more = _to_come(plans, dataset, name, block_of)
            more[EVERY] = sum(more.values())  # NaN, not known, where a part is
            parts[name]["to_come"] += [more.get(study, 0.0) for study in parts[name]["study"]]
    made = {dataset: _to_make(block, stores) for dataset, block in references.items()}
    rows = plan_cost.table(parts, made)
    shown = {name: judge.label for name, judge in planned.items()}
    labels = Labels(
        shown | {name: label for block in references.values() for name, label in block["labels"].items()}, {}
    )
    printed = with_labels(plan_cost.for_print(rows), labels)
    tables.write(rows, printed, output.with_suffix(""), plan_cost.CAPTION)
    print(printable(printed.to_markdown(index=False, disable_numparse=True)))
    print("\n" + "\n".join([plan_cost.saved(rows), *plan_cost.unmade(references), plan_cost.CAPTION]))
    moving = {judge.label: judge.revision for name, judge in planned.items() if judges[name]["unpinned"]}
    for line in plan_cost.unpinned(moving):
        print(line)
    for name, judge in planned.items():
        if slow := number_formats.warning(name, judge, gpus=judge.gpu):
            print(slow)


def _to_make(block: dict, stores: Path) -> pd.DataFrame:
    """Cost of making the reference answers of a dataset."""
    tables = ITEMS.read(block["items"]), RUBRICS.read(block["rubrics"])
    files = ([Path(path) for path in block[name]] for name in ("templates", "weights"))
    plan = planning.load_plan(*tables, *files, block["settings"])
    return reference_costs.to_make(plan, block["rounds"], {name: Store(stores / name) for name in plan.judges})


def _to_come(plans: Path, dataset: str, judge: str, block: dict) -> dict[str, float]:
    """By study, how many reads of a judge show reference answers that are not there yet, at most."""
    scale = {"n": block["settings"]["n"], "levels": block["settings"]["levels"]}
    found = {}
    for study, told in block["studies"].items():
        if judge in told["judges"] and block["settings"]["n"] in told["scales"]:
            path = plans / study / dataset / f"{judge}.parquet"
            reads = PLAN.read(path, columns=["n", "condition"])
            found[study] = reference_costs.reads_to_come(reads, told["conditions"], **scale)
    return found


if __name__ == "__main__":
    command_line.run(main)
