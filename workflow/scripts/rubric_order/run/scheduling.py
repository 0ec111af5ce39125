"""Passes of Snakemake's scheduler, kept from multiplying.

Snakemake limits how many jobs start in a second. Therefore each of its passes over the jobs that are ready starts a
timer, and when a timer ends there is another pass, with another timer. Each job that ends adds a pass, too. So timers
multiply until no job is ready any more: a rehearsal of 345 jobs had 33,723 passes. With one timer Snakemake's own
process took 23 s of processor time in place of 165 s (Snakemake 9.27.1; its pull request 3744 has the symptom).
"""

import threading
from typing import Any

STARTS_TIMER = "_schedule_reevalutation"  # the name that Snakemake gives it
LOCK = threading.Lock()


def keep_one_timer(scheduler: type) -> None:
    """Let a scheduler wait for one timer at a time: the pass that it asks for starts the next one.

    Where Snakemake has no such method, nothing is changed.

    Args:
        scheduler: Snakemake's class `JobScheduler`, changed in place.
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
