"""Join the metadata of a judge's files of responses: digests of their answers, and versions that answered."""

import json
from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.judging import answers
from rubric_order.settings.judges import Judge


def main(responses: Path, shards: int, judge: Judge, output: Path) -> None:
    """Write the metadata into one JSON file; shards of several versions are refused unless the judge has
    `accept_mixed`.
    """
    told = answers.joined(responses / f"{shard}.parquet" for shard in range(1, shards + 1))
    if not judge.accept_mixed:
        answers.check(told)
    files.write_text(json.dumps(told, sort_keys=True, indent=1) + "\n", output)


if __name__ == "__main__":
    command_line.run(main)
