"""Decision models by software that nobody here wrote: a server of `/v1/systemone` and AnyJev, both with SmolLM2."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import psutil
import pytest
import yaml
from endpoint import Call, Endpoint, Reply, running
from installed import installed
from scipy import stats

from .conftest import ROOT, Project

DATA = ROOT / "tests/data/decision_server"
MODEL = "results/models/smollm2_135m_instruct_float32"
LEVELS = ["Rude.", "Cold.", "Correct.", "Friendly.", "Warm."]
N = len(LEVELS)
ORDERS = 2 * N
TEXTS, FEW = 3, 1  # of the study, and of the arms that take several questions per request
KILLED_AFTER = 12  # calls
AT_ONCE = 2  # calls under way, as the study has it


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the packages of requirements/decisions.lock, made by the first worker that needs it."""
    return installed(tmp_path_factory, "decisions")


@pytest.fixture
def model(judged: Project, tmp_path: Path) -> Path:
    """SmolLM2, padded on the left: the server reads the end of each line of a batch, also where that is padding."""
    folder = tmp_path / "model"
    folder.mkdir()
    for file in judged.file(MODEL).iterdir():
        (folder / file.name).symlink_to(file)
    settings = folder / "tokenizer_config.json"
    padded = json.loads(settings.read_text(encoding="utf-8")) | {"padding_side": "left"}
    settings.unlink()
    settings.write_text(json.dumps(padded), encoding="utf-8")
    return folder


@pytest.fixture
def server(packages: Path, model: Path, tmp_path: Path) -> Iterator[str]:
    """Address of `jev-compatible-server` with SmolLM2."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "PYTHONPATH": str(packages),
        "DECISION_BACKEND": "transformers",
        "DECISION_MODEL_ID": str(model),
        "DECISION_CONFIG": str(DATA / "smollm2.json"),
    }
    command = [sys.executable, "-m", "uvicorn", "jev_compatible_server.app:create_app", "--factory"]
    with (tmp_path / "server.log").open("w+") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port)], env=os.environ | settings, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://127.0.0.1:{port}"
            while not answers(address):
                assert process.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(0.1)
            yield f"{address}/v1"
        finally:
            process.terminate()
            process.wait()


def answers(address: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{address}/health").is_success
    return False


class Counting:
    """Hands calls on to a server one by one, and keeps them with their answers."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.kept: list[tuple[dict, dict]] = []

    def __call__(self, call: Call) -> Reply:
        reply = httpx.post(f"{self.address}/systemone", json=call.body, timeout=600)
        self.kept.append((call.body, reply.json()))
        return Reply(reply.json(), status=reply.status_code)


def config_of(judges: dict[str, dict], limit: int) -> dict:
    """The study of the documentation with other judges, of the first texts."""
    config = yaml.safe_load((DATA / "study.yaml").read_text(encoding="utf-8"))
    for file in config["datasets"]["replies"]["files"].values():
        file["path"] = str(ROOT / file["path"])
    config["datasets"]["replies"]["limit"] = limit
    config["judges"] = judges
    return config


def study_of(endpoint: Endpoint) -> dict:
    """The study of the documentation, with a study of its third question and one of all orderings in a request."""
    judge = yaml.safe_load((DATA / "study.yaml").read_text(encoding="utf-8"))["judges"]["rubric"]
    judge["base_url"] = endpoint.base_url
    questions = {"rubric": "score", "named": "choice", "by_level": "predicate"}
    config = config_of({name: judge | {"question": question} for name, question in questions.items()}, TEXTS)
    config["datasets"]["few"] = config["datasets"]["replies"] | {"limit": FEW}
    few = {"datasets": ["few"], "strategies": ["balanced"]}
    config["studies"]["together"] = few | {"judges": ["named"], "conditions": ["together"]}
    config["studies"]["by_level"] = few | {"judges": ["by_level"], "strategies": ["random"], "budget": 4}
    return config


