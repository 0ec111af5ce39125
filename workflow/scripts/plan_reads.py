"""Plan the reads of one study, dataset and judge."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files
from rubric_order.planning.reads import Design, plan_reads
from rubric_order.planning.references import with_references
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
    """Write one row a read, with the request that answers it."""
    made = pd.read_parquet(references) if references else None
    reads = plan_reads(
        with_references(pd.read_parquet(items), made),
        *map(pd.read_parquet, (rubrics, pairs)),
        study=study,
        judge_id=judge_id,
        judge=judge.with_weights(files.read_json(weights)) if weights else judge,
        template=frames.load_template(template),
        design=Design(**design),
        probe=probe,
        profiles=profiles,
    )
    files.write_parquet(reads, output, study=study, judge=judge_id, probe=probe, profiles=profiles, **design)
    command_line.log.info(
        "%s by %s: %d reads, %d distinct requests", study, judge_id, len(reads), reads["request_id"].nunique()
    )


if __name__ == "__main__":
    command_line.run(main)
