"""Answering the requests of one shard. Answers come from the store; the engine gives those that the store lacks."""

import contextlib
import functools
import json
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import signals
from rubric_order.base.errors import InputError
from rubric_order.base.text_columns import is_among
from rubric_order.contracts.responses import RUN_COLUMNS, failures, reason_of
from rubric_order.judging.engines import Engine, Request, Response
from rubric_order.judging.progress import progress
from rubric_order.judging.readable import MOST, Asked, Readable
from rubric_order.judging.speed import Marks, computed
from rubric_order.judging.store import Store, asked_again, may_pass
from rubric_order.probes import Question, Shown

log = logging.getLogger(__name__)

Watch = Callable[[Iterable[Response], int, object], Iterator[Response]]

READ = ["text", "finish_reason", "option_logprobs"]  # columns from which an answer is read
CHUNK_SECONDS = 20.0  # longest time that a finished request waits to be written
LAST_SECONDS = 60.0  # time for further tries to write the last answers, if the disk does not take them
MAX_WAITING = 4  # the job ends if the disk does not take so many times `CHUNK_REQUESTS` responses
CHUNK_REQUESTS = 16_384  # most finished requests that wait: only a very fast judge gives so many in `CHUNK_SECONDS`


def judge(
    requests: pd.DataFrame,
    store: Store,
    start_engine: Callable[[], Engine[Any]],
    *,
    accept_failures: bool = False,
    retry_failed: bool = False,
    refuse_mixed: Callable[[pd.DataFrame], None] | None = None,
    second_requests: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame] | None = None,
    readable: Readable | None = None,
    watch: Watch = progress,
    keep_open: bool = False,
) -> pd.DataFrame:
    """Responses to all requests, in their order: columns of `RESPONSES`, and `constrained_text` with second requests.

    Args:
        requests: one shard, neighbours sharing prefixes; column `probe`, and `study` if there are several.
        start_engine: loads the model, only where the store lacks an answer.
        accept_failures: take failures that may pass as final, where they else are an `InputError`.
        retry_failed: ask again the requests that failed for good.
        refuse_mixed: refuses answers of several versions, before anything is asked and at the end.
        second_requests: makes second requests from requests and responses.
        readable: stops a study of which no answer can be read; None reads nothing.
        watch: passes responses on and shows progress.
        keep_open: leave the engine open; who starts it closes it.
    """
    with contextlib.ExitStack() as started:
        engine = functools.cache(lambda: _start(start_engine, None if keep_open else started))
        ask = functools.partial(
            _ask, store=store, engine=engine, retry_failed=retry_failed, refuse_mixed=refuse_mixed, watch=watch
        )
        ask(requests, readable=readable)
        second = None
        if second_requests is not None:
            second = second_requests(requests, store.read(requests["request_id"], ["text", "finish_reason"]))
            ask(second)
    # Unless it is kept open, the engine has ended: its memory is free while results are read.
    done = _answers(requests, store)
    errors = done["error"]
    if refuse_mixed is not None:
        refuse_mixed(done[errors.isna()])
    if second is not None:
        ended = _answers(second, store, ["text"])
        texts = dict(zip(second["first_id"], ended["text"], strict=True))
        done["constrained_text"] = done["request_id"].map(texts)
        errors = pd.concat([errors, ended["error"]], ignore_index=True)
    if errors.notna().any():
        done["option_logprobs"] = done["option_logprobs"].where(done["error"].isna(), None)  # of a model not accepted
        log.warning("%d of %d requests failed: %s", errors.notna().sum(), len(errors), failures(errors))
    passing = errors[may_pass(errors)]
    if len(passing) and not accept_failures:
        reasons = passing.map(reason_of).value_counts()
        counts = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        raise InputError(
            f"{len(passing)} of {len(errors)} requests failed for reasons that may pass ({counts}); the others are"
            " kept. Run again to ask only these, or set accept_failures: true to take them as final"
        )
    return done.drop(columns=RUN_COLUMNS)


