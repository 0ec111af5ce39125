"""Protocols in which judges are asked over HTTP: what is sent for a request, and what its answer says."""

import dataclasses
import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeGuard, TypeVar

from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.accounts import Usage
from rubric_order.judging.engines.openai_calls import Connection
from rubric_order.settings.judges import Called

MAX_TOKENS_COUNTED = 2**31 - 1  # a larger count of tokens is an error of the endpoint
DATED = r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4})"  # how the name of a dated version ends

CalledJudge = TypeVar("CalledJudge", bound=Called)


def is_count(count: object) -> TypeGuard[int]:
    """True for a number of tokens that an endpoint can have counted."""
    return type(count) is int and 0 <= count <= MAX_TOKENS_COUNTED


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A call that is ready to be sent.

    Attributes:
        address: below the endpoint's own.
        body: what is sent.
        prompt, completion: the most tokens that its prompt and its answer can have.
        limit: size of the largest answer that is read, in bytes.
        read: makes the response from the answer and what it used. It raises CallError where the answer does not follow
            the protocol.
    """

    address: str
    body: Mapping[str, Any]
    prompt: int
    completion: int
    limit: int
    read: Callable[[Mapping[str, Any], Usage | None], Response]


class Protocol(ABC, Generic[CalledJudge]):
    """A protocol as one judge speaks it. Requests are asked inside ``async with``.

    Attributes:
        VERSION: pattern of what a version of a model adds to its name.
        unknown: number of answers whose options' probabilities are not known well enough.
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
        """The call for a request.

        Raises:
            InputError: the request cannot be asked.
        """

    @abstractmethod
    def usage(self, content: Mapping[str, Any]) -> Usage | None:
        """Tokens that an answer says to have used; None where it does not."""

    def wrong_model(self, model: str | None) -> str | None:
        """Error of an answer by another model than the one that was asked; None where it is by that one."""
        if model is None or model in self.judge.accepted_names:
            return None
        if re.fullmatch(re.escape(self.judge.shown_name) + self.VERSION, model):
            return None
        return f"wrong_model: asked for {self.judge.shown_name}, answered by {self.connection.plain(model)}"
