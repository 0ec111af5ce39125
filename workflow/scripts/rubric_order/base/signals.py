"""Signals that ask a job to end: the first signal ends the job, and no signal interrupts a write."""

import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from typing import Any

log = logging.getLogger(__name__)

ENDING = (signal.SIGTERM, signal.SIGINT)
AGAIN_SECONDS = 0.05  # time after which a signal is sent again if Python dropped its exception


def end_once() -> None:
    """Let the next signal raise SystemExit or KeyboardInterrupt, so that a job writes what it has; later ones are
    logged.

    Python drops exceptions raised in `__del__`: the signal is then sent again until it ends the job.
    """
    asked = 0  # the signal that ends the job
    before = sys.unraisablehook

    def end(number: int, _: object) -> None:
        nonlocal asked
        if asked:
            log.warning("ending already: what has come is being written")
            return
        asked = number
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit("ended on request")

    def dropped(what: "sys.UnraisableHookArgs") -> None:
        nonlocal asked
        if not (asked and isinstance(what.exc_value, (SystemExit, KeyboardInterrupt))):
            before(what)
            return
        number, asked = asked, 0
        again = threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()

    sys.unraisablehook = dropped
    for number in ENDING:
        signal.signal(number, end)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Hold back signals until the block ends. Outside the main thread, hold back nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if came:
            signal.raise_signal(came[0])


def yielded_after(source: Iterator[Any] | None, stop: BaseException) -> Iterator[Any]:
    """Values that a generator yields after the exception `stop` is thrown into it; none if the generator has ended."""
    if isinstance(source, Generator):
        with contextlib.suppress(StopIteration, type(stop)):
            yield source.throw(stop)
            yield from source
