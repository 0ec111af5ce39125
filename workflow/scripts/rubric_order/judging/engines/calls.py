"""Calls to a judge over a protocol: counted, limited, tried again, and written down before they are sent."""

import asyncio
import contextlib
import dataclasses
import json
import logging
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Self, TypeGuard, TypeVar

from rubric_order.judging.engines import Engine, Request, Resources, Response, Turn
from rubric_order.judging.engines.delivery import CutOffError, Delivery
from rubric_order.judging.engines.failures import CallError
from rubric_order.judging.engines.limits import Amount, Budget, BudgetSpentError, RateLimiter
from rubric_order.judging.open_calls import Commits, OpenCalls
from rubric_order.settings.judges.metered import Metered, Prices

log = logging.getLogger(__name__)

AT_ONCE = 32  # requests under way at once, if config gives no number
FULL_DISK_SECONDS = 1.0  # time between two tries to write down a call that is about to be sent

NOTHING = Amount()

MeteredJudge = TypeVar("MeteredJudge", bound=Metered)


MAX_TOKENS_COUNTED = 2**31 - 1  # a larger count of tokens is an error of the endpoint


def is_count(count: object) -> TypeGuard[int]:
    return type(count) is int and 0 <= count <= MAX_TOKENS_COUNTED


@dataclasses.dataclass(frozen=True)
class Usage:
    """Tokens that an endpoint counted; `cached` (None: not said) and `written` are those of the prompt read from, and
    put into, its cache.
    """

    prompt: int
    completion: int
    cached: int | None
    written: int = 0

    def amount(self, prices: Prices | None) -> Amount:
        tokens = self.prompt, self.completion, self.cached or 0, self.written
        return Amount(1, self.prompt + self.completion, prices.cost(*tokens) if prices else 0.0)


