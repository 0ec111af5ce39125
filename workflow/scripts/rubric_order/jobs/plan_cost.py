from pathlib import Path
from typing import Any

from rubric_order import tables
from rubric_order.base.errors import printable
from rubric_order.base.labels import Labels
from rubric_order.judging import costs, number_formats, reference_costs
from rubric_order.judging.store import Store
from rubric_order.settings import judges as kinds
from rubric_order.tables import plan_cost as printing


def plan_cost(
    judges: dict[str, Any],
    references: dict[str, Any],
    plans: Path,
    requests: Path,
    stores: Path,
    models: Path,
    output: Path,
) -> None:
    """Print and write, for each judge, the cost of the requests that have no answer yet; other formats lie beside the
    CSV file.

    `judges`: `settings`, folder of `converted` weights, `studies` with datasets, `unpinned` if the hub was not asked.
    `references`: by dataset whose answers are to be made, `settings`, `rounds`, paths, `labels`, and `studies` that
    read it.
    """
    parts = {}
    planned = {name: kinds.read(block["settings"]) for name, block in judges.items()}
    for name, block in judges.items():
        files = {study: requests / study / f"{name}.parquet" for study in block["studies"]}
        reads = costs.planned_reads(plans, block["studies"], name)
        encode = costs.encoder(planned[name], models / block["converted"])
        parts[name] = costs.judge_costs(planned[name], files, reads, Store(stores / name), encode=encode)
        parts[name]["to_come"] = 0.0
        for dataset, how in references.items():
            more = reference_costs.study_reads_to_come(how, plans, dataset, name)
            parts[name]["to_come"] += [more.get(study, 0.0) for study in parts[name]["study"]]
    to_make = {dataset: reference_costs.dataset_requests_left(how, stores) for dataset, how in references.items()}
    rows = printing.table(parts, to_make)
    names = {name: judge.label for name, judge in planned.items()}
    names |= {name: label for how in references.values() for name, label in how["labels"].items()}
    print(printable(tables.report(rows, printing.printout(rows), Labels(names, {}), output, printing.CAPTION)))
    moving = {judge.label: judge.revision for name, judge in planned.items() if judges[name]["unpinned"]}
    slow = (number_formats.warning(name, judge, gpus=judge.gpu) for name, judge in planned.items())
    lines = [printing.saved(rows), *printing.unmade(references), printing.CAPTION]
    print("", *lines, *printing.unpinned(moving), *filter(None, slow), sep="\n")
