"""Plan the reads that a recorded judge's answers stand for."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files
from rubric_order.recorded import recorded


def main(items: Path, records: list[Path], adapter: str, study: str, judge_id: str, judge: dict, output: Path) -> None:
    """Write one row a recorded answer about the dataset."""
    answers = recorded.read_records(
        records, judge=judge["model"], prompt_style=judge["prompt_style"], duplicates=judge["duplicates"]
    )
    answers = recorded.about(answers, adapter)
    reads = recorded.plan_recorded(
        pd.read_parquet(items), answers, study=study, judge_id=judge_id, n=judge["n"], unknown=judge["unknown"]
    )
    files.write_parquet(reads, output, study=study, judge=judge_id)
    command_line.log.info("%s by %s: %d recorded answers", study, judge_id, len(reads))


if __name__ == "__main__":
    command_line.run(main)