def kill_a_judge(project: Project, process: psutil.Process, counting: Counting) -> None:
    """Kill the job of `rubric` in the middle of its calls."""
    while True:
        assert process.is_running(), "the run ended before a job was killed"
        if calls_of_rubric(counting) >= KILLED_AFTER and (job := job_of(process, "rubric")) is not None:
            job.send_signal(signal.SIGKILL)
            return
        time.sleep(0.02)


def job_of(process: psutil.Process, judge: str) -> psutil.Process | None:
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in process.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                words = child.cmdline()
                if len(words) > 1 and words[1].endswith("judge_shard.py") and f"results/store/{judge}" in words:
                    return child
    return None


def kind_of(body: dict) -> str:
    return next(iter(body["questions"].values()))["type"]


def calls_of_rubric(counting: Counting) -> int:
    return sum(kind_of(body) == "score" for body, _ in list(counting.kept))


def asked_one_by_one(counting: Counting, kind: str) -> Iterator[tuple[str, list[int], list[float]]]:
    """Text, number of the level at each place, and probability of each place, of the requests with one question."""
    for body, answer in counting.kept:
        if kind_of(body) == kind and len(body["questions"]) == 1:
            ((name, question),) = body["questions"].items()
            criteria = question["criteria"]
            texts = criteria if kind == "score" else criteria.values()
            shares = answer["answers"][name]["probabilities"]
            places = range(N) if kind == "score" else criteria
            yield body["state"], [LEVELS.index(text) + 1 for text in texts], [shares[str(place)] for place in places]


def interval(of_texts: np.ndarray) -> tuple[float, float, float]:
    """Mean over texts, and its 95% interval by Student's t."""
    half = stats.t.ppf(0.975, len(of_texts) - 1) * stats.sem(of_texts)
    return of_texts.mean(), of_texts.mean() - half, of_texts.mean() + half


@pytest.mark.slow
def test_a_foreign_server_is_asked_for_each_read_and_the_table_has_what_its_answers_say(fresh: Project, server: str):
    counting = Counting(server)
    with running(counting) as endpoint:
        config = study_of(endpoint)
        scores = [f"results/scores/{name}.parquet" for name in ("by_level/few/by_level", "together/few/named")]
        targets = ["results/tables/score_effects.csv", "results/tables/position_preference.csv", *scores]
        arguments = [*targets, "--keep-going", *fresh.own(config)]
        with fresh.start(*arguments) as process:
            kill_a_judge(fresh, psutil.Process(process.pid), counting)
            output = process.communicate()
        assert process.returncode == 1, output
        before = calls_of_rubric(counting)
        run = fresh.snakemake(*arguments, "--rerun-incomplete")
        assert run.returncode == 0, run.stdout + run.stderr
        assert fresh.planned(*arguments) == []
        body, answer = next(kept for kept in counting.kept if kind_of(kept[0]) == "noul")
        for name, question in body["questions"].items():
            reply = httpx.post(f"{server}/systemone", json=body | {"questions": {name: question}}, timeout=600)
            assert reply.json()["answers"][name]["noul"] == pytest.approx(answer["answers"][name]["noul"], abs=1e-4)
    assert KILLED_AFTER <= before < TEXTS * ORDERS
    expected_by_level = {}
    for body, answer in counting.kept:
        if kind_of(body) == "noul":
            yes = np.array([one["noul"] for one in answer["answers"].values()])
            order = tuple(int(name.removeprefix("Score ")) for name in answer["answers"])
            expected_by_level[order] = yes / yes.sum()
    calls = len(counting.kept)
    counting.kept = list({json.dumps(body): (body, answer) for body, answer in counting.kept}.values())
    assert calls - len(counting.kept) <= AT_ONCE, "a kill costs the calls under way"
    kinds = Counter((kind_of(body), len(body["questions"])) for body, _ in counting.kept)
    assert kinds == {
        ("score", 1): TEXTS * ORDERS,
        ("choice", 1): TEXTS * ORDERS,
        ("choice", ORDERS): FEW,
        ("noul", N): len(expected_by_level),
    }

    effects, worths = (
        pd.read_csv(fresh.file(f"results/tables/{name}.csv")).query("dataset == 'replies' and readout == 'soft'")
        for name in ("score_effects", "position_preference")
    )
    for judge, kind in (("rubric", "score"), ("named", "choice")):
        means, logs = defaultdict(dict), defaultdict(list)
        for text, levels, shares in asked_one_by_one(counting, kind):
            means[text][tuple(levels)] = np.dot(levels, shares)
            logs[text].append(np.log(shares) - np.mean(np.log(shares)))
        shifts = np.array([scores[1, 2, 3, 4, 5] - np.mean([*scores.values()]) for scores in means.values()])
        effect = effects.set_index("judge").loc[judge]
        name = "usual_minus_balanced"
        assert effect[[name, f"{name}_low", f"{name}_high"]].tolist() == pytest.approx(interval(shifts))
        # Each level stands at each place as often as any other, so that least squares are means.
        of_texts = np.array([np.mean(rows, axis=0) for rows in logs.values()])
        worth = worths[worths["judge"] == judge].sort_values("position")
        for place, row in enumerate(worth[["preference", "preference_low", "preference_high"]].to_numpy()):
            assert row == pytest.approx(interval(of_texts[:, place]), rel=1e-5, abs=1e-5)

    by_level, together = (pd.read_parquet(fresh.file(path)) for path in scores)
    assert_places(by_level, expected_by_level)
    ((body, answer),) = ((body, answer) for body, answer in counting.kept if len(body["questions"]) == ORDERS)
    expected = {}
    for name, question in body["questions"].items():
        shares = answer["answers"][name]["probabilities"]
        order = tuple(int(place.removeprefix("Score ")) for place in question["criteria"])
        expected[order] = [shares[place] for place in question["criteria"]]
    assert_places(together, expected)


