"""A study by a judge that is asked in batches, from its config to its scores, over a server of the Batch API."""

import json

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
