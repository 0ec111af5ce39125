"""Metadata of a judge's files of responses: digests that show if answers changed, and the versions of the judge.

There is one file of responses for each shard. For each study with requests in the shard, the metadata of the file hold
a digest of the answers and the number of failed requests. For all studies together, they hold the number of answers
from each version, see `versions.counts`. One small file per judge joins the metadata of all shards.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import parquet
from rubric_order.contracts.responses import RESPONSES
from rubric_order.judging import versions
from rubric_order.settings.base import Role, fields
from rubric_order.settings.judges import Judge

TEXTS = ["request_id", "text", "error", "finish_reason", "constrained_text"]  # columns that scores depend on


def write(responses: pd.DataFrame, path: Path, *, studies: Sequence[str], judge: Judge, names: Collection[str]) -> None:
    """Write the responses of a shard to a file, with their metadata.

    Args:
        responses: responses of the shard, see `shard.judge`.
        path: the file.
        studies: the study of each row of `responses`.
        judge: the judge's settings.
        names: names of the model that do not tell its version, see `versions.counts`.
    """
    RESPONSES.write(
        parquet.split_row_groups(RESPONSES.table(responses)),
        path,
        judge=judge.identity(list(fields(Judge, {Role.FORMAT}))),
        studies=of_studies(responses, studies),
        versions=versions.counts(responses[responses["error"].isna()], names=names),
    )


def of_studies(responses: pd.DataFrame, studies: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Dictionary from each study to the digest of its answers and the number of its failed requests, in one shard.

    Args:
        responses: responses of one shard, see `shard.judge`.
        studies: the study of each row.
    """
    labels = np.asarray(studies, dtype=object)
    parts = ((name, responses[labels == name]) for name in dict.fromkeys(studies))
    return {name: {"digest": _digest(part), "failed": int(part["error"].notna().sum())} for name, part in parts}


def _digest(responses: pd.DataFrame) -> int:
    """Sum of the hashes of all rows, modulo 2^64. It depends neither on the order of rows nor on their shard."""
    logprobs = [row.tobytes() if isinstance(row, np.ndarray) else None for row in responses["option_logprobs"]]
    texts = {name: responses[name].astype(object) for name in TEXTS if name in responses}
    rows = pd.util.hash_pandas_object(pd.DataFrame({**texts, "known": logprobs}, dtype=object), index=False)
    return int(rows.to_numpy().sum())


def joined(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Joined metadata of a judge's shards: `studies` and `versions`. Recorded answers have no such metadata.

    Args:
        paths: the files of responses, in the order of their shards.
    """
    studies: dict[str, Counter[str]] = {}
    given: dict[str, Counter[str]] = {}
    for path in paths:
        told = parquet.read_metadata(path)
        for counters, kind in ((studies, "studies"), (given, "versions")):
            for name, counts in told.get(kind, {}).items():
                counters.setdefault(name, Counter()).update(counts)
    digests = {name: counts | {"digest": counts["digest"] % 2**64} for name, counts in studies.items()}
    return {"studies": digests, "versions": given}


def check(told: Mapping[str, Any]) -> None:
    """Refuse shards whose answers come from several versions.

    Raises:
        InputError: the answers come from several versions. The message names them.
    """
    versions.refuse({what: Counter(counts) for what, counts in told["versions"].items()})


def unchanged(listed: Path, scores: Path, plan: Path, *, studies: Iterable[str], store: Path, made_by: str) -> bool:
    """True if a new run would make scores that equal the existing scores. Four conditions must hold:

    - The plan, the code and the settings are unchanged.
    - The answers are unchanged.
    - No request failed, since a later run could ask a failed request again.
    - The response store exists. It keeps each answer under the id of its request.

    Args:
        listed: the file that joins the metadata of the shards.
        scores: file of the scores.
        plan: file of the planned reads behind the scores.
        studies: studies whose requests the scores need.
        store: the judge's response store.
        made_by: code and settings that make scores now.
    """
    if not (listed.exists() and scores.exists() and plan.exists() and any(store.glob("*.parquet"))):
        return False
    made = parquet.read_metadata(scores)
    if made.get("made_by") != made_by or plan.stat().st_mtime > scores.stat().st_mtime:
        return False
    now, then = json.loads(listed.read_text(encoding="utf-8"))["studies"], made["answers"]
    return all(name in now and not now[name]["failed"] and now[name] == then.get(name) for name in studies)
