"""Responses from the results of a batch. Results are read like the answers to single calls."""

import dataclasses
from collections.abc import Sequence

from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.batches.files import Result
from rubric_order.judging.engines.failures import CallError, received
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.engines.openai_protocol import ChatCompletions


class Reader:
    """Reader of the results of one judge's batches; its prices give the cost of an answer."""

    def __init__(self, chat: ChatCompletions) -> None:
        self._chat, self._prices = chat, chat.judge.prices

    async def response(self, request: Request, results: Sequence[Result], status: str, most: Amount) -> Response:
        """Response to one request: the first answer that can be used, or else the first answer, or the first result."""
        name = request.request_id
        if not results and status == "completed":
            error = "malformed: the batch has no result of it"
            return Response(name, error=error, attempts=1, tokens=most.tokens, cost=self.cost(most.cost))
        if not results:
            return Response(name, error=_unasked(status), attempts=1, tokens=0, cost=self.cost(0.0))
        answers = [result for result in results if result.is_answer] or results[:1]
        responses = [await self._read(request, result, most) for result in answers]
        return next((response for response in responses if response.error is None), responses[0])

    async def _read(self, request: Request, result: Result, most: Amount) -> Response:
        name = request.request_id
        if result.status is None:
            error = _unasked(self._chat.connection.plain(result.error or ""))
            return Response(name, error=error, attempts=1, tokens=0, cost=self.cost(0.0))
        body = result.body or {}
        if result.status != 200 or body.get("error"):
            error = str(self._chat.connection.refusal(500 if result.status == 200 else result.status, body))
            return Response(name, error=error, attempts=1, tokens=0, cost=self.cost(0.0))
        usage = self._chat.usage(body)
        used = most if usage is None else usage.amount(self._prices)
        try:
            variants = await self._chat.variants(request)
            secrets = self._chat.connection.secrets
            response = received(lambda: self._chat.response(request, body, usage, variants), secrets)
        except CallError as failure:
            response = Response(name, error=str(failure))
        return dataclasses.replace(response, attempts=1, tokens=used.tokens, cost=self.cost(used.cost))

    def cost(self, cost: float) -> float | None:
        return cost if self._prices is not None else None


def _unasked(why: str) -> str:
    reason = "timeout" if "expired" in why else "stopped" if "cancelled" in why else "server_error"
    return f"{reason}: not asked, {why}"
