"""Parse every answer, and join the scores with the reads that the answers belong to."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.contracts.reads import PLAN
from rubric_order.contracts.responses import RESPONSES
from rubric_order.contracts.scores import SCORES
from rubric_order.scoring import usage
from rubric_order.scoring.scores import RESPONSES as READ
from rubric_order.scoring.scores import read_requested, score_reads


def main(
    plan: Path,
    responses: Path,
    answers: Path,
    studies: list[str],
    shards: int,
    probe: str,
    answer: dict,
    made_by: str,
    output: Path,
) -> None:
    """Write one row per read and question, with its score or the reason why it has none.

    `answers`: metadata of the shards, see ``list_responses.py``, whose part about `studies` is kept for later
    comparison, see `answers.unchanged`. `made_by`: digest of code and settings, kept too. Files of further shards are
    leftovers.
    """
    reads = PLAN.read(plan)
    paths = [responses / f"{shard}.parquet" for shard in range(1, shards + 1)]
    RESPONSES.check(*paths)
    answered = read_requested(paths, reads["request_id"], [*READ, *usage.TOKENS])
    scores = score_reads(reads, answered.drop(columns=[*usage.TOKENS], errors="ignore"), probe=probe, **answer)
    told = files.read_json(answers)["studies"]
    tokens = {usage.METADATA: usage.tokens(reads, answered)}
    SCORES.write(scores, output, answers={name: told.get(name) for name in studies}, made_by=made_by, **tokens)
    failures = scores["failure"].value_counts()
    command_line.log.info("%d scores, %d missing %s", len(scores), failures.sum(), failures.to_dict() or "")


if __name__ == "__main__":
    command_line.run(main)
