"""Jobs that ask in batches and are killed at random steps: the server counts what it bills."""

import os
import signal

import numpy as np
import pytest
from batch_server import serving
from factories import complete_judge, request_table
from processes import JOB_PATH, forked

from rubric_order.base import parquet, signals
from rubric_order.judging.batches import Records
from rubric_order.judging.store import Store

REQUESTS = 400
KILLS = 20


@pytest.fixture(autouse=True)
def library_of_this_project(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", JOB_PATH)


def run_job(folder, base_url):
    """One judge job, as the workflow runs it."""
    import judge_shard

    signals.end_once()
    batch = {"wait": "1d", "poll": "0s", "requests": 20}
    how = {"backoff": {"first": 0.001, "longest": 0.01}, "batch": batch}
    judge = complete_judge(engine="openai", model="a-model", answer_prefix="", base_url=base_url, **how)
    paths = {"store": folder / "store", "output": folder / "1.parquet", "model_folder": None, "weights": None}
    judge_shard.main([folder / "requests.parquet"], ["score_order"], 1, 1, judge, gpus=0, **paths)


def run_and_kill_at_write(folder, base_url, write):
    """The same; it kills itself before it writes or removes the file of that number."""
    left = [write]

    def dies(step):
        def counted(*arguments, **settings):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return step(*arguments, **settings)

        return counted

    Store.append, Records.write, Records.remove = map(dies, (Store.append, Records.write, Records.remove))
    run_job(folder, base_url)


@pytest.mark.slow
def test_of_400_requests_each_is_billed_once_in_20_kills(tmp_path):
    """Half of the kills come at a call, before or after the server has done it, half at a write of the job."""
    rng = np.random.default_rng(1)
    table = request_table(*(f"{k:032x}" for k in range(REQUESTS)), repeat=0)
    table = table.assign(prompt=[f"prompt {k}" for k in range(REQUESTS)], unit_id=[f"i{k}" for k in range(REQUESTS)])
    parquet.write(table, tmp_path / "requests.parquet")
    ids, codes = table["request_id"].tolist(), []
    with serving() as (server, endpoint):
        server.text = "4"

        def go_on(batch):
            """Some batches end at a look; the first one ends after all kills."""
            if rng.random() < 0.2 and (batch.id != "batch_0" or len(codes) == KILLS):
                server.complete(batch)

        server.at_each_look = go_on

        def start(target, *arguments):
            process = forked.Process(target=target, args=(tmp_path, endpoint.base_url, *arguments))
            process.start()
            return process

        for number in range(KILLS):
            step = int(rng.integers(1, 12))
            # A job that has nothing left to write is killed at a late call.
            last_call = len(endpoint.calls) + (60 if number % 2 else step)
            job = start(run_and_kill_at_write, step) if number % 2 else start(run_job)

            def kill(call, job=job, last_call=last_call):
                if len(endpoint.calls) >= last_call and job.is_alive():
                    os.kill(job.pid, signal.SIGKILL)

            server.before, server.after = (kill, nothing) if rng.random() < 0.5 else (nothing, kill)
            job.join()
            server.before = server.after = nothing
            codes.append(job.exitcode)
        job = start(run_job)
        job.join()
        assert job.exitcode == 0
        assert codes == [-signal.SIGKILL] * KILLS
        for batch in server.batches.values():  # also those that no job knows of, if there were any
            server.complete(batch)
        assert server.billed == dict.fromkeys(ids, 1)
    store = Store(tmp_path / "store")
    assert store.read(ids)["text"].tolist() == ["4"] * REQUESTS
    assert store.spent()["calls"] == REQUESTS
    records = Records(tmp_path / "store/batches")
    records.prune(store)  # as the next job does that asks anything
    assert records.all() == []


def nothing(call):
    """Do nothing at a call."""
