"""A judge behind vLLM's own server, for the time of the job, against the same judge in the job's process."""

import copy
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from endpoint import Reply, completion, running
from factories import changed, complete_judge, demo_config

from rubric_order.settings.judges import Judge

from .conftest import ONE_TABLE, ONE_TASK, ROOT, Project

OFFLINE, SERVED = "smollm2_135m", "served"


@pytest.fixture(scope="module")
def config() -> dict:
    """The run by the demo's judge with a second judge: the first one behind a server."""
    judge = demo_config()["judges"][OFFLINE]
    judges = {SERVED: judge | {"engine": "openai", "serve": {}}}
    study = ONE_TASK["studies"]["position_bias"] | {"judges": [OFFLINE, SERVED]}
    return copy.deepcopy(ONE_TASK) | {"judges": judges, "studies": {"position_bias": study}}


@pytest.fixture(scope="module")
def both(judged: Project, config: dict, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run by both judges up to one table."""
    project = judged.copied_to(tmp_path_factory.mktemp("served") / "project")
    run = project.snakemake(ONE_TABLE, config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    return project


def table(project: Project, kind: str, judge: str) -> pd.DataFrame:
    paths = {
        "requests": f"results/requests/position_bias/{judge}.parquet",
        "responses": f"results/responses/{judge}/1.parquet",
        "scores": f"results/scores/position_bias/demo/{judge}.parquet",
    }
    return pd.read_parquet(project.file(paths[kind]))


@pytest.mark.slow
def test_the_requests_are_the_same_but_for_their_names(both: Project):
    offline, served = (table(both, "requests", judge) for judge in (OFFLINE, SERVED))
    assert len(offline) >= 40
    assert not set(offline["request_id"]) & set(served["request_id"])
    pd.testing.assert_frame_equal(offline.drop(columns="request_id"), served.drop(columns="request_id"))


@pytest.mark.slow
def test_the_responses_have_one_schema_and_the_prompts_are_the_same_tokens(both: Project):
    offline, served = (table(both, "responses", judge) for judge in (OFFLINE, SERVED))
    assert offline.columns.tolist() == served.columns.tolist()
    assert served["error"].isna().all()
    assert offline["prompt_tokens"].tolist() == served["prompt_tokens"].tolist()
    assert (served["model"] == "SmolLM2-135M-Instruct").all()
    described = json.loads(served["engine"][0])
    assert (described["engine"], described["server"]) == ("openai", "vllm")
    weights = {json.loads(text)["weights"] for text in [*offline["engine"], *served["engine"]]}
    assert len(weights) == 1


def agreement(project: Project) -> dict[str, float]:
    """Agreement of the scores of two judges, over all reads."""
    keys = ["item_id", "strategy", "read_index"]
    reads = table(project, "scores", OFFLINE).merge(table(project, "scores", SERVED), on=keys, suffixes=("", "_served"))
    differences = (reads["expected_score"] - reads["expected_score_served"]).abs()
    offline, served = (np.array(reads[f"position_probabilities{end}"].tolist()) for end in ("", "_served"))
    return {
        "reads": len(reads),
        "same_score": float((reads["score"] == reads["score_served"]).mean()),
        "mean_difference_of_expected_score": float(differences.mean()),
        "largest_difference_of_expected_score": float(differences.max()),
        "largest_difference_of_a_probability": float(np.abs(offline - served).max()),
        "largest_difference_of_option_mass": float((reads["option_mass"] - reads["option_mass_served"]).abs().max()),
    }


@pytest.mark.slow
def test_the_scores_agree_but_for_rounding(both: Project, record_property: Callable[[str, object], None]):
    found = agreement(both)
    for name, value in found.items():
        record_property(name, value)
    assert found["reads"] >= 40
    # In batches of another make-up.
    assert found["same_score"] >= 0.95
    assert found["mean_difference_of_expected_score"] < 0.05
    assert found["largest_difference_of_a_probability"] < 0.1


@pytest.mark.slow
def test_the_server_ends_with_its_job(both: Project):
    log = both.file(f"results/logs/judge_shard/{SERVED}/1.log").read_text()
    assert "engine ready" in log
    assert "Traceback" not in log
    assert [words for words in map(_command, Path("/proc").glob("[0-9]*")) if str(both.folder) in words] == []


def _command(path: Path) -> str:
    """A process: its command line, and the folder in which it runs."""
    try:
        return f"{path.joinpath('cwd').resolve()} {path.joinpath('cmdline').read_bytes()}"
    except OSError:
        return ""


@pytest.mark.slow
def test_how_the_endpoint_is_asked_makes_nothing_out_of_date(both: Project, config: dict):
    assert both.planned(ONE_TABLE, config=config) == []
    changed = copy.deepcopy(config)
    changed["judges"][SERVED] |= {
        "concurrency": 3,
        "timeout": 60,
        "max_attempts": 2,
        "requests_per_minute": 1000,
        "budget": {"calls": 5},
        "extra_headers": {"X-Tenant": "$TENANT"},
    }
    assert both.planned(ONE_TABLE, config=changed) == []


def test_the_example_of_the_documentation_can_be_planned(fresh: Project):
    planned = fresh.planned("--configfile", "config/examples/endpoint.yaml")
    assert planned.count("judge_shard") == 1
    assert "convert_gguf" not in planned


KEY = "sk-workflow-0123456789"


@pytest.mark.slow
def test_a_study_over_an_endpoint_from_its_data_to_a_table(fresh: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with running(lambda call: Reply(completion(f"Fine. [RESULT] {len(call.prompt) % 5 + 1}"))) as endpoint:
        judge = {"engine": "openai", "model": "a-model", "base_url": endpoint.base_url, "api_key_env": "MY_KEY"}
        judge |= {"extra_headers": {"X-Tenant": "it's $MY_KEY"}, "extra_body": {"user": 'a "quoted" $MY_KEY'}}
        study = ONE_TASK["studies"]["position_bias"] | {"judges": ["mine"]}
        config = copy.deepcopy(ONE_TASK) | {"judges": {"mine": judge}, "studies": {"position_bias": study}}
        run = fresh.snakemake(ONE_TABLE, config=config)
        assert run.returncode == 0, run.stdout + run.stderr
        calls = list(endpoint.calls)
        monkeypatch.delenv("MY_KEY")
        assert fresh.planned(ONE_TABLE, config=config) == []
        moved = copy.deepcopy(config)
        moved["datasets"]["demo"]["limit"] = 2
        failed = fresh.snakemake("results/responses/mine/1.parquet", config=moved)
    requests = pd.read_parquet(fresh.file("results/requests/position_bias/mine.parquet"))
    assert {call.headers["authorization"] for call in calls} == {f"Bearer {KEY}"}
    assert {call.headers["x-tenant"] for call in calls} == {f"it's {KEY}"}
    assert {call.body["user"] for call in calls} == {'a "quoted" $MY_KEY'}
    assert len(calls) >= 40
    assert len(endpoint.calls) == len(calls)
    assert failed.returncode != 0
    assert "error: judge: api_key_env: the environment has no variable MY_KEY" in failed.stderr
    assert len(requests) > len(calls)
    scores = pd.read_parquet(fresh.file("results/scores/position_bias/demo/mine.parquet"))
    assert scores["score"].notna().all()
    assert KEY not in run.stdout + run.stderr + failed.stdout + failed.stderr
    for path in fresh.folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


START = """
import json, sys, time
sys.path[:0] = sys.argv[1:2]
from rubric_order.judging import engines
from rubric_order.settings import judges
engine = engines.load(judges.read(json.loads(sys.argv[2])), engines.Resources(model_folder=sys.argv[3]))
print("ready", engine.server.process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def served_judge() -> Judge:
    arguments = {"enforce_eager": True, "max_num_seqs": 4, "max_model_len": 512}
    own = {"dtype": "float32", "engine_args": arguments, "model": "SmolLM2"}
    return complete_judge(engine="openai", serve={}, **own)


@pytest.mark.slow
def test_a_killed_job_leaves_no_server(judged: Project, served_judge: Judge):
    command = [sys.executable, "-c", START, ROOT / "workflow/scripts", json.dumps(served_judge.block())]
    model = judged.file("results/models/smollm2_135m_instruct_float32")
    with subprocess.Popen([*command, model], stdout=subprocess.PIPE, text=True, cwd=judged.folder) as job:
        word, server = job.stdout.readline().split()
        assert word == "ready"
        group = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _group(path) == int(server)]
        assert int(server) in group
        assert len(group) >= 2  # the server, and what runs the model
        environment = Path(f"/proc/{server}/environ").read_bytes()
        key = next(part for part in environment.split(b"\0") if part.startswith(b"VLLM_API_KEY=")).partition(b"=")[2]
        assert len(key) > 30
        shown = b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in [job.pid, *group])
        assert key not in shown
        os.kill(job.pid, signal.SIGKILL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and any(_group(Path(f"/proc/{pid}")) == int(server) for pid in group):
        time.sleep(0.5)
    assert [pid for pid in group if _group(Path(f"/proc/{pid}")) == int(server)] == []


def _group(path: Path) -> int | None:
    """The process group of a process that runs."""
    try:
        state, _, group = path.joinpath("stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return None
    return None if state == "Z" else int(group)


@pytest.mark.slow
def test_a_server_that_cannot_start_is_one_error(judged: Project, served_judge: Judge):
    served_judge = changed(served_judge, serve={"arguments": {"no_such_option": 1}})
    command = [sys.executable, "-c", START, ROOT / "workflow/scripts", json.dumps(served_judge.block()), "nowhere"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=judged.folder, check=False)
    last = run.stderr.strip().splitlines()[-1]
    assert "InputError: judge: serve: vLLM's server ended with status 2: " in last
    assert "unrecognized arguments: --no-such-option" in last


@pytest.mark.slow
def test_an_engine_argument_that_vllm_lacks_is_one_clear_error(judged: Project):
    judge = complete_judge(dtype="float32", model="SmolLM2", engine_args={"enforce_eagerly": True})
    command = [sys.executable, "-c", START, ROOT / "workflow/scripts", json.dumps(judge.block())]
    model = judged.file("results/models/smollm2_135m_instruct_float32")
    run = subprocess.run([*command, model], capture_output=True, text=True, cwd=judged.folder, check=False)
    last = run.stderr.strip().splitlines()[-1]
    assert "InputError: judge: engine_args: vLLM has no argument 'enforce_eagerly'; expected enforce_eager" in last
