"""Decision models that nobody here wrote: a server and a readout from public packages, with SmolLM2."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from installed import installed

from .conftest import ROOT, Project

LABELS = {"true": " yes", "false": " no"} | {str(k): str(k) for k in range(10)}
TEMPLATE = (
    "<|im_start|>user\n{state}\n\n{instructions}\n{criteria}\nAnswer with the number alone.<|im_end|>\n"
    "<|im_start|>assistant\n"
)
ARMS = ("score", "choice")


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the packages of requirements/decisions.lock, made by the first worker that needs it."""
    return installed(tmp_path_factory, "decisions")


@pytest.fixture
def server(packages: Path, converted: Path, tmp_path: Path) -> Iterator[str]:
    """Address of the package's server with SmolLM2, which runs until the test has ended."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(converted)
    tokens = {name: tokenizer.encode(text, add_special_tokens=False)[-1] for name, text in LABELS.items()}
    tokens |= {f"Score {k}": tokens[str(k)] for k in range(1, 6)}
    about = {"model": "smollm2", "decision.prompt_template": TEMPLATE, "decision.tokens": tokens}
    (tmp_path / "decision.json").write_text(json.dumps(about))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "PYTHONPATH": str(packages),
        "DECISION_BACKEND": "transformers",
        "DECISION_MODEL_ID": str(converted),
        "DECISION_CONFIG": str(tmp_path / "decision.json"),
        "DECISION_MAX_BATCH_SIZE": "1",  # several prompts are padded on the right, and the last token is then a pad
    }
    command = [sys.executable, "-m", "uvicorn", "jev_compatible_server.app:create_app", "--factory"]
    with (
        (tmp_path / "server.log").open("wb") as log,
        subprocess.Popen([*command, "--port", str(port)], env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            while not _answers(f"http://127.0.0.1:{port}/health"):
                assert process.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 200
    except httpx.TransportError:
        return False


def simulated(groups: int) -> dict:
    return {"adapter": "simulated", "options": {"n_groups": groups, "n_candidates": 1}}


@pytest.mark.slow
def test_a_study_of_a_real_local_server_from_its_config_to_its_cards(fresh: Project, server: str):
    common = {"engine": "decisions", "base_url": server, "model": "smollm2", "dialect": "systemone", "concurrency": 1}
    judges = {name: common | {"question": name} for name in ARMS}
    study = {"datasets": ["sim"], "judges": [*ARMS], "strategies": ["balanced"]}
    config = {"datasets": {"sim": simulated(6)}, "judges": judges, "studies": {"position_bias": study}}
    config |= {"statistics": {"bootstrap": {"resamples": 100}}, "tables": {"position_preference": {}}}
    run = fresh.snakemake(
        "results/summary.html", "results/tables/position_preference.csv", *fresh.own(config), alone=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    scores = {name: pd.read_parquet(fresh.file(f"results/scores/position_bias/sim/{name}.parquet")) for name in ARMS}
    shares = {name: np.stack(table["position_probabilities"]) for name, table in scores.items()}
    for name, table in scores.items():
        assert len(table) == 60
        assert table["failure"].isna().all()
        assert shares[name].sum(axis=1) == pytest.approx(np.ones(60))
        assert (table["position"] == shares[name].argmax(axis=1) + 1).all()
    # What the server said of one read, place by place: in `score` the number is the place.
    answers = pd.read_parquet(fresh.file("results/responses/score/1.parquet")).set_index("request_id")
    read = scores["score"].iloc[3]
    (answer,) = json.loads(answers.loc[read["request_id"], "text"])["answers"].values()
    said = [answer["probabilities"][str(place)] for place in range(5)]
    assert list(read["position_probabilities"]) == pytest.approx(said)
    assert read["ordering"][read["position"] - 1] == read["score"]
    # With its own numbers beside the places, one place is chosen nearly always; names that travel make it less.
    selected = {name: table["position"].value_counts(normalize=True).max() for name, table in scores.items()}
    assert selected["score"] > 0.8
    assert selected["choice"] < selected["score"]
    worth = pd.read_csv(fresh.file("results/tables/position_preference.csv"))
    worth = worth[(worth["dataset"] == "sim") & (worth["readout"] == "soft") & (worth["judge"] == "score")]
    assert ((worth["preference_low"] < worth["preference"]) & (worth["preference"] < worth["preference_high"])).all()
    cards = json.loads(fresh.file("results/summary.json").read_text(encoding="utf-8"))["cards"]
    assert {card["judge"]: card["n_reads"] for card in cards} == dict.fromkeys(ARMS, 60)
    assert {card["verdict"] for card in cards} == {"cannot tell"}  # of six groups nothing is said


@pytest.mark.slow
def test_the_readout_of_anyjev_is_a_judge_by_its_example(
    fresh: Project, packages: Path, converted: Path, monkeypatch: pytest.MonkeyPatch
):
    examples = ROOT / "config/examples/judges"
    judge = {"engine": "python", "function": "anyjev_judge:judge", "model": "smollm2", "version": "1"}
    study = {"datasets": ["sim"], "judges": ["anyjev"], "strategies": ["rotated"]}
    config = {"datasets": {"sim": simulated(5)}, "judges": {"anyjev": judge}, "studies": {"position_bias": study}}
    environment = {"PYTHONPATH": os.pathsep.join([str(packages), str(examples)]), "ANYJEV_MODEL": str(converted)}
    path = "results/scores/position_bias/sim/anyjev.parquet"
    run = fresh.snakemake(path, *fresh.own(config), alone=True, environment=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    scores = pd.read_parquet(fresh.file(path))
    assert len(scores) == 5
    assert scores["failure"].isna().all()
    shares = np.stack(scores["position_probabilities"])
    assert shares.sum(axis=1) == pytest.approx(np.ones(5))
    assert (scores["position"] == shares.argmax(axis=1) + 1).all()
    # The same question to the package itself, without this project.
    requests = pd.read_parquet(fresh.file("results/requests/position_bias/anyjev.parquet")).set_index("request_id")
    prompt = requests.loc[scores["request_id"].iloc[0], "prompt"]
    script = "import json, sys, anyjev_judge; print(json.dumps(anyjev_judge.judge(sys.stdin.read())))"
    alone = subprocess.run(
        [sys.executable, "-c", script],
        input=prompt,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=True,
    )
    expected = json.loads(alone.stdout.splitlines()[-1])
    by_place = [expected["probabilities"][str(score)] for score in scores["ordering"].iloc[0]]
    assert list(shares[0]) == pytest.approx(by_place, abs=1e-4)
