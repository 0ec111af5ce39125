"""File of the calls that were sent, and of their answers until these are stored, so that a kill or a power cut loses
none.

A line with the request and the most that it can use is on disk before a call is sent; a second line holds its answer.
The next job over the endpoint stores answers that the store lacks, and books calls without one as spent; these are
asked again.
"""

import asyncio
import contextlib
import dataclasses
import errno
import hashlib
import itertools
import json
import logging
import math
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import Response
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.store import Store

log = logging.getLogger(__name__)

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # the file cannot grow: disk, quota, or `ulimit -f`
CALL, ANSWER, UNSENT = "call", "answer", "unsent"  # kinds of lines
MOST_STORED = 2**62  # most tokens of a call, or calls of a request, that are booked: a store holds no more
FULL_SECONDS = 600.0  # time for which calls wait for room on a full disk; then the job ends
FIELDS = {field.name for field in dataclasses.fields(Response)}
STORED_AT_ONCE = 16_384  # most answers of a killed job that are in memory at once


class OpenCalls:
    """File of the open calls of one job at a time."""

    def __init__(self, path: Path, engine: str) -> None:
        """Begin the file, after that of an earlier job was booked (`book`); `engine`: description, as the store will
        hold it.
        """
        self.path, self.engine = path, engine
        self._late: list[list[Any]] = []  # responses to the calls that were under way when the disk filled up
        self._full_since: float | None = None
        self._turn = threading.Lock()  # calls are added in another thread than answers

    def add(self, request_id: str, most: Amount) -> bool:
        return self.add_all([(request_id, most)])

    def add_all(self, calls: Sequence[tuple[str, Amount]]) -> bool:
        """Write down calls, each with the most that it can use, before they are sent; False where the disk is full, so
        that all wait. One flush for all; answers may be written in another thread meanwhile. An error after
        `FULL_SECONDS`.
        """
        late = self._late.copy()
        try:
            entries = [[CALL, self.engine, request_id, most] for request_id, most in calls]
            full = not self._write(late + entries, through=True)
        except OSError as error:
            if error.errno not in FULL:
                raise InputError(f"{self.path}: {error.strerror}; no call is sent") from None
            full = True
        if not full:
            del self._late[: len(late)]
        now = time.monotonic()
        if full and self._full_since is None:
            log.warning("%s: the disk is full: calls wait", self.path)
        self._full_since = (self._full_since or now) if full else None
        if self._full_since is not None and now - self._full_since >= FULL_SECONDS:
            raise InputError(f"{self.path}: the disk is full, and no call is sent; make room and run again")
        return not full

    def answered(self, response: Response) -> None:
        """Write a response, or keep it for the next write if the disk does not take it; the job stores it in
        any case.
        """
        fields = {name: value for name, value in vars(response).items() if value is not None}
        entry = [ANSWER, self.engine, response.request_id, fields]
        with contextlib.suppress(OSError):
            if self._write([entry], through=False):
                return
        self._late.append(entry)

    def unsent(self, request_id: str, most: Amount) -> None:
        """Take back a call that was never sent; on a full disk it stays booked."""
        with contextlib.suppress(OSError):
            self._write([[UNSENT, self.engine, request_id, most]], through=False)

    def _write(self, entries: list[list[Any]], *, through: bool) -> bool:
        """Add lines; False where the disk does not take all of them. `through`: flush them to the disk itself."""
        # Each line begins with a line end too: it ends a line that a kill or a power cut has left incomplete.
        lines = "".join(f"\n{_line(entry)}\n" for entry in entries).encode()
        with open(self.path, "ab", buffering=0) as file:
            with self._turn:
                before = os.fstat(file.fileno()).st_size
                whole = file.write(lines) == len(lines)
                if not whole:
                    os.ftruncate(file.fileno(), before)
            if through:
                os.fsync(file)
        return whole


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


def book(path: Path, store: Store) -> None:
    """Store the answers that the store lacks, book calls without one as failures that may pass, and remove the file.
    Lines that cannot be booked go to the file of `set_aside`. No job over the endpoint may be running.
    """
    aside: list[bytes] = []
    open_calls = _open_calls(path, aside)
    if open_calls:
        stored = store.rows_of(dict.fromkeys(name for _, name in open_calls))
        open_calls = {
            (engine, name): used for (engine, name), used in open_calls.items() if (name, engine) not in stored
        }
    if open_calls:
        if count := _append(_answers(path, open_calls, aside, store), store):
            log.info("%d answers of a job that ended early are stored", count)
        error = "stopped: the job ended before the answer was stored"
        calls = sum(used.calls for used in open_calls.values())
        _append(
            (
                (engine, Response(name, error=error, attempts=used.calls, tokens=used.tokens, cost=used.cost))
                for (engine, name), used in open_calls.items()
            ),
            store,
        )
        if calls:
            log.info("%d calls of a job that ended early count as spent", calls)
    if aside:
        aside_path = set_aside(path)
        with open(aside_path, "ab") as file:
            file.writelines(aside)
            file.flush()
            os.fsync(file.fileno())
        log.warning("%s: %d lines cannot be booked as they are, and are kept in %s", path, len(aside), aside_path)
    path.unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.set_aside{path.suffix}")


