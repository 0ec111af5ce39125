"""Plan the reads that a recorded judge's answers stand for."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files
from rubric_order.recorded import reads


def main(items: Path, records: list[Path], adapter: str, study: str, judge_id: str, judge: dict, output: Path) -> None:
    """Write one row a recorded answer about the dataset."""
    answers = reads.read(
        records, judge=judge["model"], prompt_style=judge["prompt_style"], duplicates=judge["duplicates"]
    )
    answers = reads.about(answers, adapter)
    plan = reads.plan(
        pd.read_parquet(items), answers, study=study, judge_id=judge_id, n=judge["n"], unknown=judge["unknown"]
    )
    files.write_parquet(plan, output, study=study, judge=judge_id)
    command_line.log.info("%s by %s: %d recorded answers", study, judge_id, len(plan))


if __name__ == "__main__":
    command_line.run(main)
