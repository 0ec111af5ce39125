"""Find what every answer chooses and join the answers with the reads they belong to."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files
from rubric_order.scoring.scores import score_reads


def main(plan: Path, responses: list[Path], probe: str, answer: dict, output: Path) -> None:
    """Write one row a read and question, with its score or the reason why it has none."""
    scores = score_reads(pd.read_parquet(plan), files.read_tables(responses), probe=probe, **answer)
    files.write_parquet(scores, output)
    failures = scores["failure"].value_counts()
    command_line.log.info("%d scores, %d missing %s", len(scores), failures.sum(), failures.to_dict() or "")


if __name__ == "__main__":
    command_line.run(main)
