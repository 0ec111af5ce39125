"""Starting the engine of a judge job, with the devices or the turn that it needs."""

import contextlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from rubric_order.base import locks
from rubric_order.judging import devices, engines, number_formats, open_calls
from rubric_order.judging.engines import sender
from rubric_order.judging.store import Store

log = logging.getLogger(__name__)


class Starter:
    """Starts a judge's engine when it is called. What the engine needs is held until the block ends.

    Args:
        judge: what the judge's answers depend on.
        endpoint: how it is asked over an endpoint.
        kept: the judge's response store, in a folder of its name.
        model_folder: weights that the workflow converted.
        gpus: number of devices.
    """

    def __init__(self, judge: Mapping, endpoint: Mapping, kept: Store, model_folder: Path | None, gpus: int) -> None:
        self._judge, self._endpoint, self._kept = judge, endpoint, kept
        self._model_folder, self._gpus = model_folder, gpus
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def __call__(self) -> engines.Engine:
        if slow := number_formats.warning(self._kept.folder.name, {**self._judge, "gpu": self._gpus}):
            log.warning(slow)
        if needed := engines.gpus_to_claim(dict(self._judge), self._gpus):
            self._held.enter_context(devices.claim(needed))
        settings = {**self._judge, **self._endpoint, "gpu": self._gpus}
        if self._endpoint.get("base_url"):
            engine = sender.Sender({**settings, **self._turn()})
            self._held.callback(engine.close)  # before what is left is booked, which waits for the process
            engine.start()
            return engine
        return engines.load(settings, model_folder=self._model_folder)

    def _turn(self) -> dict:
        """Wait until no other job asks the endpoint: its limits hold for all jobs together. What was spent so far."""
        folder = self._kept.folder
        self._held.enter_context(locks.only_writer(folder / "calls"))
        calls = folder / "open_calls.jsonl"
        self._book(calls)
        self._held.callback(self._book, calls)
        return {"spent": self._kept.spent(), "sent": folder / "sent.json", "open_calls": calls}

    def _book(self, calls: Path) -> None:
        """Book what a job left, see `open_calls.book`, once its sender has ended: it outlives a job that is killed."""
        with locks.only_writer(calls):
            open_calls.book(calls, self._kept)
