"""Judge jobs as processes of their own, killed, torn and run side by side: nothing is lost, nothing is asked twice."""

import collections
import itertools
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from factories import changed, request_table
from processes import JOB_PATH, forked

from rubric_order.base import parquet
from rubric_order.judging import engines
from rubric_order.judging import shard as judging
from rubric_order.judging.store import Store
from rubric_order.planning.requests import namer
from rubric_order.probes.score_order import ScoreOrder
from rubric_order.settings.judges import Judge

CHUNK = 16
KILLS = 20

SIMULATED = {
    "engine": "simulated",
    "model": "simulated",
    "answer_prefix": "",
    "sampling": {"temperature": 1, "top_p": 1, "max_tokens": 8, "seed": 0, "stop": []},
    "simulation": {"preference": "first", "failure_rate": 0.1},
}


@pytest.fixture(autouse=True)
def library_of_this_project(monkeypatch):
    """Jobs import the library beside the tests."""
    monkeypatch.setenv("PYTHONPATH", JOB_PATH)


def run_job(folder: Path, *, judge: Judge, shard: int, shards: int, delay: float, output: str) -> None:
    """One judge job, as the workflow runs it, which also notes every request that its engine answers."""
    from rubric_order.jobs.judge_shard import judge_shard

    judging.CHUNK_REQUESTS = CHUNK
    load = engines.load

    def load_noting(judge, resources):
        engine = load(judge, resources)
        answer = engine.answer
        log = os.open(folder / "asked.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

        def answer_noting(requests):
            for response in answer(requests):
                os.write(log, f"{response.request_id}\n".encode())
                yield response

        engine.answer = answer_noting
        return engine

    engines.load = load_noting
    judge = changed(judge, simulation=judge.simulation.block() | {"seconds_per_request": delay})
    options = {
        "judge": judge,
        "model_folder": None,
        "weights": None,
        "gpus": 0,
        "store": folder / "store",
        "output": folder / output,
    }
    judge_shard([folder / "study" / "requests.parquet"], ["score_order"], shard, shards, **options)


class Jobs:
    """Judge jobs over the requests in a folder, and what they leave there."""

    def __init__(self, folder: Path, judge: dict, requests: pd.DataFrame) -> None:
        self.folder, self.judge = folder, judge
        folder.mkdir()
        parquet.write(requests, folder / "study" / "requests.parquet")
        self.ids = requests["request_id"].tolist()

    def start(self, *, shard: int = 1, shards: int = 1, delay: float = 0.0, output: str = "responses.parquet"):
        options = {"judge": self.judge, "shard": shard, "shards": shards, "delay": delay, "output": output}
        job = forked.Process(target=run_job, args=(self.folder,), kwargs=options)
        job.start()
        return job

    def finish(self, **options) -> bytes:
        """The responses of a job that is let run to its end."""
        job = self.start(**options)
        job.join()
        assert job.exitcode == 0
        return (self.folder / options.get("output", "responses.parquet")).read_bytes()

    def kill(self, answers: int, seconds: float, **options) -> bool:
        """Kill a job some time after so many answers of its engine; whether it was still running then."""
        already = len(self.asked())
        job = self.start(**options)
        while job.is_alive() and len(self.asked()) < already + answers:
            time.sleep(0.001)
        time.sleep(seconds)
        os.kill(job.pid, signal.SIGKILL)
        job.join()
        return job.exitcode == -signal.SIGKILL

    def asked(self) -> list[str]:
        log = self.folder / "asked.log"
        return log.read_text().split() if log.exists() else []

    def known(self) -> set[str]:
        return set(Store(self.folder / "store").read(self.ids, ["request_id"])["request_id"])

    def chunks(self) -> list[Path]:
        """Files of the store, the newest last."""
        return sorted((self.folder / "store").glob("[!.]*.parquet"), key=lambda path: path.stat().st_mtime_ns)


@pytest.fixture
def make_jobs(judge):
    """Jobs over 1,000 requests about 100 items, in a new folder."""
    judge = changed(judge, **SIMULATED)
    orderings = [list(ordering) for ordering in itertools.islice(itertools.permutations(range(1, 6)), 10)]
    rows = [(f"item-{item:02d}", ordering) for item in range(100) for ordering in orderings]
    prompts = [f"{item} {ordering}" for item, ordering in rows]
    name = namer(judge, 5, ScoreOrder())
    requests = request_table(*(name(prompt.encode(), 0) for prompt in prompts), prompt=prompts, repeat=0).assign(
        unit_id=[item for item, _ in rows], ordering=[ordering for _, ordering in rows]
    )
    return lambda folder: Jobs(folder, judge, requests)


@pytest.fixture
def jobs(make_jobs, tmp_path) -> Jobs:
    return make_jobs(tmp_path / "jobs")


@pytest.fixture
def uninterrupted(make_jobs, tmp_path) -> bytes:
    """The responses of a job that nothing disturbed."""
    jobs = make_jobs(tmp_path / "uninterrupted")
    responses = jobs.finish()
    assert collections.Counter(jobs.asked()) == dict.fromkeys(jobs.ids, 1)
    return responses


@pytest.mark.slow
def test_a_job_killed_at_any_moment_loses_less_than_a_chunk_and_asks_nothing_twice(jobs, uninterrupted):
    rng = np.random.default_rng(20261122)
    asked_before = 0
    for answers, seconds in zip(rng.integers(0, 60, KILLS).tolist(), rng.uniform(0, 0.02, KILLS), strict=True):
        known = jobs.known()
        assert jobs.kill(answers, seconds, delay=0.005)
        asked, asked_before = jobs.asked()[asked_before:], len(jobs.asked())
        assert known.isdisjoint(asked)
        assert len(set(asked) - jobs.known()) <= CHUNK
        assert not (jobs.folder / "responses.parquet").exists()
    known = jobs.known()
    assert 0 < len(known) < len(jobs.ids)
    assert jobs.finish() == uninterrupted
    assert sorted(jobs.asked()[asked_before:]) == sorted(set(jobs.ids) - known)


@pytest.mark.slow
def test_a_job_killed_while_it_joins_its_files_or_writes_its_output_changes_nothing(make_jobs, tmp_path, uninterrupted):
    """These jobs have no delay: they are killed anywhere between their last answers and their end."""
    killed = 0
    for number, seconds in enumerate(np.random.default_rng(7).uniform(0, 0.1, 6)):
        jobs = make_jobs(tmp_path / f"{number}")
        killed += jobs.kill(len(jobs.ids) - 1, seconds)
        known, asked = jobs.known(), len(jobs.asked())
        assert jobs.finish() == uninterrupted
        assert known.isdisjoint(jobs.asked()[asked:])
    assert killed


@pytest.mark.parametrize(
    "tear",
    [lambda raw: raw[: len(raw) // 2], lambda raw: bytes(len(raw)), lambda raw: b""],
    ids=["cut", "zeros", "empty"],
)
def test_a_last_chunk_torn_by_a_power_cut_is_asked_again_and_nothing_else_is(jobs, uninterrupted, tear):
    jobs.kill(3 * CHUNK, 0, delay=0.005)
    *_, last = jobs.chunks()
    lost = set(pq.read_table(last)["request_id"].to_pylist())
    whole = jobs.known() - lost
    assert lost
    assert whole
    last.write_bytes(tear(last.read_bytes()))
    asked = len(jobs.asked())
    assert jobs.finish() == uninterrupted
    assert set(jobs.asked()[asked:]) == set(jobs.ids) - whole


def test_four_jobs_on_one_store_lose_nothing_and_ask_nothing_twice(jobs, uninterrupted, tmp_path):
    started = [jobs.start(shard=k, shards=4, delay=0.001, output=f"{k}.parquet") for k in range(1, 5)]
    for job in started:
        job.join()
        assert job.exitcode == 0
    assert collections.Counter(jobs.asked()) == dict.fromkeys(jobs.ids, 1)
    parts = [pd.read_parquet(jobs.folder / f"{k}.parquet") for k in range(1, 5)]
    (tmp_path / "whole.parquet").write_bytes(uninterrupted)
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), pd.read_parquet(tmp_path / "whole.parquet"))
    Store(jobs.folder / "store").compact()
    (path,) = jobs.chunks()
    assert sorted(pq.read_table(path)["request_id"].to_pylist()) == sorted(jobs.ids)
    assert jobs.finish() == uninterrupted
    assert len(jobs.asked()) == len(jobs.ids)


def test_four_jobs_that_are_given_the_same_requests_leave_each_answer_once(jobs, uninterrupted):
    """As happens when a controller dies and its jobs are submitted again while they still run."""
    started = [jobs.start(delay=0.001, output=f"{k}.parquet") for k in range(4)]
    for job in started:
        job.join()
        assert job.exitcode == 0
    assert {(jobs.folder / f"{k}.parquet").read_bytes() for k in range(4)} == {uninterrupted}
    Store(jobs.folder / "store").compact()
    (path,) = jobs.chunks()
    assert sorted(pq.read_table(path)["request_id"].to_pylist()) == sorted(jobs.ids)


def test_what_gave_an_answer_is_known_of_each_and_the_same_however_often_a_job_was_killed(
    jobs, uninterrupted, tmp_path
):
    jobs.kill(2 * CHUNK + 1, 0, delay=0.005)
    assert jobs.finish() == uninterrupted
    engine = pd.read_parquet(jobs.folder / "responses.parquet")["engine"]
    assert json.loads(engine.drop_duplicates().item())["engine"] == "simulated"
