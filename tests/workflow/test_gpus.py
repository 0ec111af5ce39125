"""Judge jobs on a workstation with pretend devices: which job gets which, also where a job or Snakemake is killed."""

import contextlib
import json
import os
import re
import signal
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from .conftest import Project

JUDGE = {
    "engine": "simulated",
    "answer_format": "score",
    "sampling": {"temperature": 1},
    "simulation": {"preference": "first"},
}
RESPONSES = "results/responses"


def study(seconds_per_request: float, **judges: dict) -> dict:
    """Config of ten items in ten orderings each, for judges of so many GPUs and shards."""
    simulation = JUDGE["simulation"] | {"seconds_per_request": seconds_per_request}
    return {
        "datasets": {"sim": {"adapter": "simulated", "options": {"n_groups": 5, "n_candidates": 2}}},
        "judges": {name: JUDGE | {"model": name, "simulation": simulation} | own for name, own in judges.items()},
        "studies": {"position_bias": {"datasets": ["sim"], "judges": list(judges), "strategies": ["balanced"]}},
        "figures": {"position_selection": {}},
        "tables": {"position_selection": {}},
    }


@pytest.fixture
def workstation(fresh: Project, tmp_path: Path):
    """Start Snakemake on the responses of a study, where there are two pretend devices."""
    environment = {"RUBRIC_ORDER_DEVICES": "0,1", "RUBRIC_ORDER_LOCK_DIR": str(tmp_path / "locks")}
    started = []

    def start(config: dict, *arguments: str):
        files = [
            f"{RESPONSES}/{name}/{shard}.parquet"
            for name, judge in config["judges"].items()
            for shard in range(1, judge.get("shards", 1) + 1)
        ]
        arguments = (*files, *arguments)  # an option that takes several values would take files too
        started.append(fresh.start(*arguments, config=config, alone=True, cores=8, environment=environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
    for lock in fresh.file(RESPONSES).rglob("*.lock"):  # their jobs go on
        with contextlib.suppress(ProcessLookupError):
            os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)


def finish(process) -> str:
    """Output of Snakemake, once it has ended well."""
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stdout + stderr
    return stdout + stderr


def log_of(project: Project, judge: str, shard: int) -> str:
    try:
        return project.file(f"results/logs/judge_shard/{judge}/{shard}.log").read_text()
    except FileNotFoundError:  # Snakemake removes the log of a job that it starts again
        return ""


def use_of_devices(project: Project) -> list[tuple[str, datetime, datetime]]:
    """Device, begin and end of every use that a log tells of."""
    uses = []
    for log in project.file("results/logs/judge_shard").rglob("*.log"):
        text = log.read_text()
        found = [re.search(rf"^(\S+) {word} GPU (.+)$", text, re.MULTILINE) for word in ("claimed", "released")]
        begin, end = (datetime.strptime(match[1], "%H:%M:%S") for match in found)
        uses += [(device, begin, end) for device in found[0][2].split(", ")]
    return uses


def most_at_once(uses: list[tuple[str, datetime, datetime]]) -> int:
    return max(sum(begin <= moment < end for _, begin, end in uses) for _, moment, _ in uses)


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit", [pytest.param(["--resources", "gpu=2"], id="limited"), pytest.param([], id="unlimited")]
)
def test_two_devices_are_never_used_by_more_than_two_jobs(fresh: Project, workstation, limit: list[str]):
    """Snakemake counts the devices, or each job waits by itself; a judge of two GPUs gets both."""
    config = study(0.05, one={"gpu": 1, "shards": 5}, two={"gpu": 2})
    finish(workstation(config, *limit))
    uses = use_of_devices(fresh)
    assert len(uses) == 5 + 2
    assert {device for device, _, _ in uses} == {"0", "1"}
    assert most_at_once(uses) == 2
    for device in ("0", "1"):
        assert most_at_once([use for use in uses if use[0] == device]) == 1
    waited = [shard for shard in range(1, 6) if "waiting for 1 of GPU 0, 1: 0 free" in log_of(fresh, "one", shard)]
    assert bool(waited) == (limit == [])
    assert list(fresh.file(f"{RESPONSES}/one").glob(".*")) == []


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(2400):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never happened")


def stopped_writers(project: Project, judge: str, shards: list[int]) -> list[int]:
    """Processes that answer some shards, each stopped as soon as it asks."""
    writers = {}

    def all_stopped() -> bool:
        for shard in set(shards) - set(writers):
            if "engine ready" in log_of(project, judge, shard):
                lock = project.file(f"{RESPONSES}/{judge}/.{shard}.parquet.lock")
                writers[shard] = json.loads(lock.read_text())["pid"]
                os.kill(writers[shard], signal.SIGSTOP)
        return len(writers) == len(shards)

    wait_until(all_stopped)
    return [writers[shard] for shard in shards]


@pytest.mark.slow
def test_a_killed_jobs_device_is_taken_over(fresh: Project, workstation):
    config = study(0.1, one={"gpu": 1})
    process = workstation(config, "--resources", "gpu=2")
    os.kill(*stopped_writers(fresh, "one", [1]), signal.SIGKILL)
    process.communicate()
    assert process.returncode == 1
    finish(workstation(config, "--resources", "gpu=2"))
    log = log_of(fresh, "one", 1)
    assert "claimed GPU 0" in log
    assert "waiting" not in log
    assert len(pd.read_parquet(fresh.file(f"{RESPONSES}/one/1.parquet"))) == 100


@pytest.mark.slow
def test_jobs_of_a_snakemake_that_was_killed_are_not_done_twice(fresh: Project, workstation):
    """Its jobs go on. The next run starts the same jobs, which wait for them and then ask nothing."""
    config = study(0.1, one={"gpu": 1, "shards": 2})
    process = workstation(config, "--resources", "gpu=2")
    writers = stopped_writers(fresh, "one", [1, 2])  # the next run comes while they are at work
    process.kill()
    process.wait()
    assert fresh.snakemake("--unlock", config=config, alone=True).returncode == 0
    rerun = workstation(config, "--resources", "gpu=2", "--rerun-incomplete")
    for shard, writer in zip((1, 2), writers, strict=True):
        wait_until(lambda: f"waiting for process {writer} on " in log_of(fresh, "one", shard))  # noqa: B023
        os.kill(writer, signal.SIGCONT)
    finish(rerun)
    for shard in (1, 2):
        assert "50 requests: 50 answered before, 0 to judge" in log_of(fresh, "one", shard)
    stored = pd.concat(map(pd.read_parquet, fresh.file("results/store/one").glob("*.parquet")))
    assert len(stored) == stored["request_id"].nunique() == 100