def _start(start_engine: Callable[[], Engine[Any]], started: contextlib.ExitStack | None) -> Engine[Any]:
    begun = time.monotonic()
    engine = start_engine()
    if started is not None:
        started.callback(engine.close)
    log.info("engine ready after %.0f s", time.monotonic() - begun)
    return engine


def _ask(
    requests: pd.DataFrame,
    *,
    store: Store,
    engine: Callable[[], Engine[Any]],
    retry_failed: bool,
    refuse_mixed: Callable[[pd.DataFrame], None] | None,
    readable: Readable | None = None,
    watch: Watch,
) -> None:
    """Ask the engine for the responses that the store lacks."""
    missing = unanswered(requests, store, retry_failed=retry_failed)
    if readable is not None:
        _recall(readable, requests.drop(missing.index), store)
        if retry_failed and (stopped := readable.give_up(_studies(missing))):
            store.fail(requests["request_id"][np.isin(_studies(requests), stopped)], "stopped: no score could be read")
            missing = unanswered(requests, store, retry_failed=retry_failed)
        readable.begin(_studies(missing), store.folder)
    log.info("%d requests: %d answered before, %d to judge", len(requests), len(requests) - len(missing), len(missing))
    if len(missing):
        running = engine()
        # The start waits for other jobs over the same endpoint to end, and stores the answers of a killed one.
        before, missing = missing, unanswered(requests, store, retry_failed=retry_failed)
        if readable is not None:
            _recall(readable, before.drop(missing.index), store)
    if len(missing):
        engine_used = json.dumps(running.describe(), sort_keys=True)
        if refuse_mixed is not None:
            answers = store.read(requests["request_id"], ["engine", "model"])
            answers = answers[answers["error"].isna()].astype(object)
            refuse_mixed(pd.concat([answers, pd.DataFrame({"engine": [engine_used], "model": [None]})]))
        counted: Iterable[Response]
        if readable is None:
            source = counted = running.answer(as_requests(missing))
        else:
            source = readable.ask(running, _studies(missing), lambda places: _asked(missing.iloc[places]))
            counted = readable.counted(source)
        noted = measured(
            watch(counted, len(missing), readable or ""), lambda run: store.note({**run, "engine": engine_used})
        )
        try:
            keep(noted, store, engine_used, source=source)
        finally:  # also if answers cannot be kept: nothing more is asked after this
            if isinstance(source, Generator):
                source.close()
        try:
            store.compact(requests["request_id"])
        except OSError as error:  # all is stored, but in more files than needed
            log.warning("%s: its files cannot be joined: %s", store.folder, error)
        if readable is not None:
            readable.check(store.folder)


def unanswered(requests: pd.DataFrame, store: Store, *, retry_failed: bool) -> pd.DataFrame:
    """The requests that have no result yet, then those with a failure that is asked again: it may end the job again."""
    done = store.read(requests["request_id"], ["request_id"])
    again = asked_again(done["error"], retry_failed=retry_failed)
    left = requests[~is_among(requests["request_id"], done["request_id"][~again])]
    failed = is_among(left["request_id"], done["request_id"][again])
    return pd.concat([left[~failed], left[failed]]) if failed.any() else left


def _studies(requests: pd.DataFrame) -> list[str]:
    return requests["study"].tolist() if "study" in requests else [""] * len(requests)


def _asked(requests: pd.DataFrame) -> Iterator[Asked]:
    return map(Asked, as_requests(requests), requests["probe"], _studies(requests))


def _recall(readable: Readable, answered: pd.DataFrame, store: Store) -> None:
    """Count answers that the store has, evenly spaced, of each study of which nothing was read yet."""
    for study, rows in answered.groupby(_studies(answered)).indices.items():
        if not readable.tallies[study].n_read:
            places = np.unique(np.linspace(0, len(rows) - 1, MOST).round().astype(int))
            part = answered.iloc[rows[places]]
            count_read(readable, part, store.read(part["request_id"], READ))


def count_read(readable: Readable, requests: pd.DataFrame, responses: pd.DataFrame) -> None:
    table = responses[["request_id", "error", *READ]].astype(object)
    rows = table.where(table.notna(), None).to_dict("records")
    by_request = {row["request_id"]: Response(**row) for row in rows}
    for asked in _asked(requests):
        if asked.request.request_id in by_request:
            readable.count(asked, by_request[asked.request.request_id])


