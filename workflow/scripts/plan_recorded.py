"""Plan the reads that a recorded judge's answers stand for."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.contracts.items import ITEMS
from rubric_order.contracts.reads import PLAN
from rubric_order.recorded import reads
from rubric_order.recorded.discovery import COMPARES
from rubric_order.settings.judges import Recorded


def main(
    items: list[Path], records: list[Path], dataset: dict, study: str, judge_id: str, judge: Recorded, output: Path
) -> None:
    """Write one row a recorded answer about the dataset.

    Args:
        items: file of the dataset's items, where texts are scored; none where they are compared.
        records: files with the answers of the judge, and maybe of others.
        dataset: its `name` and `adapter`, the `benchmark` that it is of, where config names one, and the study's
            `probe`, where it is about lists.
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
