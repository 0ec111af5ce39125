"""Pilot of a judge: a sample of its requests, asked first to estimate the time and money of all others."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from rubric_order.judging import shard
from rubric_order.judging.readable import Readable
from rubric_order.planning.requests import read_studies
from rubric_order.settings.judges.judge import Judge

log = logging.getLogger(__name__)

REQUESTS = 200
STRETCHES = 8  # runs of neighbouring requests that make up the sample: neighbours share prefixes, which a cache saves


def read(requests: pd.DataFrame, responses: pd.DataFrame, judge: Judge) -> Readable:
    """Count of a pilot's answers that can be read; a study of which none can is logged."""
    readable = Readable(judge)
    shard.count_read(readable, requests, responses)
    if readable.unread:
        log.warning("no answer of a study can be read: %s", readable.unread)
    return readable


def sample(paths: Sequence[Path], probes: Sequence[str], size: int = REQUESTS) -> tuple[pd.DataFrame, list[str]]:
    """About `size` requests with the study of each: evenly spaced blocks of each study, by its share of all requests,
    no unit split.
    """
    total = sum(pq.read_metadata(path).num_rows for path in paths)
    shards = max(total * STRETCHES // size, 1)
    chosen = np.unique(np.linspace(1, shards, STRETCHES).round().astype(int)) if total > size else range(1, shards + 1)
    parts, studies = zip(*(read_studies(paths, probes, int(shard), shards) for shard in chosen), strict=True)
    return pd.concat(parts, ignore_index=True), [study for part in studies for study in part]
