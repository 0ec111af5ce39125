"""A study by a judge that is asked in batches, from its config to its scores, over a server of the Batch API."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from batch_server import serving
from typer.testing import CliRunner

from rubric_order.commands.app import app

from .conftest import Project

REQUESTS = "results/requests/position_bias/mine.parquet"
SCORES = "results/scores/position_bias/sim/mine.parquet"
STATUS = "results/status/judge_status.csv"
BATCHES = "results/status/open_batches.csv"


def hold(batch):
    """The server has begun with the batch, and answers nothing yet."""
    batch.status = "in_progress"


def config_of(base_url: str) -> dict:
    batch = {"wait": "0s", "poll": "0s", "requests": 15}
    judge = {"engine": "openai", "base_url": base_url, "model": "a-model", "answer_format": "feedback", "batch": batch}
    simulated = {"adapter": "simulated", "options": {"n_groups": 2, "n_candidates": 1}}
    study = {"datasets": ["sim"], "judges": ["mine"], "strategies": ["balanced"]}
    return {"datasets": {"sim": simulated}, "judges": {"mine": judge}, "studies": {"position_bias": study}}


def said_by_the_program(project: Project) -> dict:
    """Row of all studies that ``rubric-order status --json`` prints."""
    arguments = ["status", str(project.file("extra.yaml")), "--project", str(project.folder), "--json"]
    said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 0, said.exception
    return json.loads(said.output)[-1]


@pytest.mark.slow
def test_one_run_sends_batches_and_a_later_one_makes_scores_of_them(fresh: Project):
    with serving() as (server, endpoint):
        config = config_of(endpoint.base_url)
        server.at_each_look = hold
        first = fresh.snakemake(SCORES, config=config, alone=True)
        assert first.returncode != 0
        assert "judge: 20 requests are under way in 2 batches (batch_0: in_progress, 0 of 15 done" in first.stderr
        assert not fresh.file(SCORES).exists()

        calls = len(endpoint.calls)
        shown = fresh.snakemake("judge_status", "--quiet", "all", config=config, alone=True)
        assert shown.returncode == 0, shown.stderr
        assert [line.split("|")[2:6] for line in shown.stdout.splitlines() if "batch_" in line] == [
            [" batch_0      ", " in_progress          ", " 0          ", " 15         "],
            [" batch_1      ", " in_progress          ", " 0          ", " 5          "],
        ]
        status = pd.read_csv(fresh.file(STATUS)).set_index("study")
        assert status.loc["all", ["missing", "open_batches", "in_batches"]].tolist() == [20, 2, 20]
        of_all = said_by_the_program(fresh)
        assert of_all["open_batches"] == 2
        assert [entry["batch"] for entry in of_all["batches"]] == ["batch_0", "batch_1"]
        assert [entry["requests"] for entry in of_all["batches"]] == [15, 5]
        assert all(0 <= entry["age_hours"] < 1 for entry in of_all["batches"])
        assert len(endpoint.calls) == calls  # the status asks no endpoint

        server.at_each_look = server.complete
        second = fresh.snakemake(SCORES, config=config, alone=True)
        assert second.returncode == 0, second.stdout + second.stderr
        names = pd.read_parquet(fresh.file(REQUESTS))["request_id"]
        assert server.billed == dict.fromkeys(names, 1)
        assert len(server.batches) == 2
    scores = pd.read_parquet(fresh.file(SCORES))
    assert len(scores) == 20
    assert (scores["score"] == 4).all()
    of_all = said_by_the_program(fresh)
    assert [of_all[name] for name in ("done", "open_batches", "in_batches", "batches")] == [20, 0, 0, []]
    assert pd.read_csv(fresh.file(BATCHES)).empty


def batch(project: Project, command: str, *words: str) -> str:
    """What ``rubric-order batch`` prints."""
    common = ["--config", str(project.file("extra.yaml")), "--project", str(project.folder)]
    done = CliRunner().invoke(app, ["batch", command, str(project.file(REQUESTS)), *words, *common])
    assert done.exit_code == 0, done.exception
    return done.output.strip()


@pytest.mark.slow
def test_requests_are_answered_by_vllm_run_batch_between_export_and_import(fresh: Project, converted: Path):
    config = config_of("http://127.0.0.1:9/v1")  # nobody listens there
    judge = {"model": "smollm2", "answer_format": "score", "sampling": {"temperature": 0, "max_tokens": 8}}
    config["judges"]["mine"] = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1"} | judge
    config["datasets"]["sim"]["options"]["n_groups"] = 1
    planned = fresh.snakemake(REQUESTS, config=config, alone=True)
    assert planned.returncode == 0, planned.stdout + planned.stderr
    asked, done = str(fresh.file("open.jsonl")), str(fresh.file("done.jsonl"))
    assert batch(fresh, "export", "-o", asked).startswith("10 requests are written")
    command = [sys.executable, "-m", "vllm.entrypoints.openai.run_batch", "-i", asked, "-o", done]
    command += ["--model", str(converted), "--served-model-name", "smollm2"]
    options = ["--dtype", "float32", "--max-model-len", "2048", "--max-num-seqs", "16", "--enforce-eager"]
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    run = subprocess.run([*command, *options], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    assert batch(fresh, "import", done) == "10 answered"
    assert batch(fresh, "export", "-o", asked).startswith("0 requests are written")
    judged = fresh.snakemake(SCORES, config=config, alone=True)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    lines = {line["custom_id"]: line for line in map(json.loads, Path(done).read_text().splitlines())}
    responses = pd.read_parquet(fresh.file("results/responses/mine/1.parquet")).set_index("request_id")
    assert len(responses) == 10
    assert responses["error"].isna().all()
    for name, line in lines.items():
        message = line["response"]["body"]["choices"][0]["message"]
        assert responses.loc[name, "text"] == message["content"]
    scores = pd.read_parquet(fresh.file(SCORES))
    assert len(scores) == 10
    assert scores["score"].notna().sum() + scores["failure"].notna().sum() == 10
    assert scores["expected_score"].notna().any()
