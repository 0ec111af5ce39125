"""Report the cost of judging before it begins: requests, tokens, hours and money."""

from pathlib import Path

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.base.errors import printable
from rubric_order.base.labels import Labels, replace_ids
from rubric_order.judging import costs, number_formats, reference_costs
from rubric_order.judging.store import Store
from rubric_order.settings.judges import read
from rubric_order.tables import plan_cost


def main(judges: dict, references: dict, plans: Path, requests: Path, stores: Path, models: Path, output: Path) -> None:
    """Print and write, for each judge, the cost of the requests that have no answer yet; other formats lie beside the
    CSV file.

    `judges`: `settings`, folder of `converted` weights, `studies` with datasets, `unpinned` if the hub was not asked.
    `references`: by dataset whose answers are to be made, `settings`, `rounds`, paths, `labels`, and `studies` that
    read it.
    """
    parts = {}
    planned = {name: read(block["settings"]) for name, block in judges.items()}
    for name, block in judges.items():
        files = {study: requests / study / f"{name}.parquet" for study in block["studies"]}
        reads = costs.planned_reads(plans, block["studies"], name)
        encode = costs.encoder(planned[name], models / block["converted"])
        parts[name] = costs.judge_costs(planned[name], files, reads, Store(stores / name), encode=encode)
        parts[name]["to_come"] = 0.0
        for dataset, how in references.items():
            more = reference_costs.study_reads_to_come(how, plans, dataset, name)
            parts[name]["to_come"] += [more.get(study, 0.0) for study in parts[name]["study"]]
    made = {dataset: reference_costs.dataset_requests_left(how, stores) for dataset, how in references.items()}
    rows = plan_cost.table(parts, made)
    labels = {name: judge.label for name, judge in planned.items()}
    labels |= {name: label for how in references.values() for name, label in how["labels"].items()}
    printed = replace_ids(plan_cost.for_print(rows), Labels(labels, {}))
    tables.write(rows, printed, output.with_suffix(""), plan_cost.CAPTION)
    print(printable(printed.to_markdown(index=False, disable_numparse=True)))
    moving = {judge.label: judge.revision for name, judge in planned.items() if judges[name]["unpinned"]}
    slow = (number_formats.warning(name, judge, gpus=judge.gpu) for name, judge in planned.items())
    lines = [plan_cost.saved(rows), *plan_cost.unmade(references), plan_cost.CAPTION]
    print("", *lines, *plan_cost.unpinned(moving), *filter(None, slow), sep="\n")


if __name__ == "__main__":
    command_line.run(main)
