"""Answering many requests at once in a separate event loop, and handing responses to the job as they come."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from rubric_order.base import signals
from rubric_order.base.errors import InputError
from rubric_order.judging.engines import PASSING, PAUSE, REFUSED, Request, Response

if TYPE_CHECKING:
    from rubric_order.judging.engines.calls import Calls

log = logging.getLogger(__name__)

MAX_REFUSED_IN_A_ROW = 10  # after so many refused requests in a row, the mistake is in config and not in the requests
MAX_FAILED_IN_A_ROW = 50  # after so many requests in a row that failed in all attempts, the endpoint is down
MAX_WAITING_RESPONSES = 4096  # finished responses that the job has not taken yet
ENDING_SECONDS = 15.0  # time for calls under way if a job ends early; SLURM kills a job 30 s after SIGTERM

READ_AHEAD = 64  # requests that are taken before they are needed
HAND_OVER_SECONDS = 0.01  # time in which responses gather: each hand-over makes the event loop wait for the job


class CutOffError(Exception):
    """A request was cut off after a call was sent for it; `response` has the error."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.error)
        self.response = response


Entry = list[Response] | BaseException | None


class Handover:
    """Entries that one thread puts and another takes; the last is None.

    A signal that comes during a wait raises when the wait ends; a plain queue would by then have removed an entry, and
    lost its responses. Here the wait takes no entry, and nothing is raised while one is taken. `ready`: taken and not
    yet handed on.
    """

    def __init__(self) -> None:
        self.ready: list[Response] = []
        self._entries = deque[Entry]()
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()  # holds one item per entry
        self._ended = False

    def put(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._news.put(None)

    def take(self) -> Entry:
        """Wait for the next entry, whose responses are in `ready` too. After the exception of a signal, `rest` yields
        what was taken.
        """
        while not (self._entries or self._ended):
            self._news.get()
        with signals.held_back():
            entry = None if self._ended else self._entries.popleft()
            self._ended = entry is None
            self.ready = entry if isinstance(entry, list) else []
        return entry

    def rest(self) -> Iterator[list[Response]]:
        """Responses that were not handed on: those in `ready`, then those of all entries until the end."""
        if self.ready:
            yield self.ready
        while (entry := self.take()) is not None:
            if isinstance(entry, list):
                yield entry


class Delivery:
    """Delivery of responses to a job. It stops if too many requests in a row fail, see `_deliver`."""

    def __init__(self, calls: Calls, *, at_once: int, waits: bool) -> None:
        """Make the delivery, see `Calls`."""
        self._calls, self._at_once, self._waits = calls, at_once, waits
        self._refused: list[Response] = []
        self._gathered: list[Response] = []  # finished, but not handed over yet
        self._handed = self._taken = 0  # numbers of responses handed over, and taken by the job
        self._in_a_row = self._busy = 0
        self._paused = False
        self._stopped: str | None = None
        self._ending_seconds = ENDING_SECONDS
        self._cancel_work: Callable[[], object] = lambda: None

    def end_early(self, seconds: float | None = None) -> None:
        self._calls.closed, self._ending_seconds = True, ENDING_SECONDS if seconds is None else seconds
        self._cancel_work()

    def responses(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, see `Engine.answer`. When a signal or an error ends the job, calls under way have
        `ENDING_SECONDS`; after a signal all finished responses still come, and requests cut off as failures at their
        full cost.
        """
        finished = Handover()
        loop = asyncio.new_event_loop()
        work = loop.create_task(self._answer_all(iter(requests), finished))
        self._cancel_work = functools.partial(_cancel, loop, work)
        if self._calls.closed:
            self._cancel_work()
        thread = threading.Thread(target=self._run, args=(loop, work, finished), name="endpoint", daemon=True)
        try:
            thread.start()
            while (entry := finished.take()) is not None:
                if isinstance(entry, BaseException):
                    raise entry
                self._taken += len(entry)
                while finished.ready:
                    response = finished.ready[0]
                    del finished.ready[0]  # a signal can raise after a call, such as `pop()`; it cannot raise here
                    yield response
        except (KeyboardInterrupt, SystemExit):
            self.end_early()
            _join(thread)
            finished.put(None)  # in case the thread was not started
            for entry in finished.rest():
                yield from entry
            raise
        finally:
            _cancel(loop, work)
            _join(thread)
            self._calls.report()

    def _run(self, loop: asyncio.AbstractEventLoop, work: asyncio.Task[None], finished: Handover) -> None:
        """Run the event loop, in a separate thread, until all is answered."""
        last: list[BaseException | None] = [None]
        try:
            loop.run_until_complete(work)
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # it is raised where the responses are taken
            last.insert(0, error)
        finally:
            self._hand_over(finished)
            for entry in last:
                finished.put(entry)
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def _answer_all(self, requests: Iterator[Request], finished: Handover) -> None:
        self._refused.clear()
        self._stopped = None  # another round is tried; its first failure of such a kind stops it again
        self._handed = self._taken = self._busy = 0
        source = _Source(requests)
        async with self._calls.session():
            ended_well = False
            tasks = [asyncio.create_task(self._work(source, finished)) for _ in range(self._at_once)]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
                for task in done:
                    task.result()
                ended_well = not self._calls.closed
            finally:
                source.close()
                if not ended_well:
                    await self._last_answers()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                for held in self._refused:  # if the job ends early, the next run asks these requests again
                    error = held.error if ended_well else f"stopped: {held.error}"
                    self._put(dataclasses.replace(held, error=error), finished)

    async def _last_answers(self) -> None:
        """Send no more calls, and wait for the answers to calls under way."""
        self._calls.closed = True
        if not self._waits:
            return
        if self._calls.under_way:
            seconds, calls = self._ending_seconds, self._calls.under_way
            log.info("ending: up to %.0f s for the answers to %d calls", seconds, calls)
        begun = time.monotonic()
        while self._calls.under_way and time.monotonic() < begun + self._ending_seconds:
            with contextlib.suppress(asyncio.CancelledError):  # a signal can come after an error
                await asyncio.sleep(0.02)

    async def _work(self, source: _Source, finished: Handover) -> None:
        """Take and answer requests, one at a time, until none is left."""
        while (request := await source.next()) is not None:
            self._paused = request == PAUSE
            if self._paused:
                self._pass_on_refused(finished)
                continue
            self._busy += 1
            if self._stopped is not None:
                response = Response(request.request_id, error=f"stopped: {self._stopped}", attempts=0)
            else:
                try:
                    response = await self._calls.ask(request)
                except CutOffError as cut_off:
                    self._put(cut_off.response, finished)
                    return
            self._deliver(response, finished)
            self._busy -= 1
            self._pass_on_refused(finished)
            await asyncio.sleep(0)
            while self._handed + len(self._gathered) - self._taken > MAX_WAITING_RESPONSES:
                await asyncio.sleep(0.05)

    def _deliver(self, response: Response, finished: Handover) -> None:
        """Pass a response on. Nothing more is asked after `MAX_FAILED_IN_A_ROW` failures that may pass;
        `MAX_REFUSED_IN_A_ROW` failures of `REFUSED` in a row are an InputError.
        """
        reason = response.reason
        if reason in REFUSED:
            # Held back until a request is answered: the cause may be the settings, and not this prompt.
            self._refused.append(response)
            if len(self._refused) >= MAX_REFUSED_IN_A_ROW:
                raise InputError(
                    f"judge: {MAX_REFUSED_IN_A_ROW} requests in a row failed, the last as {response.error}"
                )
            return
        if reason not in PASSING:
            for held in self._refused:
                self._put(held, finished)
            self._refused.clear()
            self._in_a_row = 0
        elif response.attempts or reason in ("connection", "timeout"):
            self._in_a_row += 1
            if self._in_a_row >= MAX_FAILED_IN_A_ROW and self._stopped is None:
                self._stopped = f"{self._in_a_row} requests in a row failed, the last as {response.error}"
                log.warning("nothing more is asked: %s", self._stopped)
        self._put(response, finished)

    def _pass_on_refused(self, finished: Handover) -> None:
        if self._paused and not self._busy:
            for held in self._refused:
                self._put(held, finished)
            self._refused.clear()

    def _put(self, response: Response, finished: Handover) -> None:
        self._calls.answered(response)
        if not self._gathered:
            asyncio.get_running_loop().call_later(HAND_OVER_SECONDS, self._hand_over, finished)
        self._gathered.append(response)

    def _hand_over(self, finished: Handover) -> None:
        if self._gathered:
            self._handed += len(self._gathered)
            finished.put(self._gathered)
            self._gathered = []


class _Source:
    """Requests from an iterator that may block: a thread takes some of them ahead."""

    def __init__(self, requests: Iterator[Request]) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready = deque[Request | BaseException | None]()  # ends with None, or with the exception that was raised
        self._more = asyncio.Event()  # set when the thread has added an entry
        self._used = 0  # requests used since the thread was last told
        self._wanted: queue.SimpleQueue[int] = queue.SimpleQueue()  # numbers of further requests to take; 0 at the end
        self._wanted.put(READ_AHEAD)
        threading.Thread(target=self._take, args=(requests,), name="requests", daemon=True).start()

    async def next(self) -> Request | None:
        """The next request; None at the end. An exception of the iterator is raised here."""
        while not self._ready:
            self._more.clear()
            if not self._ready:  # the thread checks the event after it has added an entry
                await self._more.wait()
        entry = self._ready[0]
        if isinstance(entry, BaseException):
            raise entry
        if entry is not None:
            self._ready.popleft()
            self._used += 1
            if self._used == READ_AHEAD // 2:
                self._wanted.put(self._used)
                self._used = 0
        return entry

    def close(self) -> None:
        self._wanted.put(0)

    def _take(self, requests: Iterator[Request]) -> None:
        while number := self._wanted.get():
            for _ in range(number):
                entry: Request | BaseException | None
                try:
                    entry = next(requests, None)
                except BaseException as raised:  # `next` raises it
                    entry = raised
                self._ready.append(entry)
                if not self._more.is_set():
                    with contextlib.suppress(RuntimeError):  # the loop is closed
                        self._loop.call_soon_threadsafe(self._more.set)
                if not isinstance(entry, Request):
                    return


def _cancel(loop: asyncio.AbstractEventLoop, work: asyncio.Task[None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(work.cancel)


def _join(thread: threading.Thread) -> None:
    with contextlib.suppress(RuntimeError):  # the thread was not started
        thread.join()
