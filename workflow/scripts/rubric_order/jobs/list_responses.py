import json
from pathlib import Path

from rubric_order.base import files
from rubric_order.judging import answers
from rubric_order.settings.judges.judge import Judge


def list_responses(responses: Path, shards: int, judge: Judge, output: Path) -> None:
    """Write the metadata of a judge's responses into one JSON file: digests of answers, versions that answered.

    Shards of several versions are refused unless the judge has `accept_mixed`.
    """
    metadata = answers.joined(responses / f"{shard}.parquet" for shard in range(1, shards + 1))
    if not judge.accept_mixed:
        answers.check(metadata)
    files.write_text(json.dumps(metadata, sort_keys=True, indent=1) + "\n", output)
