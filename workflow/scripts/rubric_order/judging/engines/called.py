"""Engines that ask over HTTP, with any protocol: they join connection, account and delivery."""

import logging
from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

from rubric_order.judging.engines.calling import CallingEngine
from rubric_order.judging.engines.openai_calls import Connection, fill_in, secret
from rubric_order.judging.engines.openai_requests import Asker
from rubric_order.judging.engines.protocols import Protocol
from rubric_order.settings.judges.over_http import Addressed, OverHttp

log = logging.getLogger(__name__)

CalledJudge = TypeVar("CalledJudge", bound=OverHttp)
AddressedJudge = TypeVar("AddressedJudge", bound=Addressed)


class CalledEngine(CallingEngine[CalledJudge]):
    """A judge that is asked over HTTP.

    Attributes:
        AT_ONCE: requests under way at once, if config gives no number.
        WAITS: whether a job that ends early waits for the answers to calls under way.
    """

    AT_ONCE: ClassVar[int]
    WAITS: ClassVar[bool]

    def start(self) -> None:
        self.connection = self._connect()
        self.protocol = self._protocol(self.connection)
        self._begin(
            lambda account: Asker(self.protocol, account).ask,
            at_once=self.AT_ONCE,
            waits=self.WAITS,
            session=self.protocol,
        )

    @abstractmethod
    def _connect(self) -> Connection:
        """The connection to the endpoint."""

    @abstractmethod
    def _protocol(self, connection: Connection) -> Protocol[Any]:
        """The protocol that the judge speaks."""

    def _how(self) -> dict[str, Any]:
        headers, secrets = fill_in(self.judge.extra_headers)
        return {"headers": headers, "secrets": secrets, "timeout": self.judge.timeout}

    def _report(self) -> None:
        unknown = self.protocol.unknown
        note = f"; {unknown} answers without the probabilities of all scores" if unknown else ""
        log.info("%s%s", self.account.spent(), note)


class AddressedEngine(CalledEngine[AddressedJudge]):
    """A judge at an address that config names."""

    AT_ONCE = 32
    WAITS = True  # the answers are paid for

    def _connect(self) -> Connection:
        name = self.judge.api_key_env
        key = None if name is None else secret(name, "api_key_env")
        return Connection(self.judge.base_url, key=key, **self._how())
