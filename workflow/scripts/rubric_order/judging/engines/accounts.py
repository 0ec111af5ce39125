"""Account of an endpoint's calls. Before a call is sent, the most that it can use is reserved and written down."""

import asyncio
import contextlib
import dataclasses
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping

from rubric_order.judging.engines import Response, Turn
from rubric_order.judging.engines.commits import Commits
from rubric_order.judging.engines.failures import CallError
from rubric_order.judging.engines.limits import Amount, Budget, BudgetSpentError, RateLimiter
from rubric_order.judging.open_calls import OpenCalls
from rubric_order.settings.judges.metered import Metered

FULL_DISK_SECONDS = 1.0  # time between two tries to write down a call that is about to be sent


@dataclasses.dataclass(frozen=True)
class Usage:
    """Tokens that an endpoint counted; `cached` (None: not said) and `written` are those of the prompt read from, and
    put into, its cache.
    """

    prompt: int
    completion: int
    cached: int | None
    written: int = 0


@dataclasses.dataclass
class Tally:
    """Number of calls sent for one request, and the most that these calls can have used."""

    attempts: int = 0
    tokens: int = 0
    cost: float = 0.0


@dataclasses.dataclass
class Call:
    """A call; `used` is the most that it can use until its use is known, `sent` False where nothing has reached the
    judge.
    """

    used: Amount
    sent: bool = True


class Account:
    """Calls of one job over an endpoint, within the judge's limits.

    Attributes:
        under_way: calls that were sent and have no answer yet.
        closed: the job ends early, and no more calls are sent.
        failures: calls without an answer, by reason.
    """

    def __init__(self, judge: Metered, turn: Turn | None, engine: Mapping[str, object]) -> None:
        """Open an account; without a `turn` no calls are written down."""
        self.prices = judge.prices
        self.budget = Budget(judge.budget.block(), turn.spent if turn else Amount())
        self.limiter = RateLimiter(
            requests=judge.requests_per_minute, tokens=judge.tokens_per_minute, record=turn.sent if turn else None
        )
        self.journal = OpenCalls(turn.open_calls, json.dumps(engine, sort_keys=True)) if turn else None
        self._commits = Commits(self.journal) if self.journal is not None else None
        self.under_way = 0
        self.closed = False
        self.failures: Counter[str] = Counter()

    def begin(self) -> None:
        """Change to another event loop. No call may be under way."""
        self.under_way = 0
        self.budget.begin()
        self.limiter.begin()

    async def end(self) -> None:
        """Wait until all writing that was begun is done, before an event loop ends."""
        if self._commits is not None:
            await self._commits.end()

    def close(self) -> None:
        if self._commits is not None:
            self._commits.close()
        self.limiter.close()

    def most(self, prompt: int, completion: int) -> Amount:
        return Amount(1, prompt + completion, self.prices.most(prompt, completion) if self.prices else 0.0)

    def used(self, usage: Usage) -> Amount:
        tokens = usage.prompt, usage.completion, usage.cached or 0, usage.written
        return Amount(1, usage.prompt + usage.completion, self.prices.cost(*tokens) if self.prices else 0.0)

    @contextlib.asynccontextmanager
    async def call(self, request_id: str, most: Amount, tally: Tally) -> AsyncIterator[Call]:
        """Wait until a call may be sent, and at the end add its use to the account and the tally; CallError if the
        budget is spent.
        """
        try:
            await self.budget.reserve(most)
        except BudgetSpentError as error:
            raise CallError("budget", str(error), again=False) from None
        call, sent = Call(Amount()), None
        try:
            sent = await self.limiter.wait(most.tokens)
            while self.closed or not await self._is_written(request_id, most):
                await asyncio.sleep(FULL_DISK_SECONDS)
            tally.attempts += 1
            call.used = most
            self.under_way += 1
            try:
                yield call
            except CallError as error:
                self.failures[error.reason] += 1
                call.sent = call.sent and error.sent
                if not error.billed:
                    call.used = Amount(1)
                raise
            finally:
                self.under_way -= 1
                if not call.sent:
                    call.used = Amount()
                    tally.attempts -= 1
                    if self.journal is not None:
                        self.journal.unsent(request_id, most)
        finally:
            self.budget.settle(most, call.used)
            if sent is not None:
                self.limiter.correct(sent, call.used.tokens)
            tally.tokens += call.used.tokens
            tally.cost += call.used.cost

    async def _is_written(self, request_id: str, most: Amount) -> bool:
        """Write down a call before it is sent, for the next job after a kill; False if it must wait or the job ends."""
        if self.journal is None or self._commits is None:
            return True
        written = await self._commits.add(request_id, most)
        if written and self.closed:  # the job has ended meanwhile
            self.journal.unsent(request_id, most)
            return False
        return written

    def add_use(self, response: Response, tally: Tally) -> Response:
        cost = tally.cost if self.prices else None
        return dataclasses.replace(response, attempts=tally.attempts, tokens=tally.tokens, cost=cost)

    def answered(self, response: Response) -> None:
        if self.journal is not None and response.attempts:
            self.journal.answered(response)

    def write_late(self) -> None:
        if self.journal is not None:
            self.journal.write_late()

    def spent(self) -> str:
        spent = self.budget.spent
        line = f"{spent.calls} calls and {spent.tokens} tokens so far, earlier runs included"
        if self.prices is not None:
            line += f", at most {spent.cost:.4f} {self.prices.currency or 'USD'}"
        if self.failures:
            line += "; calls without an answer: " + ", ".join(f"{n} {why}" for why, n in self.failures.most_common())
        return line
