"""Asking one request: calls are made until a call is answered, or the largest number of attempts is reached."""

import asyncio
import random
from abc import ABC, abstractmethod

from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.accounts import Account, Tally
from rubric_order.judging.engines.delivery import CutOffError
from rubric_order.judging.engines.failures import CallError
from rubric_order.settings.judges.metered import Metered


class Asker(ABC):
    """Base class of objects that ask a judge for the response to a request, within an account."""

    def __init__(self, judge: Metered, account: Account) -> None:
        self._judge, self._account = judge, account

    async def ask(self, request: Request) -> Response:
        """The response to one request, after as many calls as needed; CutOffError if cancelled after a call was
        sent.
        """
        tally = Tally()
        try:
            response = await self._answer(request, tally)
        except asyncio.CancelledError:
            if not tally.attempts:
                raise
            response = Response(request.request_id, error="stopped: the job was ended before the answer came")
            raise CutOffError(self._account.add_use(response, tally)) from None
        return self._account.add_use(response, tally)

    async def _answer(self, request: Request, tally: Tally) -> Response:
        """The response of the first call that gives one, or else the error of the last call."""
        attempt = 1
        while True:
            try:
                return await self._call(request, tally)
            except CallError as error:
                if not error.again or attempt >= self._judge.max_attempts:
                    return Response(request.request_id, error=str(error))
                seconds = error.after + self._pause(attempt)
            await asyncio.sleep(seconds)
            attempt += 1

    def _pause(self, attempt: int) -> float:
        backoff = self._judge.backoff
        longest = min(backoff.first * 2.0 ** min(attempt - 1, 64), backoff.longest)
        return random.uniform(0.0, longest)  # noqa: S311 - nothing secret

    @abstractmethod
    async def _call(self, request: Request, tally: Tally) -> Response:
        """The response that one call gives, or CallError."""
