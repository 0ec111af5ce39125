"""Calls that were sent and whose answers are not stored yet: on disk, so that a job that is killed leaves its bill.

Before a call is sent, a line says for which request it is and the most that it can use. When the next job over the same
endpoint begins, each call without a stored answer is booked in the response store: it counts as spent, and its request
is asked again. A line is on disk before its call is sent: neither the end of the process in any way nor a power cut
loses it.
"""

import errno
import json
import logging
import os
from pathlib import Path

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import Response
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.store import Store

log = logging.getLogger(__name__)

FULL = {errno.ENOSPC, errno.EDQUOT}


class OpenCalls:
    """The file of one job at a time."""

    def __init__(self, path: Path, engine: str) -> None:
        """Begin the file.

        Args:
            path: the file; another job's has been booked.
            engine: description of the engine, as the store will hold it.
        """
        self.path, self.engine = path, engine
        self._told = False

    def add(self, request_id: str, most: Amount) -> bool:
        """Say that a call is about to be sent; False where the disk is full, and it has to wait.

        Raises:
            InputError: the file cannot be written.
        """
        line = json.dumps([self.engine, request_id, *most])
        try:
            with open(self.path, "ab", buffering=0) as file:
                # A line that a full disk cut is ended by the next one.
                written = file.write(f"\n{line}\n".encode())
                os.fsync(file)
        except OSError as error:
            if error.errno not in FULL:
                raise InputError(f"{self.path}: {os.strerror(error.errno)}; no call is sent") from None
            written = 0
        full = written < len(line) + 2
        if full and not self._told:
            log.warning("%s: the disk is full: calls wait", self.path)
        self._told = full
        return not full


def book(path: Path, store: Store) -> None:
    """Book the calls of a file whose answers are not in the store, as failures that may pass, and remove the file.

    No job over the endpoint may be running.
    """
    calls = _read(path)
    if calls:
        stored = store.rows_of(dict.fromkeys(name for _, name, *_ in calls))
        left: dict[str, dict[str, Amount]] = {}
        for engine, name, *used in calls:
            if (name, engine) not in stored:
                of_engine = left.setdefault(engine, {})
                of_engine[name] = of_engine.get(name, Amount()).plus(Amount(*used))
        for engine, amounts in left.items():
            error = "stopped: the job ended before the answer was stored"
            rows = [
                Response(name, error=error, attempts=used.calls, tokens=used.tokens, cost=used.cost)
                for name, used in amounts.items()
            ]
            store.append(rows, engine=engine)
            log.info("%d calls of a job that ended early count as spent", sum(used.calls for used in amounts.values()))
    path.unlink(missing_ok=True)


def _read(path: Path) -> list[list]:
    """The whole lines of a file: engine, request, and what a call can have used."""
    if not path.exists():
        return []
    calls = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            engine, name, *used = json.loads(line)
            calls.append([str(engine), str(name), *Amount(int(used[0]), int(used[1]), float(used[2]))])
        except (ValueError, TypeError, IndexError):
            continue
    return calls