def _open_calls(path: Path, aside: list[bytes]) -> dict[tuple[str, str], Amount]:
    """The most that the calls of each engine and request can have used together. `aside` receives unreadable lines and
    numbers too large; an unreadable amount counts as one call.
    """
    used: dict[tuple[str, str], Amount] = {}
    for kind, engine, name, most, line in _lines(path, answers=False):
        amount = _amount(most) if kind in (CALL, UNSENT) else None
        if amount is None:
            aside.append(line)
            if kind != CALL:
                continue
            amount = Amount(1)
        elif max(amount) > MOST_STORED:
            aside.append(line)
            amount = Amount(min(amount.calls, MOST_STORED), min(amount.tokens, MOST_STORED), amount.cost)
        before = used.get((engine, name), Amount())
        used[engine, name] = before.plus(amount) if kind == CALL else before.minus(amount)
    bounded = {key: Amount(amount.calls, min(amount.tokens, MOST_STORED), amount.cost) for key, amount in used.items()}
    return {key: amount for key, amount in bounded.items() if amount.calls > 0}


def _amount(most: object) -> Amount | None:
    if not isinstance(most, list) or len(most) < len(Amount._fields):
        return None
    numbers = most[: len(Amount._fields)]
    right = all(type(number) in (int, float) and 0 <= number < math.inf for number in numbers)
    return Amount(int(numbers[0]), int(numbers[1]), float(numbers[2])) if right else None


def _answers(
    path: Path, open_calls: dict[tuple[str, str], Amount], aside: list[bytes], store: Store
) -> Iterator[tuple[str, Response]]:
    """Answers to the open calls with their engines; the calls are removed from `open_calls`. Lines with unknown fields
    or numbers too large go to `aside` too; an answer that the store cannot hold goes there alone, and its call stays
    open.
    """
    for _, engine, name, fields, line in _lines(path, answers=True):
        if (engine, name) not in open_calls:
            continue
        response = _response(name, fields, store)
        if response is None or vars(response) != {**vars(Response(name)), **fields}:
            aside.append(line)
        if response is not None:
            del open_calls[engine, name]
            yield engine, response


def _response(name: str, fields: object, store: Store) -> Response | None:
    """The response in a line, with numbers made small enough for the store; None where it cannot hold it."""
    if not isinstance(fields, dict):
        return None
    response = Response(**{field: value for field, value in fields.items() if field in FIELDS} | {"request_id": name})
    if store.can_hold(response):
        return response
    numbers = {field: min(fields[field], MOST_STORED) for field in ("tokens",) if type(fields.get(field)) is int}
    response = dataclasses.replace(response, **numbers)
    return response if store.can_hold(response) else None


def _append(responses: Iterator[tuple[str, Response]], store: Store) -> int:
    count = 0
    for engine, group in itertools.groupby(responses, key=lambda entry: entry[0]):
        ready = (response for _, response in group)
        while part := list(itertools.islice(ready, STORED_AT_ONCE)):
            store.append(part, engine=engine)
            count += len(part)
    return count


def _lines(path: Path, *, answers: bool) -> Iterator[tuple[str, str, str, Any, bytes]]:
    """Kind, engine, request, content (the most that a call can use, or fields of a response) and bytes of each line
    that matches its digest: others were cut by a kill, or a bit has flipped.
    """
    if not path.exists():
        return
    begins = json.dumps([ANSWER])[:-1].encode()
    with open(path, "rb") as file:
        for line in file:
            if line.startswith(begins) != answers:
                continue
            try:
                *entry, digest = json.loads(line)
                kind, engine, name, content, *_ = entry
                whole = digest == _digest(entry)
            except (ValueError, TypeError, RecursionError):
                continue
            if whole and isinstance(engine, str) and isinstance(name, str):
                yield kind, sys.intern(engine), name, content, line.strip() + b"\n"


def _line(entry: list[Any]) -> str:
    written = json.dumps(entry)
    return f'{written[:-1]}, "{_digest_of(written)}"]'


def _digest(entry: list[Any]) -> str:
    return _digest_of(json.dumps(entry))


def _digest_of(written: str) -> str:
    return hashlib.blake2b(written.encode(), digest_size=16).hexdigest()
