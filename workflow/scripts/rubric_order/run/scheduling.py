"""What Snakemake's scheduler needs: room for its files, and passes that do not multiply.

Snakemake limits how many jobs start in a second. Therefore each pass of its scheduler over the jobs that are ready
starts a timer. When the timer ends, another pass begins, with another timer. Each job that ends adds a pass, too. So
timers multiply until no job is ready any more: a rehearsal of 345 jobs had 33,723 passes. With one timer at a time,
Snakemake's own process took 23 s of processor time for this rehearsal instead of 165 s (Snakemake 9.27.1; its pull
request 3744 describes the symptom).
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
    """Check that the folder of temporary files, to which the scheduler writes, takes files.

    Raises:
        InputError: the folder is missing or full, or cannot be written to.
    """
    folder = os.environ.get("TMPDIR") or tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; make room, or set TMPDIR to another folder") from None


def of_snakemake() -> object:
    """Snakemake's class of schedulers; None if this version of Snakemake has no class `CLASS` in module `MODULE`."""
    try:
        return getattr(importlib.import_module(MODULE), CLASS, None)
    except ImportError:
        return None


def keep_one_timer(scheduler: object) -> None:
    """Let a scheduler wait for one timer of each length at a time. The pass after a timer starts the next timer.

    A scheduler without the method that starts timers is not changed, so other versions of Snakemake run as usual.

    Args:
        scheduler: the class, changed in place, see `of_snakemake`.
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
