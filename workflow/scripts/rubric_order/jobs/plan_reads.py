from pathlib import Path
from typing import Any

from rubric_order.base import command_line, files
from rubric_order.contracts.items import ITEMS, PAIRS, REFERENCES, RUBRICS
from rubric_order.contracts.reads import PLAN
from rubric_order.planning import reads as planning
from rubric_order.planning.references import add_references
from rubric_order.prompts import frames
from rubric_order.settings.judges.judge import Judge


def plan_reads(
    items: Path,
    rubrics: Path,
    pairs: Path,
    references: Path | None,
    template: Path,
    study: str,
    judge_id: str,
    judge: Judge,
    weights: Path | None,
    probe: str,
    profiles: list[str],
    design: dict[str, Any],
    output: Path,
) -> None:
    """Write one row per read of a study, dataset and judge, with the id of the request that answers it.

    `weights`: file of `describe_weights`; None if config names them, or if only costs are told. `design`: fields of
    `Design`.
    """
    table = planning.plan_reads(
        add_references(ITEMS.read(items), REFERENCES.read(references) if references else None),
        RUBRICS.read(rubrics),
        PAIRS.read(pairs),
        study=study,
        judge_id=judge_id,
        judge=judge.add_weights(files.read_json(weights)) if weights else judge,
        template=frames.load_template(template),
        design=planning.Design(**design),
        probe=probe,
        profiles=profiles,
    )
    PLAN.write(table, output, study=study, judge=judge_id, probe=probe, profiles=profiles, **design)
    command_line.log.info(
        "%s by %s: %d reads, %d distinct requests", study, judge_id, len(table), table["request_id"].nunique()
    )
