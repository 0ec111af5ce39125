"""The process that sends the calls of a judge job, from the job's side. Kills are in `test_paid_once.py`."""

import collections
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe

import pytest
from endpoint import Reply, completion, running, senders_of, sigterm_as_the_main_thread_wakes, sigterm_ends
from factories import complete_judge, request

from rubric_order.base import locks
from rubric_order.base.errors import InputError
from rubric_order.judging import engines
from rubric_order.judging.engines import sender
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.engines.sender import AHEAD, Sender
from rubric_order.settings import judges

JUDGE = {"engine": "openai", "model": "a-model", "answer_format": "feedback", "answer_prefix": ""}
CONCURRENCY = 4


@pytest.fixture
def endpoint():
    with running(lambda call: Reply(completion(f"{call.prompt} [RESULT] 4"))) as endpoint:
        yield endpoint


def resources_in(folder):
    """Resources of a job whose turn it is, with files in a folder."""
    return engines.Resources(turn=engines.Turn(Amount(), folder / "sent.json", folder / "open_calls.jsonl"))


@pytest.fixture
def start(endpoint, tmp_path, root, monkeypatch):
    """Start senders; at the end of the test none of them may be left."""
    monkeypatch.delenv("PYTHONPATH", raising=False)  # a job finds the library beside its script
    how = {"base_url": endpoint.base_url, "concurrency": CONCURRENCY}

    def start(**changes):
        engine = Sender(complete_judge(**JUDGE, **how | changes), resources_in(tmp_path))
        made.append(engine)
        engine.start()
        return engine

    made = []
    yield start
    for engine in made:
        engine.close()
    assert not senders()


def senders():
    return senders_of(os.getpid())


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


