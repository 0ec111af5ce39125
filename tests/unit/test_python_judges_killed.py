"""Jobs and studies of functions that are killed and begun again: each function writes down its own calls."""

import collections
import json
import os
import sys
import time

import numpy as np
import pandas as pd
import pytest
from factories import request_table
from processes import JOB_PATH, forked

import rubric_order
from rubric_order.base import parquet, signals
from rubric_order.judging.engines.python import functions
from rubric_order.judging.store import Store
from rubric_order.settings import judges

REQUESTS, CONCURRENCY = 400, 8
MODULE = """
import asyncio
import os
import re
import time

CALLS = os.environ["CALLS_OF_THE_JUDGE"]


def note(prompt):
    with open(CALLS, "ab", buffering=0) as file:
        file.write(prompt.encode() + b"\\n")


def plain(prompt):
    note(prompt)
    time.sleep(0.02)
    return f"{prompt} [RESULT] 4"


async def coroutine(prompt):
    note(prompt)
    await asyncio.sleep(0.02)
    return f"{prompt} [RESULT] 4"


def runaway(prompt):
    note(prompt)
    if prompt in ("prompt 0", "prompt 250"):
        re.match("(a+)+$", 64 * "a" + "b")
    return f"{prompt} [RESULT] 4"


def of_study(prompt):
    note(prompt[-40:].replace("\\n", " ") + str(hash(prompt)))
    time.sleep(0.02)
    return 4
"""


@pytest.fixture(autouse=True)
def environment(root, tmp_path, monkeypatch):
    (tmp_path / "counting.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", JOB_PATH)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    monkeypatch.setenv("CALLS_OF_THE_JUDGE", str(tmp_path / "calls"))
    yield
    sys.modules.pop("counting", None)


def run_job(folder, name, calls, settings):
    """One judge job, as the workflow runs it."""
    from rubric_order.jobs.judge_shard import judge_shard

    os.environ["CALLS_OF_THE_JUDGE"] = calls
    signals.end_once()
    block = {"engine": "python", "function": f"counting:{name}", "folder": str(folder), "concurrency": CONCURRENCY}
    judge = judges.read(block | settings)
    judge = functions.resolved(judge, functions.find(judge))
    paths = {"store": folder / "store", "output": folder / "1.parquet", "model_folder": None, "weights": None}
    judge_shard([folder / "requests.parquet"], ["score_order"], 1, 1, judge, gpus=0, **paths)


