"""Groups of calls that are written down together, before any of them is sent."""

import asyncio
import contextlib
import os
import threading
import time

import pytest
from endpoint import Reply, completion, running
from factories import complete_judge, request

from rubric_order.base.errors import InputError
from rubric_order.judging import engines, open_calls
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.open_calls import Commits, OpenCalls
from rubric_order.judging.store import Store

MOST = Amount(1, 100, 0.5)
REQUESTS, CONCURRENCY = 300, 32


@pytest.fixture
def journal(tmp_path):
    return OpenCalls(tmp_path / "open_calls.jsonl", "run 1")


@pytest.fixture
def booked(journal, tmp_path):
    """Calls that count as spent when the next job begins."""

    def calls():
        store = Store(tmp_path / "store")
        open_calls.book(journal.path, store)
        return store.spent()["calls"]

    return calls


class Disk:
    """The disk, which can be slow: `fsync` returns when it is told to."""

    def __init__(self, monkeypatch):
        self.begun, self.ready = threading.Semaphore(0), threading.Event()
        self.times, sync = 0, os.fsync

        def slow(file):
            self.times += 1
            self.begun.release()
            assert self.ready.wait(30)
            sync(file)

        monkeypatch.setattr(open_calls.os, "fsync", slow)

    async def has_begun(self):
        assert await asyncio.to_thread(self.begun.acquire, timeout=30)


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


def written(path):
    """Kind and request of each whole line of a file of open calls, those of answers last."""
    return [(kind, name) for answers in (False, True) for kind, _, name, *_ in open_calls._lines(path, answers=answers)]


def test_no_call_arrives_before_it_is_on_disk_and_the_disk_is_waited_for_once_for_many(tmp_path, monkeypatch):
    path, synced, times, early = tmp_path / "open_calls.jsonl", set(), [], []
    sync = os.fsync

    def noted(file):
        lines = written(path)
        time.sleep(0.005)  # what comes meanwhile is not on disk
        sync(file)
        times.append(len(lines))
        synced.update(name for kind, name in lines if kind == "call")

    def reply(call):
        if f"r{call.prompt.split()[1]}" not in synced:
            early.append(call.prompt)
        return Reply(completion("Fine. [RESULT] 4"), delay=0.005)

    monkeypatch.setattr(open_calls.os, "fsync", noted)
    with running(reply) as endpoint:
        how = {"base_url": endpoint.base_url, "concurrency": CONCURRENCY, "answer_prefix": ""}
        judge = complete_judge(engine="openai", model="a-model", answer_format="feedback", **how)
        turn = engines.Turn(Amount(), tmp_path / "sent.json", path)
        engine = engines.load(judge, engines.Resources(turn=turn))
        asked = [request(f"r{number}", f"prompt {number}") for number in range(REQUESTS)]
        responses = list(engine.answer(asked))
        engine.close()
    assert sorted(response.request_id for response in responses) == sorted(made.request_id for made in asked)
    assert all(response.error is None for response in responses)
    assert not early
    assert sorted(name for kind, name in written(path) if kind == "call") == sorted(made.request_id for made in asked)
    assert len(times) < REQUESTS / 2


def test_calls_that_come_while_a_group_is_written_make_the_next_one(journal, disk, booked):
    async def run():
        commits = Commits(journal)
        calls = [asyncio.create_task(commits.add(name, MOST)) for name in "abc"]
        await disk.has_begun()
        calls += [asyncio.create_task(commits.add(name, MOST)) for name in "defg"]
        await asyncio.sleep(0.05)
        assert written(journal.path) == [("call", name) for name in "abc"]
        disk.ready.set()
        assert await asyncio.gather(*calls) == [True] * 7
        await commits.end()
        commits.close()

    asyncio.run(run())
    assert disk.times == 2
    assert booked() == 7


@pytest.mark.parametrize("moment", ["before it is written", "while it is written"])
def test_a_call_whose_request_is_cancelled_is_not_booked(journal, disk, booked, moment):
    async def run():
        commits = Commits(journal)
        first = asyncio.create_task(commits.add("a", MOST))
        if moment == "while it is written":
            await disk.has_begun()
            first.cancel()
        else:
            await asyncio.sleep(0)
            first.cancel()
            assert await asyncio.gather(first, return_exceptions=True)
            assert not journal.path.exists()
            first = asyncio.create_task(commits.add("a", MOST))
            await disk.has_begun()
            second = asyncio.create_task(commits.add("b", MOST))
            await asyncio.sleep(0)
            for call in (first, second):
                call.cancel()
        disk.ready.set()
        with contextlib.suppress(asyncio.CancelledError):
            await first
        await commits.end()
        commits.close()

    asyncio.run(run())
    assert written(journal.path) == [("call", "a"), ("unsent", "a")]
    assert booked() == 0