def test_more_calls_can_be_under_way_than_files_may_be_open_by_default(start):
    """As 2,000 calls where a process may open 1,024 files."""
    count, (least, most) = 200, resource.getrlimit(resource.RLIMIT_NOFILE)
    with running(lambda call: Reply(completion(), after=lambda: len(endpoint.calls) == count)) as endpoint:
        files = len(os.listdir("/proc/self/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (files + count // 2, most))
        try:
            engine = start(base_url=endpoint.base_url, concurrency=count, timeout=60)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
        responses = list(engine.answer(requests(count)))
    assert [response.error for response in responses] == [None] * count
    assert len(endpoint.calls) == endpoint.most_at_once == count


def test_an_answer_that_comes_at_the_moment_of_the_signal_is_kept(start, endpoint):
    engine, kept = start(), []
    with sigterm_as_the_main_thread_wakes(), pytest.raises(SystemExit, match="ended on request"):
        collections.deque(map(kept.append, engine.answer(requests(200))))
    engine.close()
    assert kept
    assert [response.error for response in kept] == [None] * len(endpoint.calls)


FUNCTIONS = """
import asyncio, os, re, threading, time

def holds_interpreter(prompt):
    os.kill(os.getppid(), 15)
    re.match("(a+)+$", 64 * "a" + "b")

async def ignores_cancellation(prompt):
    os.kill(os.getppid(), 15)
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

def leaves_a_thread(prompt):
    threading.Thread(target=threading.Event().wait).start()
    os.kill(os.getppid(), 15)
    time.sleep(600)
"""


@pytest.mark.parametrize("name", ["holds_interpreter", "ignores_cancellation", "leaves_a_thread"])
def test_whatever_a_function_does_the_sender_ends_with_the_job(tmp_path, monkeypatch, name):
    """A signal comes during the call of a function that does not end."""
    monkeypatch.setattr(sender, "ENDING_SECONDS", 0.5)
    monkeypatch.setattr(sender, "FORCE_SECONDS", 0.5)
    (tmp_path / "endless.py").write_text(FUNCTIONS)
    settings = {"engine": "python", "function": f"endless:{name}", "folder": str(tmp_path), "version": "1"}
    engine, kept = Sender(judges.read({**settings, "takes": "prompt"}), resources_in(tmp_path)), []
    with sigterm_ends(lambda: None):
        engine.start()
        with pytest.raises(SystemExit, match="ended on request"):
            collections.deque(map(kept.append, engine.answer(requests(1))))
    engine.close()
    assert not senders()


def test_a_sender_ends_by_itself_where_a_thread_of_a_function_goes_on():
    program = (
        "import threading\nfrom rubric_order.judging.engines import sender\nsender.FORCE_SECONDS = 0.2\n"
        "threading.Thread(target=threading.Event().wait).start()\nsender._end_within(0)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(sender.LIBRARY)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "most recent call first" in ran.stderr


def test_its_session_is_its_own(start):
    """Ctrl-C in a terminal, and a kill of the job's process group, reach the job alone."""
    engine = start()
    (process,) = senders()
    assert os.getsid(process) == process
    engine.close()


@pytest.mark.parametrize("engine", ["openai_api", "decisions", "python.engine"])
def test_it_does_without_packages_of_tables(engine):
    code = f"import sys\nimport rubric_order.judging.engines.{engine}\n"
    code += "print(*{'pandas', 'pyarrow', 'scipy', 'snakemake'} & set(sys.modules))"
    environment = os.environ | {"PYTHONPATH": str(sender.LIBRARY)}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


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
    with pytest.raises(RuntimeError, match=r"^TypeError: expected string or bytes-like object, got 'NoneType'$"):
        list(engine.answer([request("a", "x"), request("b", prompt=None)]))
    engine.close()
    assert "Traceback" in capfd.readouterr().err


def test_a_sender_that_is_killed_ends_the_job_with_one_line(start):
    engine = start()
    answers = engine.answer(requests(10_000))
    next(answers)
    (process,) = senders()
    os.kill(process, signal.SIGKILL)
    with pytest.raises(InputError, match=r"^judge: the process that sends its calls has ended with status -9; "):
        list(answers)
    engine.close()


@pytest.mark.slow
def test_requests_are_given_as_the_job_takes_the_responses(start, endpoint):
    """All calls are answered at once; the job takes one response."""
    taken = []

    def noted():
        for made in requests(10_000):
            taken.append(made)
            yield made

    answers = start().answer(noted())
    next(answers)
    most = AHEAD + CONCURRENCY
    deadline = time.monotonic() + 30
    while len(endpoint.calls) < most and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    assert len(endpoint.calls) == most
    assert len(taken) == most + 1
    answers.close()


def test_a_file_in_the_working_folder_is_no_module_of_the_sender(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queue.py").write_text("raise RuntimeError('a file of the user')\n")
    assert len(list(start().answer(requests(3)))) == 3


@pytest.mark.slow
def test_the_next_sender_knows_when_it_may_send(start, tmp_path):
    began = time.time()
    for _ in range(2):
        engine = start(requests_per_minute=60)
        list(engine.answer(requests(1)))
        engine.close()
    assert time.time() - began >= 1


@pytest.mark.slow
def test_a_sender_that_waits_for_another_ends_when_its_job_does(endpoint, tmp_path):
    judge, resources = complete_judge(**JUDGE, base_url=endpoint.base_url, concurrency=1), resources_in(tmp_path)
    waiting = Sender(judge, resources)
    with locks.only_writer(resources.turn.open_calls), ThreadPoolExecutor() as jobs:
        started = jobs.submit(waiting.start)
        deadline = time.monotonic() + 30
        while not senders() and time.monotonic() < deadline:
            time.sleep(0.05)
        waiting.close()
        with pytest.raises(InputError, match="has ended with status 0"):
            started.result()
    assert not endpoint.calls


def test_a_job_that_ends_before_it_has_said_what_to_ask_ends_its_sender():
    requests_of_sender, given = Pipe(duplex=False)
    taken, responses_of_sender = Pipe(duplex=False)
    given.send(sender.END)
    sender.main(requests_of_sender, responses_of_sender)
    assert not taken.poll()


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
    """20 calls are answered. The signal comes when all other calls wait for their answers."""
    arrived, told = threading.Semaphore(0), threading.Event()

    def reply(call):
        arrived.release()
        return Reply(completion(), after=(lambda: True) if int(call.prompt.split()[1]) < 20 else told.is_set)

    def tell():
        for _ in range(20 + CONCURRENCY):
            arrived.acquire()
        os.kill(os.getpid(), signal.SIGTERM)

    kept = []
    with running(reply) as endpoint, sigterm_ends(told.set):
        engine = start(base_url=endpoint.base_url)
        threading.Thread(target=tell, daemon=True).start()
        with pytest.raises(SystemExit, match="ended on request"):
            collections.deque(map(kept.append, engine.answer(requests(10_000))))
        calls = len(endpoint.calls)
    assert [response.error for response in kept] == [None] * calls
    assert 20 + CONCURRENCY <= calls < 10_000
