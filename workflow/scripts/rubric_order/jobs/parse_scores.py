from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rubric_order.base import command_line, files
from rubric_order.contracts.reads import PLAN
from rubric_order.contracts.responses import RESPONSES
from rubric_order.contracts.scores import SCORES
from rubric_order.scoring import scores as scoring
from rubric_order.scoring import usage


def parse_scores(
    plan: Path,
    responses: Path,
    answers: Path,
    studies: list[str],
    shards: int,
    probe: str,
    answer: dict[str, Any],
    made_by: str,
    output: Path,
) -> None:
    """Write one row per read and question, with its score or the reason why it has none.

    `answers`: file of `list_responses`, whose part about `studies` is kept for later comparison, see
    `answers.unchanged`. `made_by`: digest of code and settings, kept too. Files of further shards are leftovers.
    """
    listed = files.read_json(answers)["studies"]
    paths = [responses / f"{shard}.parquet" for shard in range(1, shards + 1)]
    metadata = {"answers": {name: listed.get(name) for name in studies}, "made_by": made_by}
    scores = write_scores(PLAN.read(plan), paths, output, probe=probe, answer=answer, **metadata)
    failures = scores["failure"].value_counts()
    command_line.log.info("%d scores, %d missing %s", len(scores), failures.sum(), failures.to_dict() or "")


def write_scores(
    reads: pd.DataFrame,
    responses: Sequence[Path],
    output: Path,
    *,
    probe: str,
    answer: Mapping[str, Any],
    **metadata: object,
) -> pd.DataFrame:
    """Scores of reads, which are also written, with the tokens that their answers took; `answer`: see `score_reads`."""
    RESPONSES.check(*responses)
    answered = scoring.read_requested(responses, reads["request_id"], [*scoring.RESPONSES, *usage.TOKENS])
    texts = answered.drop(columns=[*usage.TOKENS], errors="ignore")
    scores = scoring.score_reads(reads, texts, probe=probe, **answer)
    SCORES.write(scores, output, **metadata, **{usage.METADATA: usage.tokens(reads, answered)})
    return scores
