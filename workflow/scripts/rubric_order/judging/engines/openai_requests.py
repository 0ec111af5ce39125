"""One call over HTTP for a request."""

from rubric_order.judging.engines import Request, Response, asking
from rubric_order.judging.engines.accounts import Account, Tally
from rubric_order.judging.engines.failures import received
from rubric_order.judging.engines.protocols import Protocol
from rubric_order.settings.judges.over_http import OverHttp


class Asker(asking.Asker):
    """Asker that gets the response to a request from an endpoint, within an account."""

    def __init__(self, protocol: Protocol[OverHttp], account: Account) -> None:
        super().__init__(protocol.judge, account)
        self._protocol = protocol

    async def _call(self, request: Request, tally: Tally) -> Response:
        protocol, account = self._protocol, self._account
        prepared = await protocol.prepare(request)
        most = account.most(prepared.prompt, prepared.completion)
        async with account.call(request.request_id, most, tally) as call:
            content = await protocol.connection.post(prepared.address, prepared.body, limit=prepared.limit)
            usage = protocol.usage(content)
            if usage is not None:
                call.used = account.used(usage)
            return received(lambda: prepared.response(content, usage), protocol.connection.secrets)
