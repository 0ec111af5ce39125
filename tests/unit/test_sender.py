"""The process that sends the calls of a judge job, from the job's side. Kills are in `test_paid_once.py`."""

import collections
import os
import signal
import time

import psutil
import pytest
from endpoint import Reply, completion, running
from factories import complete_judge, request

from rubric_order.base.errors import InputError
from rubric_order.judging.engines.sender import AHEAD, Sender

CONCURRENCY = 4


@pytest.fixture
def endpoint():
    with running(lambda call: Reply(completion(f"{call.prompt} [RESULT] 4"))) as endpoint:
        yield endpoint


@pytest.fixture
def start(endpoint, tmp_path, root, monkeypatch):
    """Start senders; at the end of the test none of them may be left."""
    monkeypatch.delenv("PYTHONPATH", raising=False)  # a job finds the library beside its script
    judge = complete_judge(engine="openai", model="a-model", answer_format="feedback", answer_prefix="")
    how = {"gpu": 0, "base_url": endpoint.base_url, "concurrency": CONCURRENCY}
    yield lambda **changes: Sender({**judge, **how, "open_calls": tmp_path / "open_calls.jsonl", **changes})
    assert not senders()


def senders():
    return [child for child in psutil.Process().children() if any("sender" in word for word in child.cmdline())]


def requests(count):
    return (request(f"r{number}", f"prompt {number}") for number in range(count))


def test_two_rounds_and_an_empty_one_over_one_process(start, endpoint):
    """As the second requests of a judge follow the first ones."""
    engine = start()
    assert engine.describe()["base_url"] == endpoint.base_url
    (process,) = senders()
    for count in (50, 0, 20):
        responses = list(engine.answer(requests(count)))
        assert sorted((response.request_id, response.text) for response in responses) == sorted(
            (f"r{number}", f"prompt {number} [RESULT] 4") for number in range(count)
        )
    assert senders() == [process]
    engine.close()


def test_its_session_is_its_own(start):
    """Ctrl-C in a terminal, and a kill of the job's process group, reach the job alone."""
    engine = start()
    (process,) = senders()
    assert os.getsid(process.pid) == process.pid
    engine.close()


def test_a_mistake_in_config_is_raised_in_the_job(start, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(InputError, match=r"^judge: api_key_env: the environment has no variable MY_KEY$"):
        start(api_key_env="MY_KEY")


def test_a_mistake_that_the_endpoint_tells_is_raised_in_the_job(start, capfd):
    with running(lambda call: Reply({}, status=402)) as endpoint:
        engine = start(base_url=endpoint.base_url)
        with pytest.raises(InputError, match="402"):
            list(engine.answer(requests(100)))
        engine.close()
        assert len(endpoint.calls) <= CONCURRENCY, "what was left of the round is not asked"
    assert "Traceback" not in capfd.readouterr().err


def test_a_defect_in_the_requests_reaches_the_job(start):
    def requests():
        yield request("a", "x")
        raise KeyError("no such column")

    engine = start()
    with pytest.raises(KeyError, match="no such column"):
        list(engine.answer(requests()))
    engine.close()


def test_a_defect_of_the_sender_reaches_the_job_and_its_log_tells_where(start, capfd):
    engine = start()
    with pytest.raises(RuntimeError, match=r"^AttributeError: 'NoneType' object has no attribute 'encode'$"):
        list(engine.answer([request("a", "x"), request("b", prompt=None)]))
    engine.close()
    assert "Traceback" in capfd.readouterr().err


def test_a_sender_that_is_killed_ends_the_job_with_one_line(start):
    engine = start()
    answers = engine.answer(requests(10_000))
    next(answers)
    (process,) = senders()
    process.kill()
    with pytest.raises(InputError, match=r"^judge: the process that sends its calls has ended with status -9; "):
        list(answers)
    engine.close()


def test_requests_are_given_as_they_are_answered(start):
    taken = []

    def noted():
        for made in requests(10_000):
            taken.append(made)
            yield made

    with running(lambda call: Reply(completion(), stall=int(call.prompt.split()[1]) > 0)) as endpoint:
        engine = start(base_url=endpoint.base_url, timeout=1)
        answers = engine.answer(noted())
        next(answers)
        answers.close()
        engine.close()
    assert CONCURRENCY <= len(taken) <= AHEAD + CONCURRENCY + 2


def test_a_job_that_is_left_ends_its_sender(start, endpoint):
    engine = start()
    answers = engine.answer(requests(10_000))
    next(answers)
    answers.close()
    sent = len(endpoint.calls)
    assert sent < 10_000
    time.sleep(0.2)
    assert len(endpoint.calls) == sent
    engine.close()


def test_a_signal_to_the_job_yields_what_has_come_and_the_calls_under_way(start):
    def end(*_):
        raise SystemExit("ended on request")

    def reply(call):
        if call.prompt == "prompt 20":
            os.kill(os.getpid(), signal.SIGTERM)
        return Reply(completion(), delay=0.05)

    previous, kept = signal.signal(signal.SIGTERM, end), []
    try:
        with running(reply) as endpoint:
            engine = start(base_url=endpoint.base_url)
            with pytest.raises(SystemExit, match="ended on request"):
                collections.deque(map(kept.append, engine.answer(requests(10_000))))
            engine.close()
            calls = len(endpoint.calls)
    finally:
        signal.signal(signal.SIGTERM, previous)
    assert 20 <= calls < 10_000
    assert [response.error for response in kept] == [None] * calls
