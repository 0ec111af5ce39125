"""Progress of a judge job, and its remaining time."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from rubric_order.judging.engines import Response

log = logging.getLogger(__name__)

UNASKED = ("stopped", "budget")  # reasons of errors without a call: the endpoint is down, or the budget is spent

# A speed is shown once it is computed from at least so many seconds and answers after the first answer.
LEAST_SECONDS = 20.0
LEAST_ANSWERS = 20
RECENT_SECONDS = 120.0  # longest time from which a speed is computed, unless fewer than `LEAST_ANSWERS` came in it


class Speed:
    """Recent answers per second; the wait for the first answer does not count, since later waits are not like it."""

    def __init__(self) -> None:
        self.seen: deque[tuple[float, int]] = deque()  # each time, and the number of answers until then

    def at(self, now: float, done: int) -> float | None:
        self.seen.append((now, done))
        while len(self.seen) > 1 and self._rests(self.seen[1], RECENT_SECONDS):
            self.seen.popleft()
        then, before = self.seen[0]
        return (done - before) / (now - then) if self._rests(self.seen[0], LEAST_SECONDS) else None

    def _rests(self, start: tuple[float, int], seconds: float) -> bool:
        (then, before), (now, done) = start, self.seen[-1]
        return now - then >= seconds and done - before >= LEAST_ANSWERS


def progress(
    responses: Iterable[Response],
    total: int,
    readable: object = "",
    *,
    every: float = 10.0,
    clock: Callable[[], float] | None = None,
) -> Iterator[Response]:
    """Pass responses on, and log the number done, the speed and the remaining time."""
    clock = clock or time.monotonic
    speed = Speed()
    started, last, noted = clock(), None, 0
    done = failed = unasked = prompt_tokens = cached_tokens = 0

    def show() -> None:
        time_words = _told(speed.at(now, done), total - done, now - started)
        cached = 100 * cached_tokens / max(prompt_tokens, 1)
        left_out = f", {unasked} not asked" if unasked else ""
        counts = str(readable) and f", {readable}"
        log.info(
            "asked %d / %d requests%s%s, %d failed%s, %.0f%% of prompt tokens from cache",
            *(done - unasked, total, time_words, counts, failed - unasked, left_out, cached),
        )

    for done, response in enumerate(responses, start=1):
        yield response
        failed += response.error is not None
        unasked += not response.attempts and response.reason in UNASKED
        prompt_tokens += response.prompt_tokens or 0
        cached_tokens += response.cached_tokens or 0
        now = clock()
        if last is None or now - last >= every or done == total:
            last, noted = now, done
            show()
    if str(readable) and noted < done:  # asking has stopped
        show()


def _told(speed: float | None, left: int, seconds: float) -> str:
    if not left:
        return f" in {timedelta(seconds=round(seconds))}"
    return "" if speed is None else f", {speed:.1f} a second, {timedelta(seconds=round(left / speed))} left"
