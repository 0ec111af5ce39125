"""The Batch API: upload files, create batches, look at them, and fetch their results (OpenAI's reference of files and
batches). Failed steps are tried again, except the creation of a batch, which an endpoint charges for.
"""

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import tenacity

from rubric_order.base.errors import InputError
from rubric_order.judging.engines.batches.files import ENDPOINT, PURPOSE
from rubric_order.judging.engines.failures import CallError
from rubric_order.judging.engines.openai_calls import Connection
from rubric_order.settings.judges.metered import Backoff

KEY = "rubric_order"  # key in a batch's metadata; its value is the key of the batch's record
LOOKS = 3  # searches for a batch that may have been created; the endpoint may list it late
PAGE = 100  # most batches per page of a list
MAX_RESULT_BYTES = 4 * 2**30  # most bytes of a file of results

UNDER_WAY = {"validating", "in_progress", "finalizing", "cancelling"}
ENDED = {"completed", "expired", "cancelled"}
FAILED = "failed"

Answer = TypeVar("Answer")


class BatchApi:
    """The Batch API of one endpoint, used while the connection is open."""

    def __init__(self, connection: Connection, *, max_attempts: int, backoff: Backoff) -> None:
        self._connection, self._max_attempts, self._backoff = connection, max_attempts, backoff

    async def upload(self, name: str, content: bytes) -> str:
        """Upload a file of requests. Returns the id of the file."""
        try:
            return _id(await self._tried(lambda: self._connection.upload(name, content, PURPOSE)), "file")
        except InputError as error:
            raise InputError(
                f"{error} (batch: it needs an endpoint with a Batch API, with /files and /batches)"
            ) from None

    async def create(self, file: str, key: str, window: str) -> Mapping[str, Any]:
        """Create a batch, and return the endpoint's description. After a CallError it may have been created, see
        `find`.
        """
        body = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": window, "metadata": {KEY: key}}
        return await self._connection.post("/batches", body)

    async def find(self, key: str, file: str | None) -> Mapping[str, Any] | None:
        """The batch that was created for a record; None if there is and will be none: when it is not listed after
        `LOOKS` searches, its file of requests is deleted, so that a call on its way cannot create it later.
        """
        for _ in range(LOOKS):
            if (batch := await self._listed(key, file)) is not None:
                return batch
            await asyncio.sleep(self._backoff.first)
        if file is not None:
            with contextlib.suppress(InputError):  # the file does not exist any more
                await self._tried(lambda: self._connection.delete(f"/files/{file}"))
        return await self._listed(key, file)

    async def _listed(self, key: str, file: str | None) -> Mapping[str, Any] | None:
        """The batch of a record in the endpoint's list; a CallError if the list lacks what a batch is recognised by."""
        parameters: dict[str, object] = {"limit": PAGE}
        last: set[str] = set()  # last batches of pages
        nameless = 0
        while True:
            page = await self._tried(functools.partial(self._connection.get, "/batches", parameters))
            batches = [batch for batch in page["data"] or [] if isinstance(batch, dict)] if "data" in page else None
            if batches is None or (batches and id_of(batches[-1]) in last):
                raise CallError("malformed", "the list of batches lacks data, or repeats a page")
            for batch in batches:
                metadata, input_file = batch.get("metadata"), batch.get("input_file_id")
                if (isinstance(metadata, dict) and metadata.get(KEY) == key) or (file and input_file == file):
                    return dict(batch)
                nameless += not (metadata or input_file)
            if not (page.get("has_more") and batches):
                break
            last.add(id_of(batches[-1]))
            parameters = {"limit": PAGE, "after": id_of(batches[-1])}
        if nameless:
            raise CallError("malformed", f"{nameless} batches of the list have neither metadata nor an input file")
        return None

    async def batch(self, batch: str) -> Mapping[str, Any]:
        """The present description of a batch."""
        content = await self._tried(lambda: self._connection.get(f"/batches/{batch}"))
        status = str(content.get("status")).lower()  # some endpoints use capital letters
        if status not in {*UNDER_WAY, *ENDED, FAILED}:
            raise CallError("malformed", f"batch {batch} has status {content.get('status')!r:.40}")
        return content | {"status": status}

    async def lines(self, file: str) -> list[bytes]:
        content = await self._tried(lambda: self._connection.download(file, limit=MAX_RESULT_BYTES))
        return content.split(b"\n")

    async def _tried(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, CallError) and error.again),
            stop=tenacity.stop_after_attempt(self._max_attempts),
            wait=tenacity.wait_random_exponential(multiplier=self._backoff.first, max=self._backoff.longest),
            reraise=True,
        )

        async def once() -> Answer:
            return await call()

        return await retrying(once)


def _id(content: Mapping[str, Any], what: str) -> str:
    if not (isinstance(content.get("id"), str) and content["id"]):
        raise CallError("malformed", f"the {what} has no id")
    return str(content["id"])


def id_of(batch: Mapping[str, Any]) -> str:
    return _id(batch, "batch")
