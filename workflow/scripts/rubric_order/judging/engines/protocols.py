"""Protocols of judges over HTTP: the call for a request, and the response from its answer."""

import dataclasses
import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeGuard, TypeVar

from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.accounts import Usage
from rubric_order.judging.engines.openai_calls import Connection
from rubric_order.settings.judges.over_http import OverHttp

MAX_TOKENS_COUNTED = 2**31 - 1  # a larger count of tokens is an error of the endpoint
DATED = r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4})"  # end of the name of a dated version

CalledJudge = TypeVar("CalledJudge", bound=OverHttp)


def is_count(count: object) -> TypeGuard[int]:
    return type(count) is int and 0 <= count <= MAX_TOKENS_COUNTED


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A call that is ready to be sent.

    Attributes:
        address: relative to the endpoint's address, or a complete address.
        prompt, completion: the most tokens that the prompt and the answer can have.
        limit: bytes of the largest answer that is read.
        response: made from an answer and its usage; CallError if it does not follow the protocol.
    """

    address: str
    body: Mapping[str, Any]
    prompt: int
    completion: int
    limit: int
    response: Callable[[Mapping[str, Any], Usage | None], Response]


class Protocol(ABC, Generic[CalledJudge]):
    """A protocol with the settings of one judge. Requests are asked inside ``async with``.

    Attributes:
        VERSION: pattern of what a version of a model adds to the model's name.
        unknown: answers in which the probabilities of the options are not known well enough.
    """

    VERSION = DATED

    def __init__(self, judge: CalledJudge, connection: Connection) -> None:
        self.judge, self.connection = judge, connection
        self.unknown = 0
        self.under = functools.cache(judge.under)

    async def __aenter__(self) -> Self:
        await self.connection.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.connection.__aexit__(*error)

    @abstractmethod
    async def prepare(self, request: Request) -> Prepared:
        """The call for a request; InputError if it cannot be asked."""

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
