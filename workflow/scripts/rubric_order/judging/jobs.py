"""A judge job: responses from the judge's store where it has them, else from the judge."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from rubric_order.judging import earlier_answers, shard, starting, versions
from rubric_order.judging.engines import Engine, Resources
from rubric_order.judging.progress import progress
from rubric_order.judging.readable import Readable
from rubric_order.judging.second_requests import study_second_requests
from rubric_order.judging.shard import Watch
from rubric_order.judging.store import Store
from rubric_order.settings.judges.judge import Judge


def respond(
    requests: pd.DataFrame,
    judge: Judge,
    store: Store,
    resources: Resources,
    *,
    second_requests: bool = False,
    watch: Watch = progress,
) -> pd.DataFrame:
    """Responses of a judge to all requests, in their order, stored as they come; see `shard.judge`. On an error all
    answers so far are stored.
    """
    with starting.Starter(judge, store, resources) as start:
        readable = Readable(judge)
        return _respond(requests, judge, store, start, readable, second_requests=second_requests, watch=watch)


@contextlib.contextmanager
def open_rounds(
    judge: Judge, store: Store, resources: Resources, *, second_requests: bool = False, watch: Watch = progress
) -> Iterator[Callable[[pd.DataFrame], pd.DataFrame]]:
    """A function like `respond`, to ask several times with one engine, started when first needed and closed at
    the end.
    """
    with contextlib.ExitStack() as opened:
        start, readable = opened.enter_context(starting.Starter(judge, store, resources)), Readable(judge)

        @functools.cache
        def once() -> Engine[Any]:
            engine = start()
            opened.callback(engine.close)
            return engine

        def ask(requests: pd.DataFrame) -> pd.DataFrame:
            options: dict[str, Any] = {"second_requests": second_requests, "watch": watch, "keep_open": True}
            return _respond(requests, judge, store, once, readable, **options)

        yield ask


def _respond(
    requests: pd.DataFrame,
    judge: Judge,
    store: Store,
    start: Callable[[], Engine[Any]],
    readable: Readable,
    *,
    second_requests: bool,
    watch: Watch,
    keep_open: bool = False,
) -> pd.DataFrame:
    mixed = None if judge.accept_mixed else functools.partial(versions.check, names=judge.accepted_names)
    second = functools.partial(study_second_requests, judge=judge) if second_requests and judge.second_request else None
    starting.check(judge, requests)
    results = store.read(requests["request_id"], [])
    earlier_answers.take_accepted(results, judge, store)
    earlier_answers.warn_of_blank_lines(requests, results, judge, store)
    return shard.judge(
        requests,
        store,
        start,
        accept_failures=judge.accept_failures,
        retry_failed=judge.retry_failed,
        refuse_mixed=mixed,
        second_requests=second,
        readable=readable,
        watch=watch,
        keep_open=keep_open,
    )
