"""The example of decision models, from its data to its tables, with a server of ours at the address that it names."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from decision_model import DecisionModel
from endpoint import Call, Reply, running

from .conftest import Project, of_tasks

ARMS = ("rubric", "named", "yes_or_no")
KEY = "sk-decisions-0123456789"


class ByPlace(DecisionModel):
    """A model that looks at nothing but places, so that any rubric will do."""

    def answer(self, body: dict, dialect: str) -> dict:
        for question in body["questions"]:
            for place, option in enumerate(question.get("levels") or question.get("choices") or ()):
                option["label" if "levels" in question else "description"] = f"It is {WORDS[place]}."
            if question["type"] == "predicate":
                question["instructions"] = f"It is {WORDS[body['questions'].index(question) % len(WORDS)]}."
        return super().answer(body, dialect)


WORDS = ("terrible", "poor", "fair", "good", "great")


def test_the_example_can_be_planned_without_a_key(fresh: Project):
    planned = fresh.planned("--configfile", "config/examples/decisions.yaml")
    assert planned.count("judge_shard") == len(ARMS)
    assert "convert_gguf" not in planned


@pytest.mark.slow
def test_the_example_runs_to_its_tables(fresh: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = ByPlace(preference=(1.0, 0.5, 0.0, -0.5, -1.0), opinion=0.0, version="gpt-6-luna-2026-10-06")

    def reply(call: Call) -> Reply:
        return model(call)

    with running(reply) as endpoint:
        config = yaml.safe_load(fresh.file("config/examples/decisions.yaml").read_text(encoding="utf-8"))
        config["datasets"] = of_tasks(2)
        config["studies"]["position_bias"]["conditions"] = ["baseline", "together"]
        config["tables"] |= {name: {"study": "position_bias"} for name in ("score_shifts", "paired_reads")}
        for name in ARMS:
            config["judges"][name]["base_url"] = endpoint.base_url
        run = fresh.snakemake("results/summary.html", "results/methods.md", "all", *fresh.own(config))
        assert run.returncode == 0, run.stdout + run.stderr
        calls = list(endpoint.calls)
    requests = {name: pd.read_parquet(fresh.file(f"results/requests/position_bias/{name}.parquet")) for name in ARMS}
    assert len(calls) == sum(map(len, requests.values()))
    assert {name: len(table) for name, table in requests.items()} == dict.fromkeys(ARMS, 8 * 10 + 8)
    assert {call.headers["authorization"] for call in calls} == {f"Bearer {KEY}"}
    for name in ARMS:
        scores = pd.read_parquet(fresh.file(f"results/scores/position_bias/demo/{name}.parquet"))
        assert (scores["position"] == 1).all()
        assert scores["failure"].isna().all()
        weights = np.exp(model.preference) / np.exp(model.preference).sum()
        assert np.stack(scores["position_probabilities"]) == pytest.approx(np.tile(weights, (len(scores), 1)))
    worth = pd.read_csv(fresh.file("results/tables/position_preference.csv"))
    assert set(worth["judge"]) == {*ARMS}
    shifts = pd.read_csv(fresh.file("results/tables/score_shifts.csv"))
    assert set(shifts["kind"]) == {"together"}
    assert shifts["mean_shift_estimate"].tolist() == pytest.approx([0.0] * len(shifts))
    pairs = pd.read_csv(fresh.file("results/tables/paired_reads.csv"))
    assert pairs["n_differ"].tolist() == [0] * len(pairs)
    assert set(pairs["n_pairs"]) == {80}
    cards = json.loads(fresh.file("results/summary.json").read_text(encoding="utf-8"))["cards"]
    assert [card["verdict"] for card in cards] == ["cannot tell"] * 2 * len(ARMS)  # of eight groups nothing is said
    methods = fresh.file("results/methods.md").read_text(encoding="utf-8")
    assert "a decision model, was asked by questions of type predicate over an endpoint (dialect decisions)" in methods
    for path in fresh.folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    assert fresh.planned("all", *fresh.own(config)) == []
