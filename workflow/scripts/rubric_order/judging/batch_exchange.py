"""Export of requests to a file of the Batch API, and import of its results: for a machine without a network."""

import asyncio
import importlib.metadata
import json
import os
from collections import Counter
from pathlib import Path
from string import Template

import pandas as pd
import pyarrow as pa

from rubric_order.base import files, locks
from rubric_order.base.errors import InputError
from rubric_order.contracts.reads import REQUESTS
from rubric_order.judging import shard
from rubric_order.judging.batches import Records
from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.batches.answers import Reader
from rubric_order.judging.engines.batches.files import Results, line_of
from rubric_order.judging.engines.openai_calls import Connection
from rubric_order.judging.engines.openai_protocol import ChatCompletions
from rubric_order.judging.store import Store
from rubric_order.planning.requests import read_shard
from rubric_order.settings.judges.endpoint import Endpoint

LOCK_SECONDS = 5.0  # time to wait for a job that asks the endpoint; after that, the import ends with an error
STORED_AT_ONCE = 4096


def export(requests: Path, judge: Endpoint, store: Store, output: Path) -> int:
    """Write the requests without an answer, and in no batch under way, as a file of the Batch API; returns their
    number.
    """
    asked = _asked(requests)
    held = {sent.request_id for record in Records(store.folder / "batches").all() for sent in record.requests}
    left = shard.unanswered(asked, store, retry_failed=judge.retry_failed)
    left = left[~left["request_id"].isin(held)]
    chat = _chat(judge)

    async def lines() -> list[bytes]:
        return [line_of(request.request_id, (await chat.prepare(request)).body) for request in shard.as_requests(left)]

    with files.atomic(output) as temporary:
        temporary.write_bytes(b"".join(asyncio.run(lines())))
    return len(left)


def read_in(requests: Path, results: Path, judge: Endpoint, store: Store) -> Counter[str]:
    """Store the results in a file of an endpoint or of ``vllm run-batch``; returns lines by outcome (``answered``,
    ``failed``, ``stored before``, or a reason to ignore them).
    """
    asked = {request.request_id: request for request in shard.as_requests(_asked(requests))}
    lines = Results()
    try:
        with open(results, "rb") as file:
            lines.add(file, asked)
    except OSError as error:
        raise InputError(f"{results}: cannot be read: {error.strerror}") from None
    if not lines.by_request:
        raise InputError(f"{results}: no line is the result of a request of {requests}: {lines.warning() or 'empty'}")
    counts = Counter(lines.ignored)
    with locks.only_writer(store.folder / "calls", patience=LOCK_SECONDS) as alone:
        if not alone:
            raise InputError(f"{store.folder}: a job is asking this judge; import when it has ended")
        rows = store.read(pa.array(list(lines.by_request)), [])
        before = set(rows["request_id"][rows["error"].isna()])
        engine = {
            "engine": "openai",
            "engine_version": importlib.metadata.version("openai"),
            "batch_file": files.content_hash(results),
        }
        chat = _chat(judge)
        reader = Reader(chat)
        counts["stored before"] = len(before)
        responses = asyncio.run(_responses(reader, chat, asked, lines, before))
        for start in range(0, len(responses), STORED_AT_ONCE):
            store.append(responses[start : start + STORED_AT_ONCE], engine=json.dumps(engine, sort_keys=True))
    counts["answered"] = sum(response.error is None for response in responses)
    counts["failed"] = len(responses) - counts["answered"]
    return counts


async def _responses(
    reader: Reader, chat: ChatCompletions, asked: dict[str, Request], lines: Results, before: set[str]
) -> list[Response]:
    """Responses to the requests that have a result and were not answered before."""
    responses = []
    for name, results in lines.by_request.items():
        if name in before:
            continue
        request = asked[name]
        prepared = await chat.prepare(request)
        most = prepared.most(chat.judge.prices)
        responses.append(await reader.response(request, results, "completed", most))
    return responses


def _asked(requests: Path) -> pd.DataFrame:
    REQUESTS.check(requests)
    return read_shard(requests, 1, 1)


def _chat(judge: Endpoint) -> ChatCompletions:
    headers = (name for value in judge.extra_headers.values() for name in Template(value).get_identifiers())
    secrets = (os.environ.get(name, "") for name in (judge.api_key_env or "", *headers))
    return ChatCompletions(judge, Connection(judge.base_url, secrets=secrets, timeout=judge.timeout))
