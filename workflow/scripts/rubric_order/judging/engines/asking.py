"""One request: calls, until one of them is answered or there have been enough."""

import asyncio
from abc import ABC, abstractmethod

import tenacity

from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.accounts import Account, Tally
from rubric_order.judging.engines.delivery import CutOffError
from rubric_order.judging.engines.failures import CallError
from rubric_order.settings.judges import Metered


class Asker(ABC):
    """Asks a judge for the response to a request, within an account."""

    def __init__(self, judge: Metered, account: Account) -> None:
        self._judge, self._account = judge, account

    async def ask(self, request: Request) -> Response:
        """The response to one request, after as many calls as it takes.

        Raises:
            CutOffError: it is cancelled after a call was sent.
        """
        tally, backoff = Tally(), self._judge.backoff
        waits = tenacity.wait_random_exponential(multiplier=backoff.first, max=backoff.longest)
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, CallError) and error.again),
            stop=tenacity.stop_after_attempt(self._judge.max_attempts),
            wait=_AskedWait() + waits,
            reraise=True,
        )
        try:
            response: Response = await retrying(self._call, request, tally)
        except CallError as error:
            response = Response(request.request_id, error=str(error))
        except asyncio.CancelledError:
            if not tally.attempts:
                raise
            response = Response(request.request_id, error="stopped: the job was ended before the answer came")
            raise CutOffError(self._account.with_use(response, tally)) from None
        return self._account.with_use(response, tally)

    @abstractmethod
    async def _call(self, request: Request, tally: Tally) -> Response:
        """The response that one call gives.

        Raises:
            CallError: it gives none.
        """


class _AskedWait(tenacity.wait.wait_base):
    """As long as the endpoint asks to."""

    def __call__(self, retry_state: tenacity.RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        return error.after if isinstance(error, CallError) else 0.0
