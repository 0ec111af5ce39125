"""Join what a judge's shards say of their answers."""

import json
from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.judging import answers
from rubric_order.settings.judges import Judge


def main(responses: Path, shards: int, judge: Judge, output: Path) -> None:
    """Write it into one small file, and refuse shards whose answers come from several versions.

    Args:
        responses: folder of the judge's responses, a file per shard.
        shards: their number.
        judge: the judge that answered; its `accept_mixed` takes answers of several versions.
        output: the file, as JSON.
    """
    told = answers.joined(responses / f"{shard}.parquet" for shard in range(1, shards + 1))
    if not judge.accept_mixed:
        answers.check(told)
    files.write_text(json.dumps(told, sort_keys=True, indent=1) + "\n", output)


if __name__ == "__main__":
    command_line.run(main)
