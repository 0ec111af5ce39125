"""The SLURM profile on a real SLURM: what is submitted, which GPUs jobs get, and what becomes of killed jobs."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from .conftest import ROOT, Cluster, Study, output, wait_until


def finish(study: Study, process: subprocess.Popen) -> None:
    process.wait(timeout=1200)
    assert process.returncode == 0, study.printed[-5000:]


def stored(study: Study, judge: str) -> pd.DataFrame:
    return pd.concat(map(pd.read_parquet, (study.folder / f"results/store/{judge}").glob("*.parquet")))


@pytest.fixture(scope="module", autouse=True)
def limited(early_study):
    """A judge whose job cannot end within its time limit; it runs beside the other tests."""
    study = early_study(12, {"limited": {"seconds_per_request": 0.8, "runtime": "1m"}})
    study.prepare()
    return study, study.submit(*study.responses(), arguments=("--retries", "8"))  # as often as a busy machine takes


def test_a_study_runs_through_the_profile_with_a_job_array(study, cluster: Cluster):
    """Six judge jobs on the GPUs that are left, from the items to the scores of two studies, which share the jobs."""
    study = study(12, {"sharded": {"seconds_per_request": 0.25, "shards": 6}}, scales=(5, 3))
    scores = [f"results/scores/{name}/sim/sharded.parquet" for name in study.studies]
    finish(study, study.submit(*scores, arguments=("--slurm-array-jobs", "judge_shard")))
    assert re.search(r"Submitted array job .* The individual task IDs are 1-6\.", study.printed)
    for shard in range(1, 7):
        log = study.log("sharded", shard)
        assert (
            "32 requests: 0 answered before, 32 to judge" in log
        )  # two items: ten orderings of five levels, six of three
        assert log.count("engine ready") == 1
        assert re.search(r"claimed GPU [0-3]$", log, re.MULTILINE)
    assert study.starts() == 6
    for path, reads in zip(scores, (120, 72), strict=True):
        table = pd.read_parquet(study.folder / path)
        assert len(table) == reads
        assert table["score"].notna().all()


def test_a_task_of_an_array_that_is_cancelled_is_submitted_again_and_the_others_are_left_alone(study):
    study = study(6, {"slow": {"seconds_per_request": 1, "shards": 2}, "fast": {"seconds_per_request": 0, "shards": 2}})
    study.prepare()
    process = study.submit(*study.responses(), arguments=("--slurm-array-jobs", "judge_shard"))
    (writer,) = study.writers("slow", [1])
    assert "The individual task IDs are 1-4." in study.printed
    asked = re.compile(r"asked ([2-9]|1\d) / 30 requests")  # the progress line after the one of the first answer
    wait_until(lambda: asked.search(study.log("slow", 1)), "some are answered")
    before = int(asked.search(study.log("slow", 1))[1])
    output("scancel", writer["slurm_job"])
    finish(study, process)
    assert "SLURM status is: 'CANCELLED'" in study.printed
    assert study.printed.count("Trying to restart job") == 1
    again = re.search(r"30 requests: (\d+) answered before, (\d+) to judge", study.log("slow", 1))
    assert before <= int(again[1]) < 30  # what it had when it was told to end
    assert len(stored(study, "slow")) == 60
    assert study.starts() == 4 + 1  # the cancelled task's second run


@pytest.mark.parametrize("shards", [2, 3])
def test_jobs_go_on_when_snakemake_is_killed_and_the_next_run_waits_for_them(study, cluster: Cluster, shards):
    """The next run submits jobs for the same outputs: they wait for those that go on, and then ask nothing.

    With another number of shards it has a third job, which waits for none of the two: what it asks is done twice.
    """
    study = study(6, {"orphaned": {"seconds_per_request": 0.2, "shards": 2, "gpu": 0}})
    study.prepare()
    process = study.submit(*study.responses())
    writers = study.writers("orphaned", [1, 2], stop=True)  # the next run comes while they are at work
    process.kill()
    process.wait()
    time.sleep(2)
    assert {writer["slurm_job"] for writer in writers} <= set(cluster.running())
    study.run_here("--unlock")
    study.change("orphaned", shards=shards)
    process = study.submit(*study.responses())
    for shard, writer in zip((1, 2), writers, strict=True):
        waiting = f"waiting for SLURM job {writer['slurm_job']}, process {writer['pid']} on "
        wait_until(lambda: waiting in study.log("orphaned", shard), waiting)  # noqa: B023
    if shards == 3:
        wait_until(lambda: "20 requests: 0 answered before, 20 to judge" in study.log("orphaned", 3), "3 begins")
    for writer in writers:
        os.kill(writer["pid"], signal.SIGCONT)
    finish(study, process)
    each = 60 // shards
    for shard in (1, 2):
        assert f"{each} requests: {each} answered before, 0 to judge" in study.log("orphaned", shard)
    assert study.starts() == shards  # those of the first run, and the third job
    answers = stored(study, "orphaned")
    assert len(answers) == answers["request_id"].nunique() == 60


def test_a_lock_that_does_not_reach_this_node_is_checked_with_slurm(cluster: Cluster, tmp_path):
    """A job of another node holds the lock, and this node's file system does not know of it."""
    job = output("sbatch", "--parsable", "--output=/dev/null", "--wrap", "sleep 600").strip()
    wait_until(lambda: job in cluster.running(), "the job runs")
    holder = {"host": "other-node", "pid_namespace": 1, "pid": 1, "started": 1, "slurm_job": job}
    (tmp_path / ".1.parquet.lock").write_text(json.dumps(holder))
    code = f"""
from pathlib import Path
from rubric_order.base import locks
with locks.only_writer(Path({str(tmp_path / "1.parquet")!r})):
    print("writing")
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow/scripts")}
    waiting = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment)
    time.sleep(4)
    assert waiting.poll() is None
    output("scancel", job)
    assert waiting.communicate(timeout=60)[0] == b"writing\n"


def test_a_job_goes_on_after_its_time_limit(limited):
    """SLURM ends it, Snakemake submits it again, and it asks only what has no answer yet."""
    study, process = limited
    finish(study, process)
    assert "SLURM status is: 'TIMEOUT'" in study.printed
    last = re.search(r"120 requests: (\d+) answered before, (\d+) to judge", study.log("limited", 1))
    assert int(last[1]) >= 40
    answers = stored(study, "limited")
    assert len(answers) == answers["request_id"].nunique() == 120
    assert study.starts() <= 1 + study.printed.count("Trying to restart job")


def test_never_more_than_four_gpu_jobs_at_once_each_with_a_device_of_its_own(cluster: Cluster):
    """As SLURM said while the tests above ran."""
    if len(cluster.samples) < 100:
        pytest.skip("the tests above did not run")
    used = [[device for devices in sample.values() for device in devices] for sample in cluster.samples]
    assert max(map(len, used)) == 4
    assert all(len(set(devices)) == len(devices) for devices in used)
    assert {device for devices in used for device in devices} == {"0", "1", "2", "3"}
