"""Growth of the time of reading with the length of a text: the reference is a shorter text in the same run."""

import time
from collections.abc import Callable

FACTOR = 10  # of the lengths that are compared
MOST = 4.0 * FACTOR  # where time grows with the square of the length it is FACTOR ** 2
ROUNDS = 3


def is_linear(
    read: Callable[[str], object], unit: str, *, start: str = "", end: str = "", length: int = 50_000
) -> bool:
    """True if reading a text takes at most `MOST` times as long as reading one of a tenth of its length.

    Args:
        read: what is timed, in seconds of the processor; the least of `ROUNDS` counts.
        unit: what the text repeats, between `start` and `end`.
        length: of the longer text.
    """
    short, long = (start + unit * (size // len(unit)) + end for size in (length // FACTOR, length))
    for _ in range(ROUNDS):  # a machine that is busy may disturb one of them
        quick = min(_seconds(read, short) for _ in range(ROUNDS))
        if _seconds(read, long) <= MOST * max(quick, 1e-4):
            return True
    return False


def _seconds(read: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began
