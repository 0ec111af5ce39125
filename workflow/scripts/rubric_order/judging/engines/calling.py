"""Engines whose calls are counted: the common part of endpoints and functions."""

import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import TypeVar

from rubric_order.judging.engines import Engine, Request, Resources, Response
from rubric_order.judging.engines.accounts import Account
from rubric_order.judging.engines.delivery import Delivery
from rubric_order.settings.judges.metered import Metered

log = logging.getLogger(__name__)

MeteredJudge = TypeVar("MeteredJudge", bound=Metered)


class CallingEngine(Engine[MeteredJudge]):
    """A judge that is asked in calls, many at once, within its limits; `_begin` prepares the engine."""

    STREAMS = True

    def __init__(self, judge: MeteredJudge, resources: Resources) -> None:
        super().__init__(judge, resources)
        # This time makes the description of each run unique: the model behind a name may change, and a call that failed
        # in two runs was paid for twice.
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")

    def _begin(
        self,
        asking: Callable[[Account], Callable[[Request], Awaitable[Response]]],
        *,
        at_once: int,
        waits: bool = True,
        session: AbstractAsyncContextManager[object] | None = None,
    ) -> None:
        """Open the account, and make the delivery; `describe` must work already.

        Args:
            asking: from the account to a function like `Asker.ask`.
            at_once: requests under way at once, if config gives no number.
            waits: whether a job that ends early waits for the answers to calls under way.
            session: context that must be open while requests are asked.
        """
        self.account = Account(self.judge, self.resources.turn, self.describe())
        self.delivery = Delivery(
            asking(self.account),
            self.account,
            session=contextlib.nullcontext() if session is None else session,
            at_once=self.judge.concurrency or at_once,
            waits=waits,
            report=self._report,
        )

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        return self.delivery.responses(requests)

    def answer_in_batches(self, requests: Iterable[Request]) -> Iterator[list[Response]]:
        return self.delivery.batches(requests)

    def end_early(self, seconds: float | None = None) -> None:
        self.delivery.end_early(seconds)

    def write_late(self) -> None:
        self.account.write_late()

    def close(self) -> None:
        self.account.close()

    def _report(self) -> None:
        log.info("%s", self.account.spent())
