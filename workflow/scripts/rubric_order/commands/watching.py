"""Progress of a judge. A terminal shows a bar with rate, money and time left. Any other output gets lines of a log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from rubric_order.base import command_line
from rubric_order.judging.progress import Speed, progress

if TYPE_CHECKING:
    from rich.console import Console

    from rubric_order.judging.engines import Response
    from rubric_order.judging.shard import Watch
    from rubric_order.settings.judges.judge import Judge


def watch(judge: Judge, console: Console) -> Watch:
    """Make a function that passes responses on and shows their progress: a bar on a terminal, else lines of a log."""
    if not console.is_terminal:
        command_line.log_to_stderr(logging.INFO)
        return progress
    command_line.log_to_stderr(logging.WARNING)

    def shown(responses: Iterable[Response], total: int, readable: object = "") -> Iterator[Response]:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
        speed, failed, spent = Speed(), 0, 0.0
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("", total=total)
            for done, response in enumerate(responses, start=1):
                yield response
                failed += response.error is not None
                spent += response.cost or 0.0
                rate = speed.at(time.monotonic(), done)
                words = said(rate, done, total, failed, spent, judge.currency)
                bar.update(task, completed=done, description=", ".join(filter(None, (words, str(readable)))))

    return shown


def said(rate: float | None, done: int, total: int, failed: int, spent: float, currency: str) -> str:
    """Words beside the bar, from requests per second (None while too little is known), counts, and money if there are
    prices.

    >>> said(2.0, 100, 300, 0, 0.5, "USD")
    '2.0/s, 0:01:40 left, 0.50 of about 1.50 USD'
    """
    left = total - done
    parts = []
    if rate:
        parts += [f"{rate:.1f}/s", f"{timedelta(seconds=round(left / rate))} left"]
    if currency and done:
        parts.append(f"{spent:.2f} of about {spent / done * total:.2f} {currency}")
    if failed:
        parts.append(f"{failed} failed")
    return ", ".join(parts)