def test_a_call_that_is_cancelled_at_the_moment_when_it_is_written_is_not_booked(journal, booked):
    async def run():
        commits = Commits(journal)

        async def send_and_cancel(other):
            await commits.add("a", MOST)
            other[0].cancel()

        other = []
        first = asyncio.create_task(send_and_cancel(other))
        other.append(asyncio.create_task(commits.add("b", MOST)))
        assert isinstance((await asyncio.gather(*other, return_exceptions=True))[0], asyncio.CancelledError)
        await first
        await commits.end()
        commits.close()

    asyncio.run(run())
    assert written(journal.path) == [("call", "a"), ("call", "b"), ("unsent", "b")]
    assert booked() == 1


def test_all_calls_of_a_group_wait_where_the_disk_is_full(journal, booked):
    async def run():
        commits, path = Commits(journal), journal.path
        journal.path = "/dev/full"
        assert await asyncio.gather(*(commits.add(name, MOST) for name in "abc")) == [False] * 3
        journal.path = path
        assert await asyncio.gather(*(commits.add(name, MOST) for name in "ab")) == [True] * 2
        commits.close()

    asyncio.run(run())
    assert booked() == 2


def test_a_journal_that_cannot_be_written_ends_all_calls_of_a_group(tmp_path):
    async def run():
        commits = Commits(OpenCalls(tmp_path / "nothing" / "open_calls.jsonl", "run 1"))
        errors = await asyncio.gather(*(commits.add(name, MOST) for name in "ab"), return_exceptions=True)
        commits.close()
        return errors

    errors = asyncio.run(run())
    assert [type(error) for error in errors] == [InputError] * 2
    assert "No such file or directory; no call is sent" in str(errors[0])


@contextlib.contextmanager
def job(endpoint, folder, responses):
    """A job of 20 requests, four at once, which this block ends early."""
    judge = complete_judge(
        engine="openai",
        model="a-model",
        answer_format="feedback",
        answer_prefix="",
        base_url=endpoint.base_url,
        concurrency=4,
    )
    turn = engines.Turn(Amount(), folder / "sent.json", folder / "open_calls.jsonl")
    engine = engines.load(judge, engines.Resources(turn=turn))
    asked = [request(f"r{number}", f"prompt {number}") for number in range(20)]
    thread = threading.Thread(target=lambda: responses.extend(engine.answer(asked)))
    thread.start()
    yield engine
    thread.join(60)
    assert not thread.is_alive()
    engine.close()


def test_a_job_that_ends_while_calls_are_written_sends_and_books_none_of_them(tmp_path, disk, booked):
    responses = []
    with running(lambda call: Reply(completion())) as endpoint:
        with job(endpoint, tmp_path, responses) as engine:
            assert disk.begun.acquire(timeout=30)
            engine.calls.end_early(5.0)
            disk.ready.set()
        assert not endpoint.calls
    assert not responses
    assert booked() == 0


def test_a_job_that_waits_for_answers_sends_and_books_no_call_that_is_written_meanwhile(tmp_path, disk, booked):
    """Four calls are under way. One is answered, and the line of the next one is written when the job ends."""
    one, others, responses = threading.Event(), threading.Event(), []

    def reply(call):
        return Reply(completion("[RESULT] 4"), after=(others if len(endpoint.calls) > 1 else one).is_set)

    disk.ready.set()
    with running(reply) as endpoint:
        with job(endpoint, tmp_path, responses) as engine:
            deadline = time.monotonic() + 30
            while len(endpoint.calls) < 4 and time.monotonic() < deadline:
                time.sleep(0.01)
            disk.ready.clear()
            while disk.begun.acquire(blocking=False):
                pass
            one.set()
            assert disk.begun.acquire(timeout=30)
            engine.calls.end_early(30.0)
            disk.ready.set()
            time.sleep(0.3)
            others.set()
        assert len(endpoint.calls) == 4
    assert [response.error for response in responses] == [None] * 4
    assert booked() == 4


def test_answers_are_written_while_the_disk_is_waited_for(journal, disk, booked):
    async def run():
        commits = Commits(journal)
        call = asyncio.create_task(commits.add("a", MOST))
        await disk.has_begun()
        journal.answered(engines.Response("b", text="4", attempts=1))
        assert written(journal.path) == [("call", "a"), ("answer", "b")]
        disk.ready.set()
        assert await call
        commits.close()

    asyncio.run(run())
    assert booked() == 1
