"""Answers that exist already, in files: their plan, and their responses."""

from pathlib import Path
from typing import Any

from rubric_order.base import command_line
from rubric_order.contracts.items import ITEMS
from rubric_order.contracts.reads import PLAN
from rubric_order.contracts.responses import RESPONSES
from rubric_order.intake.recorded import plans as reads
from rubric_order.intake.recorded.discovery import COMPARES
from rubric_order.settings.judges.recorded import Recorded


def plan_recorded(
    items: list[Path],
    records: list[Path],
    dataset: dict[str, Any],
    study: str,
    judge_id: str,
    judge: Recorded,
    output: Path,
) -> None:
    """Write one read per recorded answer about the dataset; `items` is empty if answers compare texts.

    `records` may have answers of other judges too. `dataset`: `name`, `adapter`, `benchmark` if any, `probe` of lists.
    """
    answers = reads.read(records, judge=judge.model, **judge.reading)
    answers = reads.about(answers, dataset["adapter"], dataset.get("benchmark"))
    if items:
        texts = ITEMS.read(*items)
        plan = reads.plan(texts, answers, study=study, judge_id=judge_id, n=judge.n, unknown=judge.unknown)
    else:
        keys = {"study": study, "judge_id": judge_id, "dataset": dataset["name"]}
        plan = reads.plan_comparisons(answers, **keys, probe=dataset.get("probe", COMPARES))
    PLAN.write(plan, output, study=study, judge=judge_id)
    command_line.log.info("%s by %s: %d recorded answers", study, judge_id, len(plan))


def read_recorded(records: list[Path], judge: Recorded, output: Path) -> None:
    """Write one response per answer of the judge; `records` may have answers of others too."""
    answers = reads.read(records, judge=judge.model, **judge.reading)
    RESPONSES.write(reads.responses(answers), output)
