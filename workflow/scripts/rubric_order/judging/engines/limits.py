"""Limits of an endpoint: a rate limit for requests and tokens per minute, and a budget for all spending."""

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rubric_order.base import files

MINUTE = 60.0


class Amount(NamedTuple):
    """Use by calls: number of calls, tokens (prompts and answers together), and money."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def plus(self, other: "Amount") -> "Amount":
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def minus(self, other: "Amount") -> "Amount":
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)


class BudgetSpentError(Exception):
    """The next call could use more than is left of the budget."""


class Budget:
    """A limit on spending, which reserves the most that a call can use before it is sent.

    A call that does not fit waits for those under way, which may use less. If none is under way, it and all later ones
    are refused: else only the shortest prompts would be asked, a biased selection.
    """

    def __init__(self, limits: Mapping[str, float | None], spent: Amount | None = None) -> None:
        self.limits = {name: limit for name, limit in limits.items() if limit is not None}
        self.spent = spent or Amount()
        self._reserved = Amount()
        self._refusal: str | None = None
        self.begin()

    def begin(self) -> None:
        self._settled = asyncio.Event()

    async def reserve(self, most: Amount) -> None:
        """Reserve the most that a call can use; BudgetSpentError names the limit that would be exceeded."""
        while self._refusal is None and self._exceeded(most):
            if self._reserved.calls == 0:
                self.refuse(most)
            else:
                self._settled.clear()
                await self._settled.wait()
        if self._refusal is not None:
            raise BudgetSpentError(self._refusal)
        self.hold(most)

    def take(self, most: Amount) -> bool:
        if self._refusal is not None or self._exceeded(most):
            return False
        self.hold(most)
        return True

    def hold(self, most: Amount) -> None:
        self._reserved = self._reserved.plus(most)

    def refuse(self, most: Amount) -> str:
        """Refuse an amount that does not fit, and all later amounts. Returns the reason."""
        if self._refusal is None:
            limit = self._exceeded(most) or "calls"
            left = self.limits[limit] - getattr(self.spent, limit)
            self._refusal = (
                f"{limit}: {left:.10g} of {self.limits[limit]:.10g} left,"
                f" the next call can take {getattr(most, limit):.10g}"
            )
        return self._refusal

    def settle(self, most: Amount, used: Amount) -> None:
        self._reserved = self._reserved.minus(most)
        self.spent = self.spent.plus(used)
        self._settled.set()

    def _exceeded(self, most: Amount) -> str | None:
        wanted = self.spent.plus(self._reserved).plus(most)
        return next((name for name, limit in self.limits.items() if getattr(wanted, name) > limit), None)


@dataclass
class Sent:
    """A sent call: its time, the tokens that it counts as, and whether it still counts in the last minute."""

    time: float
    tokens: int
    counts: bool = True


class RateLimiter:
    """A limit on the requests and tokens sent in any minute.

    Requests are spaced evenly, since endpoints also count in shorter windows. A request counts as the most tokens that
    it can use until its true number is known. `record`: file for the next job, with what was sent in the last minute.
    """

    def __init__(
        self, *, requests: float | None = None, tokens: float | None = None, record: Path | None = None
    ) -> None:
        self.spacing = MINUTE / requests if requests else 0.0
        self.tokens = tokens
        self._next = 0.0
        self._window: deque[Sent] = deque()
        self._in_window = 0
        self._record = record if requests or tokens else None
        if self._record is not None:
            self._read(self._record)
        self.begin()

    def begin(self) -> None:
        self._turn = asyncio.Lock()  # first come, first served
        self._corrected = asyncio.Event()

    def close(self) -> None:
        if self._record is not None:
            zero = time.time() - time.monotonic()
            sent = [[zero + sent.time, sent.tokens] for sent in self._window if sent.counts]
            files.write_text(json.dumps({"next": zero + self._next, "sent": sent}) + "\n", self._record)

    def _read(self, record: Path) -> None:
        """Count what an earlier job sent less than a minute ago."""
        zero = time.time() - time.monotonic()
        # If the file is missing or damaged, earlier calls are not known.
        with contextlib.suppress(OSError, ValueError, TypeError, LookupError):
            saved = json.loads(record.read_text(encoding="utf-8"))
            self._next = min(saved["next"] - zero, time.monotonic() + self.spacing)
            for at, tokens in saved["sent"]:
                if 0 <= time.time() - at < MINUTE:
                    self._window.append(Sent(at - zero, tokens))
                    self._in_window += tokens

    async def wait(self, tokens: int) -> Sent:
        """Wait until a request of at most `tokens` tokens may be sent."""
        clock = asyncio.get_running_loop().time
        if not (self.spacing or self.tokens):
            return Sent(clock(), tokens)
        async with self._turn:
            await asyncio.sleep(max(self._next - clock(), 0.0))
            while self.tokens and not self._fits(tokens, clock()):
                self._corrected.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout_at(self._window[0].time + MINUTE):
                        await self._corrected.wait()
            sent = Sent(clock(), tokens)
            self._next = sent.time + self.spacing
            if self.tokens:
                self._window.append(sent)
                self._in_window += tokens
            return sent

    def correct(self, sent: Sent, tokens: int) -> None:
        if self.tokens and sent.counts:
            self._in_window += tokens - sent.tokens
            sent.tokens = tokens
            self._corrected.set()

    def _fits(self, tokens: int, now: float) -> bool:
        while self._window and self._window[0].time + MINUTE <= now:
            old = self._window.popleft()
            old.counts = False
            self._in_window -= old.tokens
        return not self._window or self._in_window + tokens <= (self.tokens or 0)
