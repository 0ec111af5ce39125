"""Make the plan of a recorded judge: one read for each of its answers."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.contracts.items import ITEMS
from rubric_order.contracts.reads import PLAN
from rubric_order.intake.recorded import plans as reads
from rubric_order.intake.recorded.discovery import COMPARES
from rubric_order.settings.judges import Recorded


def main(
    items: list[Path], records: list[Path], dataset: dict, study: str, judge_id: str, judge: Recorded, output: Path
) -> None:
    """Write one row per recorded answer about the dataset; `items` is empty if answers compare texts.

    `records` may have answers of other judges too. `dataset`: `name`, `adapter`, `benchmark` if any, `probe` of lists.
    """
    answers = reads.read(records, judge=judge.model, **judge.reading)
    answers = reads.about(answers, dataset["adapter"], dataset.get("benchmark"))
    if items:
        items_of_dataset = ITEMS.read(*items)
        plan = reads.plan(items_of_dataset, answers, study=study, judge_id=judge_id, n=judge.n, unknown=judge.unknown)
    else:
        keys = {"study": study, "judge_id": judge_id, "dataset": dataset["name"]}
        plan = reads.plan_comparisons(answers, **keys, probe=dataset.get("probe", COMPARES))
    PLAN.write(plan, output, study=study, judge=judge_id)
    command_line.log.info("%s by %s: %d recorded answers", study, judge_id, len(plan))


if __name__ == "__main__":
    command_line.run(main)
