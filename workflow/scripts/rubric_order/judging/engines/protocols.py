"""Protocols of judges over HTTP: the call for a request, and the response from its answer."""

import functools
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeVar

from rubric_order.judging.engines import Response
from rubric_order.judging.engines.calls import Call, Protocol, Usage
from rubric_order.judging.engines.failures import received
from rubric_order.judging.engines.openai_calls import Connection
from rubric_order.settings.judges.over_http import OverHttp

DATED = r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4})"  # end of the name of a dated version

CalledJudge = TypeVar("CalledJudge", bound=OverHttp)


class HttpProtocol(Protocol, Generic[CalledJudge]):
    """A protocol over HTTP with the settings of one judge.

    Attributes:
        VERSION: pattern of what a version of a model adds to the model's name.
    """

    VERSION = DATED

    def __init__(self, judge: CalledJudge, connection: Connection) -> None:
        self.judge, self.connection = judge, connection
        self.under = functools.cache(judge.under)

    async def __aenter__(self) -> Self:
        await self.connection.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.connection.__aexit__(*error)

    async def post(
        self,
        address: str,
        body: Mapping[str, Any],
        limit: int,
        response: Callable[[Mapping[str, Any], Usage | None], Response],
        call: Call,
    ) -> Response:
        """Post a body, see `Connection.post`, count what the answer used, and make the response from it."""
        content = await self.connection.post(address, body, limit=limit)
        usage = self.usage(content)
        call.count(usage)
        return received(lambda: response(content, usage), self.connection.secrets)

    @abstractmethod
    def usage(self, content: Mapping[str, Any]) -> Usage | None:
        """Tokens used, as an answer counts them; None if the answer has no counts."""

    def wrong_model(self, model: str | None) -> str | None:
        """Error if an answer is from another model than the one that was asked."""
        if model is None or model in self.judge.accepted_names:
            return None
        if re.fullmatch(re.escape(self.judge.shown_name) + self.VERSION, model):
            return None
        return f"wrong_model: asked for {self.judge.shown_name}, answered by {self.connection.plain(model)}"
