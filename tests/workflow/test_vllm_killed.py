"""A judge job of vLLM that is killed with SIGKILL and asked to go on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from factories import demo_config

from rubric_order.judging.store import Store
from rubric_order.run import loading

from .conftest import ROOT, Project

# The real job, but for smaller chunks: a small run then has some.
JOB = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from rubric_order.jobs.judge_shard import judge_shard
from rubric_order.base import command_line
from rubric_order.judging import shard
shard.CHUNK_REQUESTS = 4
command_line.run(judge_shard)
"""
# One prompt at a time and nothing from a cache: then an answer cannot depend on what was asked before it.
EXACT = {"max_num_seqs": 1, "enable_prefix_caching": False}
ASKED = 12  # requests, of those of the finished run


def requests_of(project: Project) -> pd.DataFrame:
    return pd.read_parquet(project.file("results/requests/position_bias/smollm2_135m.parquet")).head(ASKED)


def start_in(project: Project, folder: Path) -> subprocess.Popen:
    judge = loading.complete(demo_config(), folder=ROOT).block()["judges"]["smollm2_135m"]
    judge["engine_args"] |= EXACT
    options = {
        "requests": folder / "study/requests.parquet",  # the folder names the study
        "shard": 1,
        "shards": 1,
        "probes": "score_order",
        "judge": folder / "judge.json",
        "weights": None,
        "model-folder": project.file("results/models/smollm2_135m_instruct_float32"),
        "gpus": 0,
        "store": folder / "store",
        "output": folder / "responses.parquet",
    }
    command = [sys.executable, "-c", JOB, str(project.file("workflow/scripts"))]
    for name, value in options.items():
        command += [f"--{name}", *([] if value is None else [str(value)])]
    (folder / "study").mkdir(parents=True, exist_ok=True)
    requests_of(project).to_parquet(folder / "study/requests.parquet")
    (folder / "judge.json").write_text(json.dumps(judge))
    with (folder / "log").open("a") as log:
        return subprocess.Popen(command, stderr=log, stdout=log, start_new_session=True)


@pytest.fixture
def start(request: pytest.FixtureRequest):
    """Start a judge job in a folder; it is ended with the test at the latest."""

    def start_job(project: Project, folder: Path) -> subprocess.Popen:
        job = start_in(project, folder)
        request.addfinalizer(lambda: job.poll() is None and os.killpg(job.pid, signal.SIGKILL))
        return job

    return start_job


def kept(folder: Path) -> int:
    names = (path.name for path in (folder / "store").glob("*.parquet"))
    return sum(not name.startswith(".") for name in names)


@pytest.mark.slow
def test_a_killed_job_goes_on_where_it_was_and_ends_with_the_same_bytes(start, judged: Project, tmp_path: Path):
    whole = start(judged, tmp_path / "whole")
    assert whole.wait() == 0, (tmp_path / "whole/log").read_text()

    killed = start(judged, tmp_path / "killed")
    while kept(tmp_path / "killed") < 2:
        assert killed.poll() is None, (tmp_path / "killed/log").read_text()
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed/responses.parquet").exists()

    requests = requests_of(judged)
    before = len(Store(tmp_path / "killed/store").read(requests["request_id"], ["request_id"]))
    assert 3 <= before < len(requests)  # a chunk has 4, or what was answered within 20 s
    resumed = start(judged, tmp_path / "killed")
    log = (tmp_path / "killed/log").read_text
    assert resumed.wait() == 0, log()
    assert f"{len(requests)} requests: {before} answered before, {len(requests) - before} to judge" in log()
    assert (tmp_path / "killed/responses.parquet").read_bytes() == (tmp_path / "whole/responses.parquet").read_bytes()
