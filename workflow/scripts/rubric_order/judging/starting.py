"""Starting the engine of a judge job, with the devices or the turn at an endpoint that it needs."""

import contextlib
import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pandas as pd

from rubric_order.base import locks
from rubric_order.base.errors import InputError
from rubric_order.judging import engines, number_formats, open_calls
from rubric_order.judging.batches import Records
from rubric_order.judging.engines import Engine, Resources, Turn
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.store import Store
from rubric_order.settings.judges.endpoint import Endpoint
from rubric_order.settings.judges.judge import Judge
from rubric_order.settings.judges.metered import Metered

if sys.platform != "win32":
    import resource

if sys.platform == "linux":  # on other systems no job has a GPU
    from rubric_order.judging import devices

log = logging.getLogger(__name__)


def check(judge: Judge, requests: pd.DataFrame) -> None:
    if not judge.capabilities.several_questions and (requests["questions"].str.len() > 1).any():
        raise InputError(
            "judge: its engine answers one question per prompt; a study asks it several, of several criteria"
        )


class Starter:
    """Context manager whose call starts a judge's engine, and that holds the engine's devices and locks until the block
    ends.
    """

    def __init__(self, judge: Judge, kept: Store, resources: Resources) -> None:
        self._judge, self._kept, self._resources = judge, kept, resources
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def __call__(self) -> Engine[Any]:
        gpus = self._resources.gpus
        if slow := number_formats.warning(self._kept.folder.name, self._judge, gpus=gpus):
            log.warning(slow)
        if sys.platform == "linux" and (needed := engines.gpus_to_claim(self._judge, gpus)):
            self._held.enter_context(devices.claim(needed))
        if isinstance(self._judge, Endpoint) and self._judge.batches is not None:
            return self._batches(self._judge)
        if not (isinstance(self._judge, Metered) and self._judge.CALLED):
            return engines.load(self._judge, self._resources)
        if sys.platform != "win32" and self._resources.function is None:
            _allow_files()
        return engines.load(self._judge, replace(self._resources, turn=self._turn()))

    def _batches(self, judge: Endpoint) -> Engine[Any]:
        """Engine of a judge that is asked in batches, after those of earlier jobs were taken up."""
        from rubric_order.judging.engines.batches.engine import BatchEngine

        turn = self._turn(batches=True)
        engine = BatchEngine(judge, replace(self._resources, turn=turn))
        engine.start()
        self._held.callback(engine.close)
        records = Records(turn.batches)
        self._held.callback(records.settle, engine.ended, self._kept)
        engine.take_up()
        records.settle(engine.ended, self._kept)
        engine.begin(self._spent())
        return engine

    def _turn(self, *, batches: bool = False) -> Turn:
        """Wait until no other job asks the endpoint, since its limits hold for all jobs together."""
        folder = self._kept.folder
        self._held.enter_context(locks.only_writer(folder / "calls"))
        calls = folder / "open_calls.jsonl"
        open_calls.book(calls, self._kept)
        self._held.callback(self._book_at_end, calls)
        turn = Turn(self._spent(), folder / "sent.json", calls)
        records = Records(turn.batches)
        records.prune(self._kept)
        if (under_way := records.all()) and not batches:
            number = sum(len(record.requests) for record in under_way)
            raise InputError(
                f"{turn.batches}: {number} requests are under way in batches; set batch: true until they have ended, or"
                " remove the folder to give their answers up"
            )
        return turn

    def _spent(self) -> Amount:
        spent = self._kept.spent()
        return Amount(int(spent["calls"]), int(spent["tokens"]), spent["cost"])

    def _book_at_end(self, calls: Path) -> None:
        try:
            open_calls.book(calls, self._kept)
        except OSError as error:
            log.warning("%s: the next job stores its answers, since nothing can be written: %s", calls, error)


def _allow_files() -> None:
    """Let this process open as many files as the system lets it: a call takes one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