class Jobs:
    """Jobs over the requests in a folder, and the calls that the function has written down."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.prompts = [f"prompt {k}" for k in range(REQUESTS)]
        table = request_table(*(f"{k:032x}" for k in range(REQUESTS)), repeat=0)
        table = table.assign(prompt=self.prompts, unit_id=[f"i{k}" for k in range(REQUESTS)])
        self.ids = table["request_id"].tolist()
        parquet.write(table, folder / "requests.parquet")

    def start(self, **settings):
        job = forked.Process(target=run_job, args=(self.folder, self.name, str(self.folder / "calls"), settings))
        job.start()
        return job

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def wait_for_calls(self, number, job):
        while len(self.calls()) < number:
            alive = job.is_alive()
            time.sleep(0.002)
            assert alive or len(self.calls()) >= number, "the job has ended"

    def answered(self):
        rows = Store(self.folder / "store").read(self.ids, ["text"])
        return set(rows["request_id"][rows["text"].notna()])

    def written_down(self):
        """Requests whose answers wait in the file of open calls for the next job."""
        lines = (self.folder / "store/open_calls.jsonl").read_bytes().splitlines()
        entries = [json.loads(line) for line in lines if line.startswith(b'["answer"') and line.endswith(b"]")]
        return {name for _, _, name, *_ in entries}

    def booked(self):
        return Store(self.folder / "store").spent()["calls"]


@pytest.mark.slow
def test_a_function_that_holds_the_interpreter_ends_its_job_and_the_next_ones_go_further(tmp_path):
    """No signal comes. Requests whose call ended a job are asked last, so that few jobs answer all others."""
    jobs = Jobs(tmp_path, "runaway")
    number, answers = 0, set()
    while len(answers) < REQUESTS - 2 and number < 4:
        job, number = jobs.start(timeout=1, concurrency=1), number + 1
        job.join(300)
        assert job.exitcode == 1
        answers = jobs.answered() | jobs.written_down()
    assert len(answers) == REQUESTS - 2
    assert len(jobs.calls()) == REQUESTS - 2 + number


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "coroutine"])
def test_a_job_that_is_killed_makes_the_calls_under_way_again(tmp_path, name):
    jobs, rng, kills = Jobs(tmp_path, name), np.random.default_rng(21), 4
    for calls, seconds in zip(rng.integers(20, 60, kills).tolist(), rng.uniform(0, 0.05, kills), strict=True):
        job = jobs.start()
        jobs.wait_for_calls(len(jobs.calls()) + calls, job)
        time.sleep(seconds)
        job.kill()
        job.join(60)
    before = len(jobs.calls())
    kept = {jobs.prompts[jobs.ids.index(name)] for name in jobs.answered() | jobs.written_down()}
    last = jobs.start()
    last.join(120)
    assert last.exitcode == 0
    counted = collections.Counter(jobs.calls())
    again = sum(counted.values()) - REQUESTS
    assert set(counted) == set(jobs.prompts)
    assert jobs.answered() == set(jobs.ids)
    assert 0 < again <= kills * CONCURRENCY
    assert not kept & set(jobs.calls()[before:])
    texts = pd.read_parquet(tmp_path / "1.parquet").set_index("request_id")["text"]
    assert texts[jobs.ids].tolist() == [f"{prompt} [RESULT] 4" for prompt in jobs.prompts]
    # A call can be booked that the kill kept from being made.
    assert len(jobs.calls()) <= jobs.booked() <= len(jobs.calls()) + kills * CONCURRENCY


ITEMS = [{"item": f"i{k}", "text": f"text {k}", "group": f"g{k // 2}"} for k in range(20)]
RUBRIC = {"question": "Is it good?", "levels": ["bad", "poor", "fair", "good", "great"]}


def run_study(folder, calls):
    """A study in the process of its caller."""
    os.environ["CALLS_OF_THE_JUDGE"] = calls
    sys.path.insert(0, str(folder))
    import counting

    reads = study(counting.of_study, folder)
    reads.to_pickle(folder / "reads.pickle")


def study(function, folder):
    how = {"concurrency": CONCURRENCY, "answer_format": "score"}
    return rubric_order.study(function, ITEMS, rubric=RUBRIC, folder=folder / "store", instruction="Write.", **how)


@pytest.mark.slow
def test_a_study_that_is_killed_at_random_makes_no_call_whose_answer_has_come_again(tmp_path):
    """The function runs in the caller's process: a kill costs the calls under way."""
    jobs, rng, kills = Jobs(tmp_path, "of_study"), np.random.default_rng(22), 4
    for calls, seconds in zip(rng.integers(5, 35, kills).tolist(), rng.uniform(0, 0.03, kills), strict=True):
        process = forked.Process(target=run_study, args=(tmp_path, str(tmp_path / "calls")))
        process.start()
        jobs.wait_for_calls(len(jobs.calls()) + calls, process)
        time.sleep(seconds)
        process.kill()
        process.join(60)
    process = forked.Process(target=run_study, args=(tmp_path, str(tmp_path / "calls")))
    process.start()
    process.join(120)
    assert process.exitcode == 0
    reads = pd.read_pickle(tmp_path / "reads.pickle")  # noqa: S301 - our own
    requests = reads["request_id"].nunique()
    assert (len(reads), requests) == (200, 200)
    assert reads["score"].eq(4).all()
    calls = len(jobs.calls())
    assert 0 <= calls - requests <= kills * CONCURRENCY
    assert len(set(jobs.calls())) == requests
    assert calls <= jobs.booked() <= calls + kills * CONCURRENCY
    cards = rubric_order.bias_card(reads)
    assert [card.evidence.n_reads for card in cards] == [200]