def assert_places(scores: pd.DataFrame, expected: dict[tuple[int, ...], list[float]]) -> None:
    """Check the probability of each place, by the ordering that was shown."""
    assert {tuple(order) for order in scores["ordering"]} == set(expected)
    for order, shares in zip(scores["ordering"], scores["position_probabilities"], strict=True):
        assert shares == pytest.approx(expected[tuple(order)])


@pytest.mark.slow
def test_anyjev_is_a_judge_whose_rotations_are_one_and_reversals_are_not(
    fresh: Project, packages: Path, judged: Project
):
    """AnyJev asks for the five rotations of the levels that it gets, and so gives the same answer for each of them."""
    judge = {
        "engine": "python",
        "function": "anyjev_judge:judge",
        "folder": str(fresh.file("config/examples/judges")),
        "model": "SmolLM2-135M-Instruct",
        "answer_format": "score",
    }
    config = config_of({"anyjev": judge}, FEW)
    config["studies"]["position_bias"]["judges"] = ["anyjev"]
    target = "results/scores/position_bias/replies/anyjev.parquet"
    environment = {"PYTHONPATH": str(packages), "ANYJEV_MODEL": str(judged.file(MODEL))}
    run = fresh.snakemake(target, *fresh.own(config), environment=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    scores = pd.read_parquet(fresh.file(target))
    assert len(scores) == FEW * ORDERS
    assert scores["failure"].isna().all()
    orders, shares = (np.stack(scores[name]) for name in ("ordering", "position_probabilities"))
    by_level = np.take_along_axis(shares, np.argsort(orders, axis=1), axis=1)
    assert by_level.sum(axis=1) == pytest.approx(np.ones(len(scores)))
    assert scores["score"].tolist() == (by_level.argmax(axis=1) + 1).tolist()
    rotation = (orders[:, 1] - orders[:, 0]) % N == 1
    assert rotation.sum() == FEW * N
    means = [by_level[kind].mean(axis=0) for kind in (rotation, ~rotation)]
    for kind, mean in zip((rotation, ~rotation), means, strict=True):
        assert by_level[kind] == pytest.approx(np.tile(mean, (FEW * N, 1)), abs=1e-4)
    assert np.abs(means[0] - means[1]).max() > 0.01
