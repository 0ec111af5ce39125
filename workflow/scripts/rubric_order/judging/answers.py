"""Metadata of files of responses, one per shard: for each study a digest of its answers and its failed requests; counts
by version.
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
from rubric_order.settings.judges.judge import Judge

TEXTS = ["request_id", "text", "error", "finish_reason", "constrained_text"]  # columns that scores depend on


def write(responses: pd.DataFrame, path: Path, *, studies: Sequence[str], judge: Judge, names: Collection[str]) -> None:
    """Write the responses of a shard with their metadata; `names` of the model do not distinguish versions, see
    `versions.counts`.
    """
    RESPONSES.write(
        parquet.split_row_groups(RESPONSES.table(responses)),
        path,
        judge=judge.identity(list(fields(Judge, {Role.FORMAT}))),
        studies=study_digests(responses, studies),
        versions=versions.counts(responses[responses["error"].isna()], names=names),
    )


def study_digests(responses: pd.DataFrame, studies: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Digest of the answers of each study, and number of its failed requests, in one shard."""
    labels = np.asarray(studies, dtype=object)
    parts = ((name, responses[labels == name]) for name in dict.fromkeys(studies))
    return {name: {"digest": _digest(part), "failed": int(part["error"].notna().sum())} for name, part in parts}


def _digest(responses: pd.DataFrame) -> int:
    """Sum of the hashes of all rows, modulo 2^64: independent of the order of rows and of shards."""
    logprobs = [row.tobytes() if isinstance(row, np.ndarray) else None for row in responses["option_logprobs"]]
    texts = {name: responses[name].astype(object) for name in TEXTS if name in responses}
    rows = pd.util.hash_pandas_object(pd.DataFrame({**texts, "known": logprobs}, dtype=object), index=False)
    return int(rows.to_numpy().sum())


def joined(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Joined `studies` and `versions` of a judge's shards; recorded answers have neither."""
    studies: dict[str, Counter[str]] = {}
    by_version: dict[str, Counter[str]] = {}
    for path in paths:
        metadata = parquet.read_metadata(path)
        for counters, kind in ((studies, "studies"), (by_version, "versions")):
            for name, counts in metadata.get(kind, {}).items():
                counters.setdefault(name, Counter()).update(counts)
    digests = {name: counts | {"digest": counts["digest"] % 2**64} for name, counts in studies.items()}
    return {"studies": digests, "versions": by_version}


def check(metadata: Mapping[str, Any]) -> None:
    """Refuse shards whose answers come from several versions."""
    versions.refuse({what: Counter(counts) for what, counts in metadata["versions"].items()})


def unchanged(listed: Path, scores: Path, plan: Path, *, studies: Iterable[str], store: Path, made_by: str) -> bool:
    """True if scores made now would equal the existing ones: plan, code, settings (`made_by`) and answers are
    unchanged, no request failed (it could be asked again), and the store still holds the answers. `listed` joins the
    shards' metadata.
    """
    if not (listed.exists() and scores.exists() and plan.exists() and any(store.glob("*.parquet"))):
        return False
    metadata = parquet.read_metadata(scores)
    if metadata.get("made_by") != made_by or plan.stat().st_mtime > scores.stat().st_mtime:
        return False
    now, then = json.loads(listed.read_text(encoding="utf-8"))["studies"], metadata["answers"]
    return all(name in now and not now[name]["failed"] and now[name] == then.get(name) for name in studies)
