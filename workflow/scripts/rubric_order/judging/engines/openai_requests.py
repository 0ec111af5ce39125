"""One request over HTTP: calls, until one of them is answered or there have been enough."""

import asyncio

import tenacity

from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.accounts import Account, Tally
from rubric_order.judging.engines.delivery import CutOffError
from rubric_order.judging.engines.openai_calls import CallError
from rubric_order.judging.engines.protocols import Protocol
from rubric_order.settings.judges import Called


class Asker:
    """Asks an endpoint for the response to a request, within an account."""

    def __init__(self, protocol: Protocol[Called], account: Account) -> None:
        self._protocol, self._account = protocol, account

    async def ask(self, request: Request) -> Response:
        """The response to one request, after as many calls as it takes.

        Raises:
            CutOffError: it is cancelled after a call was sent.
        """
        tally, judge = Tally(), self._protocol.judge
        waits = tenacity.wait_random_exponential(multiplier=judge.backoff.first, max=judge.backoff.longest)
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, CallError) and error.again),
            stop=tenacity.stop_after_attempt(judge.max_attempts),
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

    async def _call(self, request: Request, tally: Tally) -> Response:
        """The response that one call gives.

        Raises:
            CallError: it gives none.
        """
        protocol, account = self._protocol, self._account
        prepared = await protocol.prepare(request)
        most = account.most(prepared.prompt, prepared.completion)
        async with account.call(request.request_id, most, tally) as call:
            content = await protocol.connection.post(prepared.address, prepared.body, limit=prepared.limit)
            usage = protocol.usage(content)
            if usage is not None:
                call.used = account.used(usage)
            return prepared.read(content, usage)


class _AskedWait(tenacity.wait.wait_base):
    """As long as the endpoint asks to."""

    def __call__(self, retry_state: tenacity.RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        return error.after if isinstance(error, CallError) else 0.0
