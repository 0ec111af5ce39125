"""Handing responses from a thread to the main thread, where a signal may raise at any moment."""

import queue
from collections import deque
from collections.abc import Iterator

from rubric_order.base import signals
from rubric_order.judging.engines import Response

Entry = list[Response] | BaseException | None


class Handover:
    """Entries that one thread puts and another thread takes. The last entry is None.

    If a signal comes while the main thread waits, its exception is raised when the wait ends. By then a plain queue
    would have removed an entry, and the job would lose the responses in this entry. So here the wait takes no entry,
    and no exception of a signal is raised while an entry is taken.

    Attributes:
        ready: responses that were taken and are not handed on yet. The code that hands them on removes them.
    """

    def __init__(self) -> None:
        self.ready: list[Response] = []
        self._entries = deque[Entry]()
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()  # holds one item per entry
        self._ended = False

    def put(self, entry: Entry) -> None:
        """Add an entry."""
        self._entries.append(entry)
        self._news.put(None)

    def take(self) -> Entry:
        """Wait for the next entry. Responses in the entry are in `ready`, too.

        Raises:
            BaseException: the exception that a signal raises. Nothing is lost: `rest` yields what was taken.
        """
        while not (self._entries or self._ended):
            self._news.get()
        with signals.held_back():
            entry = None if self._ended else self._entries.popleft()
            self._ended = entry is None
            self.ready = entry if isinstance(entry, list) else []
        return entry

    def rest(self) -> Iterator[list[Response]]:
        """Responses that were not handed on: first those in `ready`, then those of all entries until the end."""
        if self.ready:
            yield self.ready
        while (entry := self.take()) is not None:
            if isinstance(entry, list):
                yield entry
