"""Find the score in every answer and join the answers with the reads they belong to."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files
from rubric_order.scoring.scores import score_reads
from rubric_order.scoring.scores_criteria import score_criteria


def main(plan: Path, responses: list[Path], answer: dict, output: Path) -> None:
    """Write one row a read (and criterion), with its score or the reason why it has none."""
    reads = pd.read_parquet(plan)
    answers = files.read_tables(responses)
    several = "criterion_names" in reads
    scores = score_criteria(reads, answers) if several else score_reads(reads, answers, **answer)
    files.write_parquet(scores, output)
    failures = scores["failure"].value_counts()
    command_line.log.info("%d reads, %d without a score %s", len(scores), failures.sum(), failures.to_dict() or "")


if __name__ == "__main__":
    command_line.run(main)
