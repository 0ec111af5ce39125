"""Plan the reads of one study, dataset and judge."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.contracts.items import ITEMS, PAIRS, REFERENCES, RUBRICS
from rubric_order.contracts.reads import PLAN
from rubric_order.planning.reads import Design, plan_reads
from rubric_order.planning.references import add_references
from rubric_order.prompts import frames
from rubric_order.settings.judges import Judge


def main(
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
    design: dict,
    output: Path,
) -> None:
    """Write one row per read, with the id of the request that answers it.

    `references`: None without any. `weights`: file of ``describe_weights.py``; None if config names them, or if only
    costs are told. `design`: fields of `Design`.
    """
    made = REFERENCES.read(references) if references else None
    reads = plan_reads(
        add_references(ITEMS.read(items), made),
        RUBRICS.read(rubrics),
        PAIRS.read(pairs),
        study=study,
        judge_id=judge_id,
        judge=judge.add_weights(files.read_json(weights)) if weights else judge,
        template=frames.load_template(template),
        design=Design(**design),
        probe=probe,
        profiles=profiles,
    )
    PLAN.write(reads, output, study=study, judge=judge_id, probe=probe, profiles=profiles, **design)
    command_line.log.info(
        "%s by %s: %d reads, %d distinct requests", study, judge_id, len(reads), reads["request_id"].nunique()
    )


if __name__ == "__main__":
    command_line.run(main)
