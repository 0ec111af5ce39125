"""Join the metadata of a judge's files of responses: digests of their answers, and versions that answered."""

import json
from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.judging import answers
from rubric_order.settings.judges import Judge


def main(responses: Path, shards: int, judge: Judge, output: Path) -> None:
    """Write the metadata into one small file. Refuse shards whose answers come from several versions.

    Args:
        responses: folder of the judge's responses, with one file per shard.
        shards: number of the judge's shards.
        judge: the judge that answered. With its `accept_mixed`, answers of several versions are accepted.
        output: the file, as JSON.
    """
    told = answers.joined(responses / f"{shard}.parquet" for shard in range(1, shards + 1))
    if not judge.accept_mixed:
        answers.check(told)
    files.write_text(json.dumps(told, sort_keys=True, indent=1) + "\n", output)


if __name__ == "__main__":
    command_line.run(main)
