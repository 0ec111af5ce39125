"""Calls that were sent, and their answers until they are stored: on disk, so that a kill costs no answer that has come.

Before a call is sent, a line says for which request it is and the most that it can use. When its answer has come, a
second line holds it. When the next job over the same endpoint begins, it stores the answers that the response store
lacks. Each call without an answer is booked there: it counts as spent, and its request is asked again. The line of a
call is on disk before the call is sent, and so are all lines before it: neither a kill nor a power cut loses them.
"""

import contextlib
import errno
import hashlib
import itertools
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import Response
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.store import Store

log = logging.getLogger(__name__)

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # the file cannot grow: disk, quota, or `ulimit -f`
CALL, ANSWER = "call", "answer"  # kinds of lines
LATE_SECONDS = 60.0  # time in which the answers to a killed job's calls are tried to be written
STORED_AT_ONCE = 16_384  # most answers of a killed job that are in memory at once


class OpenCalls:
    """The file of one job at a time."""

    def __init__(self, path: Path, engine: str) -> None:
        """Begin the file.

        Args:
            path: the file; another job's has been booked.
            engine: description of the engine, as the store will hold it.
        """
        self.path, self.engine = path, engine
        self._late: list[list] = []  # responses to the calls that were under way when the disk filled up
        self._told = False

    def add(self, request_id: str, most: Amount) -> bool:
        """Say that a call is about to be sent; False where the disk is full, and it has to wait.

        Raises:
            InputError: the file cannot be written.
        """
        try:
            full = not self._write([*self._late, [CALL, self.engine, request_id, most]], through=True)
        except OSError as error:
            if error.errno not in FULL:
                raise InputError(f"{self.path}: {os.strerror(error.errno)}; no call is sent") from None
            full = True
        if not full:
            self._late.clear()
        if full and not self._told:
            log.warning("%s: the disk is full: calls wait", self.path)
        self._told = full
        return not full

    def answered(self, response: Response) -> None:
        """Write a response to the file. If the disk does not take it, it is written before the line of the next call.

        The job is given it too, and stores it even if this file cannot be written.
        """
        known = {name: value for name, value in vars(response).items() if value is not None}
        entry = [ANSWER, self.engine, response.request_id, known]
        with contextlib.suppress(OSError):
            if self._write([entry], through=False):
                return
        self._late.append(entry)

    def write_late(self) -> None:
        """Write the responses that the disk did not take. Try for `LATE_SECONDS`, since it may be emptied."""
        deadline = time.monotonic() + LATE_SECONDS
        while self._late and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if self._write(self._late, through=False):
                    self._late.clear()
                    return
            time.sleep(min(1.0, LATE_SECONDS / 10))

    def _write(self, entries: list[list], *, through: bool) -> bool:
        """Add lines, `through` to the disk itself where asked; False where the disk does not take all of them."""
        # What a kill or a power cut left of a line is ended by the next one.
        lines = "".join(f"\n{json.dumps([*entry, _digest(entry)])}\n" for entry in entries).encode()
        with open(self.path, "ab", buffering=0) as file:
            before = os.fstat(file.fileno()).st_size
            whole = file.write(lines) == len(lines)
            if not whole:
                os.ftruncate(file.fileno(), before)
            if through:
                os.fsync(file)
        return whole


def book(path: Path, store: Store) -> None:
    """Store the answers of a file that the store lacks, book the calls that have none, and remove the file.

    A call without an answer is booked as a failure that may pass. No job over the endpoint may be running.
    """
    left: dict[tuple[str, str], Amount] = {}
    for engine, name, used in _lines(path, CALL):
        left[engine, name] = left.get((engine, name), Amount()).plus(Amount(*used))
    if left:
        stored = store.rows_of(dict.fromkeys(name for _, name in left))
        left = {(engine, name): used for (engine, name), used in left.items() if (name, engine) not in stored}
    if left:
        answers = (
            (engine, Response(**known))
            for engine, name, known in _lines(path, ANSWER)
            if left.pop((engine, name), None) is not None
        )
        if count := _append(answers, store):
            log.info("%d answers of a job that ended early are stored", count)
        error = "stopped: the job ended before the answer was stored"
        calls = sum(used.calls for used in left.values())
        _append(
            (
                (engine, Response(name, error=error, attempts=used.calls, tokens=used.tokens, cost=used.cost))
                for (engine, name), used in left.items()
            ),
            store,
        )
        if calls:
            log.info("%d calls of a job that ended early count as spent", calls)
    path.unlink(missing_ok=True)


def _append(found: Iterator[tuple[str, Response]], store: Store) -> int:
    """Write responses, each with the description of its engine, to the store; how many there were."""
    count = 0
    for engine, group in itertools.groupby(found, key=lambda entry: entry[0]):
        responses = (response for _, response in group)
        while part := list(itertools.islice(responses, STORED_AT_ONCE)):
            store.append(part, engine=engine)
            count += len(part)
    return count


def _lines(path: Path, kind: str) -> Iterator[tuple[str, str, Any]]:
    """The whole lines of one kind: engine, request, and what a call can have used or the fields of a response.

    A line that does not match its digest is left out: a kill has cut it, or a bit has flipped.
    """
    if not path.exists():
        return
    begins = json.dumps([kind])[:-1].encode()
    with open(path, "rb") as file:
        for line in file:
            if not line.startswith(begins):
                continue
            try:
                *entry, digest = json.loads(line)
                _, engine, name, known = entry
                whole = digest == _digest(entry)
            except (ValueError, TypeError, RecursionError):
                continue
            if whole:
                yield sys.intern(engine), name, known


def _digest(entry: list) -> str:
    return hashlib.blake2b(json.dumps(entry).encode(), digest_size=16).hexdigest()
