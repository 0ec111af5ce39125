"""Room for the scheduler's files, and one timer at a time: Snakemake starts a timer in each pass, and each job that
ends adds a pass, so 345 jobs made 33,723 passes and took 165 s of processor time, not 23 (Snakemake 9.27.1; its pull
request 3744).
"""

import importlib
import os
import tempfile
import threading
from typing import Any

from rubric_order.base.errors import InputError

MODULE, CLASS = "snakemake.scheduling.job_scheduler", "JobScheduler"
STARTS_TIMER = "_schedule_reevalutation"  # method that starts a timer, as Snakemake spells it
LOCK = threading.Lock()
ROOM = 65_536  # bytes that the folder of temporary files must take


def check_room() -> None:
    """Check that the folder of temporary files, to which the scheduler writes, takes files."""
    folder = os.environ.get("TMPDIR") or tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; make room, or set TMPDIR to another folder") from None


def scheduler_class() -> object:
    """Snakemake's class of schedulers; None where this version has none of this name."""
    try:
        return getattr(importlib.import_module(MODULE), CLASS, None)
    except ImportError:
        return None


def keep_one_timer(scheduler: object) -> None:
    """Let a class of schedulers, changed in place, wait for one timer of each length; a class that starts no timers is
    left as it is.
    """
    if not hasattr(scheduler, STARTS_TIMER):
        return

    def start(self: Any, delay: float) -> None:
        waiting: set[float] = self.__dict__.setdefault("_delays_waited_for", set())
        with LOCK:
            if delay in waiting:
                return
            waiting.add(delay)

        def end() -> None:
            with LOCK:
                waiting.discard(delay)
            self._open_jobs.release()

        threading.Timer(delay, end).start()

    setattr(scheduler, STARTS_TIMER, start)
