"""Handing responses from a thread to the main thread, where a signal may raise at any moment."""

import queue
from collections import deque
from collections.abc import Iterator

from rubric_order.base import signals
from rubric_order.judging.engines import Response

Entry = list[Response] | BaseException | None


class Handover:
    """Entries that one thread puts and another takes; the last is None.

    A signal that comes during a wait raises when the wait ends; a plain queue would by then have removed an entry, and
    lost its responses. Here the wait takes no entry, and nothing is raised while one is taken. `ready`: taken and not
    yet handed on.
    """

    def __init__(self) -> None:
        self.ready: list[Response] = []
        self._entries = deque[Entry]()
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()  # holds one item per entry
        self._ended = False

    def put(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._news.put(None)

    def take(self) -> Entry:
        """Wait for the next entry, whose responses are in `ready` too. After the exception of a signal, `rest` yields
        what was taken.
        """
        while not (self._entries or self._ended):
            self._news.get()
        with signals.held_back():
            entry = None if self._ended else self._entries.popleft()
            self._ended = entry is None
            self.ready = entry if isinstance(entry, list) else []
        return entry

    def rest(self) -> Iterator[list[Response]]:
        """Responses that were not handed on: those in `ready`, then those of all entries until the end."""
        if self.ready:
            yield self.ready
        while (entry := self.take()) is not None:
            if isinstance(entry, list):
                yield entry
