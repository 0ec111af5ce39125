"""Plan the reads of one study, dataset and judge."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files
from rubric_order.planning import plan
from rubric_order.prompts import frames


def main(
    items: Path, rubrics: Path, template: Path, study: str, judge_id: str, judge: dict, settings: dict, output: Path
) -> None:
    """Write one row a read, with the request that answers it."""
    reads = plan.plan_reads(
        pd.read_parquet(items),
        pd.read_parquet(rubrics),
        study=study,
        judge_id=judge_id,
        judge=judge,
        template=frames.load_template(template),
        **settings,
    )
    files.write_parquet(reads, output, study=study, judge=judge_id, **settings)
    command_line.log.info(
        "%s by %s: %d reads, %d distinct requests", study, judge_id, len(reads), reads["request_id"].nunique()
    )


if __name__ == "__main__":
    command_line.run(main)
