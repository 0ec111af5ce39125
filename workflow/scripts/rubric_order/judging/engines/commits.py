"""Writing of calls to disk before they are sent, in groups, since writing a group takes no longer than one call."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.open_calls import OpenCalls


class Commits:
    """Calls that wait for the disk: while a thread writes one group, the next one gathers."""

    def __init__(self, journal: OpenCalls) -> None:
        self._journal = journal
        self._waiting: list[tuple[str, Amount, asyncio.Future[bool]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    async def add(self, request_id: str, most: Amount) -> bool:
        """Wait until a call is on disk; False where the disk is full. If the caller is cancelled, a written line is
        taken back.
        """
        loop = asyncio.get_running_loop()
        written: asyncio.Future[bool] = loop.create_future()
        self._waiting.append((request_id, most, written))
        if self._writing is None:
            self._writing = loop.create_task(self._write())  # the writing begins after all ready tasks have run once
        try:
            return await written
        except asyncio.CancelledError:
            if not written.cancelled() and written.exception() is None and written.result():
                self._journal.unsent(request_id, most)  # the call was written before the caller was cancelled
            raise

    async def end(self) -> None:
        """Wait until all writing is done, before an event loop ends and when no caller waits."""
        while self._writing is not None:
            try:
                await asyncio.wait([self._writing])
            except asyncio.CancelledError:  # a signal can still come after an error has ended the job
                continue

    def close(self) -> None:
        self._thread.shutdown()

    async def _write(self) -> None:
        """Write one group of calls after another, until no call waits."""
        loop = asyncio.get_running_loop()
        try:
            while group := [call for call in self._waiting if not call[2].done()]:
                self._waiting = []
                calls = [(request_id, most) for request_id, most, _ in group]
                try:
                    whole = await loop.run_in_executor(self._thread, self._journal.add_all, calls)
                except Exception as error:  # it is raised in the callers that wait
                    for _, _, written in group:
                        if not written.done():
                            written.set_exception(error)
                    continue
                for request_id, most, written in group:
                    if not written.done():
                        written.set_result(whole)
                    elif whole:
                        self._journal.unsent(request_id, most)
        finally:
            self._writing = None
