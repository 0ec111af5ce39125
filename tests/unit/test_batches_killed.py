"""Jobs that ask in batches and are killed at random steps: the server counts what it bills."""

import os
import signal
import sys

import numpy as np
import pytest
from batch_server import FAULTS, serving
from factories import complete_judge, request_table
from processes import JOB_PATH, forked

from rubric_order.base import parquet, signals
from rubric_order.base.errors import InputError
from rubric_order.judging.batches import Records
from rubric_order.judging.store import Store


@pytest.fixture(autouse=True)
def library_of_this_project(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", JOB_PATH)


def run_job(folder, base_url, stderr):
    """One judge job, as the workflow runs it."""
    from rubric_order.jobs.judge_shard import judge_shard

    signals.end_once()
    batch = {"wait": "1d", "poll": "0s", "requests": 20}
    how = {"backoff": {"first": 0.001, "longest": 0.01}, "batch": batch}
    judge = complete_judge(engine="openai", model="a-model", answer_prefix="", base_url=base_url, **how)
    paths = {"store": folder / "store", "output": folder / "1.parquet", "model_folder": None, "weights": None}
    try:
        judge_shard([folder / "requests.parquet"], ["score_order"], 1, 1, judge, gpus=0, **paths)
    except InputError as error:
        stderr.write_text(str(error))
        sys.exit(1)


def run_and_kill_at_write(folder, base_url, stderr, write):
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
    run_job(folder, base_url, stderr)


def enter_by_hand(folder, server, stderr):
    """What the message of a job asks a person to do, where it is not known if a batch was created."""
    for record in Records(folder / "store/batches").all():
        if record.state == "creating" and record.batch is None:
            path = Records(folder / "store/batches").path(record.key)
            assert f"{path}: whether the batch of these" in stderr.read_text()
            names = [batch.id for batch in server.batches.values() if batch.input_file == record.input_file]
            if names:
                path.write_text(path.read_text().replace('"batch":null', f'"batch":"{names[0]}"'))
            else:
                path.unlink()


def kill_jobs(folder, faults, requests, kills, seed):
    """Ask requests in jobs, and kill so many of them. Returns the number of jobs.

    Half of the kills come at a call, before or after the server has done it, half at a write of the job.
    """
    rng = np.random.default_rng(seed)
    table = request_table(*(f"{k:032x}" for k in range(requests)), repeat=0)
    table = table.assign(prompt=[f"prompt {k}" for k in range(requests)], unit_id=[f"i{k}" for k in range(requests)])
    parquet.write(table, folder / "requests.parquet")
    ids, codes, stderr = table["request_id"].tolist(), [], folder / "stderr"
    with serving(*faults) as (server, endpoint):
        server.text = "4"

        def go_on(batch):
            """Some batches end at a look; the first one ends after all kills."""
            if rng.random() < 0.2 and (batch.id != "batch_0" or codes.count(-signal.SIGKILL) == kills):
                server.complete(batch)

        server.at_each_look = go_on

        def start(target, *arguments):
            process = forked.Process(target=target, args=(folder, endpoint.base_url, stderr, *arguments))
            process.start()
            return process

        while codes.count(-signal.SIGKILL) < kills:
            step = int(rng.integers(1, 12))
            at_write = len(codes) % 2
            # A job that has nothing left to write is killed at a late call.
            last_call = len(endpoint.calls) + (60 if at_write else step)
            job = start(run_and_kill_at_write, step) if at_write else start(run_job)

            def kill(call, job=job, last_call=last_call):
                if len(endpoint.calls) >= last_call and job.is_alive():
                    os.kill(job.pid, signal.SIGKILL)

            server.before, server.after = (kill, nothing) if rng.random() < 0.5 else (nothing, kill)
            job.join()
            server.before = server.after = nothing
            codes.append(job.exitcode)
            if job.exitcode == 1:
                enter_by_hand(folder, server, stderr)
        while not codes or codes[-1] != 0:
            job = start(run_job)
            job.join()
            codes.append(job.exitcode)
            enter_by_hand(folder, server, stderr)
            assert len(codes) < 4 * kills + 4, stderr.read_text()
        for batch in server.batches.values():  # also those that no job knows of, if there were any
            server.complete(batch)
        assert server.billed == dict.fromkeys(ids, 1)
    store = Store(folder / "store")
    assert store.read(ids)["text"].tolist() == ["4"] * requests
    assert "expired" in faults or store.spent()["calls"] == requests
    records = Records(folder / "store/batches")
    records.prune(store)  # as the next job does that asks anything
    assert records.all() == []
    return len(codes)


@pytest.mark.slow
@pytest.mark.parametrize("faults", [[], *([name] for name in FAULTS), [*FAULTS]], ids=lambda faults: "+".join(faults))
def test_of_400_requests_each_is_billed_once_in_20_kills(tmp_path, faults):
    jobs = kill_jobs(tmp_path, faults, requests=400, kills=20, seed=1)
    print(f"{'+'.join(faults) or 'no fault'}: 20 kills, {jobs} jobs, 400 requests billed once, 400 answers")


@pytest.mark.parametrize(
    ("faults", "seed"), [(["late_name", "cut_file", "no_metadata"], 2), (["another_model", "no_list"], 3)]
)
def test_of_40_requests_each_is_billed_once_in_4_kills(tmp_path, faults, seed):
    kill_jobs(tmp_path, faults, requests=40, kills=4, seed=seed)


def nothing(call):
    """Do nothing at a call."""