@dataclasses.dataclass
class Call:
    """A call; `used` is the most that it can use until its use is known, `sent` False where nothing has reached the
    judge.
    """

    prices: Prices | None
    used: Amount = NOTHING
    sent: bool = True

    def count(self, usage: Usage | None) -> None:
        if usage is not None:
            self.used = usage.amount(self.prices)


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A call that is ready to be sent.

    Attributes:
        prompt, completion: the most tokens that the prompt and the answer can have.
        send: sends the call, counts its use, and makes the response; CallError without a usable answer.
        body: what is sent over HTTP.
    """

    prompt: int
    completion: int
    send: Callable[[Call], Awaitable[Response]]
    body: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def most(self, prices: Prices | None) -> Amount:
        tokens = self.prompt, self.completion
        return Amount(1, sum(tokens), prices.most(*tokens) if prices else 0.0)


class Protocol(ABC):
    """Means of asking one judge. Requests are asked inside ``async with``.

    Attributes:
        unknown: answers in which the probabilities of the options are not known well enough.
    """

    unknown = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        return None

    @abstractmethod
    async def prepare(self, request: Request) -> Prepared:
        """The call for a request; InputError if it cannot be asked."""


class Calls:
    """Calls of one job over a protocol, within the judge's limits.

    Attributes:
        under_way: calls that were sent and have no answer yet.
        closed: the job ends early, and no more calls are sent.
        failures: calls without an answer, by reason.
    """

    def __init__(
        self,
        protocol: Protocol,
        judge: Metered,
        turn: Turn | None,
        engine: Mapping[str, object],
        *,
        at_once: int = AT_ONCE,
        waits: bool = True,
    ) -> None:
        """Prepare calls; without a `turn` none is written down.

        Args:
            engine: description of the engine, as the store will hold it.
            at_once: requests under way at once, if config gives no number.
            waits: whether a job that ends early waits for the answers to calls under way.
        """
        self.protocol, self.judge, self.prices = protocol, judge, judge.prices
        self.budget = Budget(judge.budget.block(), turn.spent if turn else Amount())
        self.limiter = RateLimiter(
            requests=judge.requests_per_minute, tokens=judge.tokens_per_minute, record=turn.sent if turn else None
        )
        self.journal = OpenCalls(turn.open_calls, json.dumps(engine, sort_keys=True)) if turn else None
        self._commits = Commits(self.journal) if self.journal is not None else None
        self._delivery = Delivery(self, at_once=judge.concurrency or at_once, waits=waits)
        self.under_way = 0
        self.closed = False
        self.failures: Counter[str] = Counter()

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, see `Engine.answer`, and `Delivery.responses` for a job that ends early."""
        return self._delivery.responses(requests)

    def end_early(self, seconds: float | None = None) -> None:
        """End `answer` for good, from any thread; calls under way have some seconds, or the usual time."""
        self._delivery.end_early(seconds)

    def close(self) -> None:
        if self._commits is not None:
            self._commits.close()
        self.limiter.close()

    @contextlib.asynccontextmanager
    async def session(self) -> Any:
        """Open the protocol in another event loop, when no call is under way, and wait at the end until all writing is
        done.
        """
        self.under_way = 0
        self.budget.begin()
        self.limiter.begin()
        async with self.protocol:
            try:
                yield
            finally:
                if self._commits is not None:
                    await self._commits.end()

    async def ask(self, request: Request) -> Response:
        """The response to one request, after as many calls as needed; CutOffError if cancelled after a call was
        sent.
        """
        calls: list[Call] = []
        try:
            return self._add_use(await self._answer(request, calls), calls)
        except asyncio.CancelledError:
            if not any(call.used.calls for call in calls):
                raise
            response = Response(request.request_id, error="stopped: the job was ended before the answer came")
            raise CutOffError(self._add_use(response, calls)) from None

    def _add_use(self, response: Response, calls: Iterable[Call]) -> Response:
        used = NOTHING
        for call in calls:
            used = used.plus(call.used)
        cost = used.cost if self.prices else None
        return dataclasses.replace(response, attempts=used.calls, tokens=used.tokens, cost=cost)

    async def _answer(self, request: Request, calls: list[Call]) -> Response:
        """The response of the first call that gives one, or else the error of the last call."""
        attempt = 1
        while True:
            try:
                return await self._call(request, calls)
            except CallError as error:
                if not error.again or attempt >= self.judge.max_attempts:
                    return Response(request.request_id, error=str(error))
                seconds = error.after + self._pause(attempt)
            await asyncio.sleep(seconds)
            attempt += 1

    def _pause(self, attempt: int) -> float:
        backoff = self.judge.backoff
        longest = min(backoff.first * 2.0 ** min(attempt - 1, 64), backoff.longest)
        return random.uniform(0.0, longest)  # noqa: S311 - nothing secret

    async def _call(self, request: Request, calls: list[Call]) -> Response:
        """The response of one call, which is sent when it may be; CallError without a response, or if the budget is
        spent.
        """
        prepared = await self.protocol.prepare(request)
        most = prepared.most(self.prices)
        try:
            await self.budget.reserve(most)
        except BudgetSpentError as error:
            raise CallError("budget", str(error), again=False) from None
        call, sent = Call(self.prices), None
        calls.append(call)
        try:
            sent = await self.limiter.wait(most.tokens)
            while self.closed or not await self._is_written(request.request_id, most):
                await asyncio.sleep(FULL_DISK_SECONDS)
            return await self._sent(prepared, call, request.request_id, most)
        finally:
            self.budget.settle(most, call.used)
            if sent is not None:
                self.limiter.correct(sent, call.used.tokens)

    async def _sent(self, prepared: Prepared, call: Call, request_id: str, most: Amount) -> Response:
        call.used = most
        self.under_way += 1
        try:
            return await prepared.send(call)
        except CallError as error:
            self.failures[error.reason] += 1
            call.sent = call.sent and error.sent
            if not error.billed:
                call.used = Amount(1)
            raise
        finally:
            self.under_way -= 1
            if not call.sent:
                call.used = NOTHING
                if self.journal is not None:
                    self.journal.unsent(request_id, most)

    async def _is_written(self, request_id: str, most: Amount) -> bool:
        """Write down a call before it is sent, for the next job after a kill; False if it must wait or the job ends."""
        if self.journal is None or self._commits is None:
            return True
        written = await self._commits.add(request_id, most)
        if written and self.closed:  # the job has ended meanwhile
            self.journal.unsent(request_id, most)
            return False
        return written

    def answered(self, response: Response) -> None:
        if self.journal is not None and response.attempts:
            self.journal.answered(response)

    def report(self) -> None:
        """Log what was spent, when nothing more is asked."""
        spent, unknown = self.budget.spent, self.protocol.unknown
        line = f"{spent.calls} calls and {spent.tokens} tokens so far, earlier runs included"
        if self.prices is not None:
            line += f", at most {spent.cost:.4f} {self.prices.currency or 'USD'}"
        if self.failures:
            line += "; calls without an answer: " + ", ".join(f"{n} {why}" for why, n in self.failures.most_common())
        log.info("%s%s", line, f"; {unknown} answers without the probabilities of all scores" if unknown else "")


class CallingEngine(Engine[MeteredJudge]):
    """An engine over calls, which `start` prepares."""

    STREAMS = True
    calls: Calls

    def __init__(self, judge: MeteredJudge, resources: Resources) -> None:
        super().__init__(judge, resources)
        # This time makes the description of each run unique: the model behind a name may change, and a call that failed
        # in two runs was paid for twice.
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        return self.calls.answer(requests)

    def close(self) -> None:
        self.calls.close()