def _answers(requests: pd.DataFrame, store: Store, columns: list[str] | None = None) -> pd.DataFrame:
    done = store.read(requests["request_id"], columns)
    if len(done) != len(requests):
        raise RuntimeError(f"{len(requests) - len(done)} requests were not answered")
    return done


def as_requests(table: pd.DataFrame) -> Iterator[Request]:
    for row in table.itertuples():
        yield Request(
            row.request_id,
            row.prompt,
            _questions(row.questions),
            int(row.repeat),
            profile=row.profile,
            begun=getattr(row, "begun", None),
            dataset=row.dataset,
            unit_id=row.unit_id,
            options=tuple(row.options),
            shown=Shown(tuple(map(int, row.ordering)), tuple(map(int, row.levels)), row.condition),
        )


def _questions(records: Iterable[Mapping[str, Any]]) -> tuple[Question, ...]:
    return _same(tuple((record["name"], tuple(record["labels"]), record["names"]) for record in records))


@functools.cache
def _same(questions: tuple[tuple[Any, ...], ...]) -> tuple[Question, ...]:
    return tuple(Question(*question) for question in questions)


def keep(responses: Iterable[Response], store: Store, engine: str, *, source: Iterator[Response] | None = None) -> None:
    """Write responses to the store in chunks, also if the engine fails or stalls. If a signal ends the job during a
    write, the engine does not see it: the exception is thrown into `source`, its own iterator, and what it still yields
    is kept.
    """
    chunk: list[Response] = []
    turn, ended = threading.Lock(), threading.Event()

    def write() -> bool:
        """Write the responses that have come; False if the disk does not take them, and they wait for the next try."""
        with signals.held_back(), turn:
            ready = chunk.copy()
            try:
                store.append(ready, engine=engine)
            except OSError as error:
                log.warning("%s: %d answers wait, since they cannot be written: %s", store.folder, len(ready), error)
                return False
            del chunk[: len(ready)]
            return True

    def write_in_time() -> None:
        while not ended.wait(CHUNK_SECONDS):
            write()

    with ThreadPoolExecutor(max_workers=1) as timer:
        written = timer.submit(write_in_time)
        enough = CHUNK_REQUESTS
        try:
            for response in responses:
                chunk.append(response)
                if len(chunk) >= enough:
                    enough = CHUNK_REQUESTS if write() else 2 * len(chunk)
                    if enough > MAX_WAITING * CHUNK_REQUESTS:
                        raise InputError(f"{store.folder}: {len(chunk)} answers cannot be written; the log says why")
        except (KeyboardInterrupt, SystemExit) as stop:
            chunk.extend(signals.yielded_after(source, stop))
            raise
        finally:
            ended.set()
            with signals.held_back():
                _write_at_last(write, store.folder)
        written.result()


def _write_at_last(write: Callable[[], bool], folder: Path) -> None:
    deadline = time.monotonic() + LAST_SECONDS
    while not write():
        if time.monotonic() >= deadline:
            raise InputError(f"{folder}: the last answers cannot be written; the log says why")
        time.sleep(min(1.0, LAST_SECONDS / 10))


def measured(responses: Iterable[Response], note: Callable[[dict[str, Any]], None]) -> Iterator[Response]:
    """Pass responses on; at the end, even of a job cut short, note the numbers of requests and tokens, and the time."""
    marks = Marks()
    run = dict.fromkeys(("requests", "failed", "prompt_tokens", "cached_tokens", "completion_tokens"), 0)
    try:
        for response in responses:
            run["requests"] += 1
            if response.error is None:
                for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
                    run[name] += getattr(response, name) or 0
            else:
                run["failed"] += 1
            marks.answered(computed(run))
            yield response
    finally:
        ended = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            note({**run, "seconds": round(marks.seconds(), 3), "marks": marks.marks, "ended": ended})
        except OSError as error:  # no answer is lost
            log.warning("there is no note of this run: %s", error)
