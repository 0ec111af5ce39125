"""Functions of Python as judges in the real workflow: one of our own, and those of the examples by their packages."""

import collections
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from endpoint import Call, Endpoint, Reply, completion, running
from factories import demo_config
from installed import installed

import rubric_order
from rubric_order.judging.store import Store

from .conftest import ONE_TABLE, ROOT, Project, of_tasks

EXAMPLES = ROOT / "config/examples/judges"
JUDGES = {"langchain": "messages", "litellm": "messages", "dspy": "prompt"}
CONCURRENCY = 4
SECONDS_A_CALL = 0.1
# What the package's judge is asked is written down in one line, before it is asked.
COUNTED = """
import os

from {package}_judge import judge as asked


def note({takes}):
    with open({calls!r}, "ab", buffering=0) as file:
        file.write(({prompt}).encode().hex().encode() + b"\\n")


{kind} judge({takes}):
    note({takes})
    return {wait}asked({takes})
"""
OWN = """
import os
import re


def judge(prompt):
    with open(os.environ["CALLS_OF_THE_JUDGE"], "a") as file:
        file.write("called\\n")
    shown = re.findall(r"^Score ([1-5]):", prompt, re.MULTILINE)
    first = int(shown[0])
    return {"score": first, "probabilities": {k: 0.6 if k == first else 0.1 for k in range(1, 6)}}
"""


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the packages of requirements/judges.lock, made by the first worker that needs it."""
    return installed(tmp_path_factory, "judges")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """The model that all three packages ask; DSPy gets the form that its adapter asks for."""

    def reply(call: Call) -> Reply:
        form = "[[ ## score ## ]]" in json.dumps(call.body["messages"])
        text = "[[ ## score ## ]]\n4\n\n[[ ## completed ## ]]" if form else "Fine. [RESULT] 4"
        return Reply(completion(text, model="gpt-4.1-mini"), delay=SECONDS_A_CALL)

    with running(reply) as server:
        yield server


def environment_of(packages: Path, endpoint: Endpoint, folder: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join([str(packages), str(EXAMPLES)]),
        "OPENAI_API_KEY": "no-key-of-anybody",
        "OPENAI_API_BASE": endpoint.base_url,
        "OPENAI_BASE_URL": endpoint.base_url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LANGSMITH_TRACING": "false",
        "DSPY_CACHEDIR": str(folder / "dspy"),
    }


class Killer(threading.Thread):
    """Kills each job of a judge once, some calls after it began."""

    def __init__(self, project: Project, process: psutil.Process, rng: np.random.Generator):
        super().__init__(daemon=True)
        self.project, self.process = project, process
        self.wanted = {name: calls_of(project, name) and len(calls_of(project, name)) for name in JUDGES}
        self.wanted = {name: (before or 0) + int(rng.integers(1, 20)) for name, before in self.wanted.items()}
        self.pauses = {name: rng.uniform(0, SECONDS_A_CALL) for name in JUDGES}
        self.killed: set[str] = set()

    def run(self) -> None:
        while self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE and len(self.killed) < 3:
            for name in JUDGES.keys() - self.killed:
                if len(calls_of(self.project, name)) >= self.wanted[name] and (job := self.job(name)) is not None:
                    time.sleep(self.pauses[name])
                    self.kill(name, job)
            time.sleep(0.005)

    def job(self, name: str) -> psutil.Process | None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in self.process.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    words = child.cmdline()
                    if len(words) > 1 and words[1].endswith("judge_shard.py") and f"results/store/{name}" in words:
                        return child
        return None

    def kill(self, name: str, job: psutil.Process) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            job.send_signal(signal.SIGKILL)
        self.killed.add(name)


def calls_of(project: Project, name: str) -> list[str]:
    path = project.file(f"calls_{name}" if name else "calls")
    return path.read_text().splitlines() if path.exists() else []


def store_of(project: Project, name: str) -> Store:
    return Store(project.file(f"results/store/{name}"))


@pytest.mark.slow
def test_judges_of_three_packages_are_killed_and_resumed_at_the_cost_of_the_calls_under_way(
    fresh: Project, packages: Path, endpoint: Endpoint
):
    """Each round kills the three jobs at random moments."""
    environment = environment_of(packages, endpoint, fresh.folder)
    judges = {}
    for package, takes in JUDGES.items():
        is_async = package == "langchain"
        text = COUNTED.format(
            package=package,
            takes=takes,
            prompt="messages[-1]['content']" if takes == "messages" else takes,
            kind="async def" if is_async else "def",
            wait="await " if is_async else "",
            calls=str(fresh.file(f"calls_{package}")),
        )
        fresh.file(f"counted_{package}.py").write_text(text)
        asked = {"function": f"counted_{package}:judge", "concurrency": CONCURRENCY, "model": "gpt-4.1-mini"}
        judges[package] = {"engine": "python", **asked}
    config = {
        "datasets": of_tasks(2),
        "judges": judges,
        "studies": {"position_bias": {"judges": list(JUDGES), "strategies": ["balanced"]}},
    }
    targets = [f"results/scores/position_bias/demo/{name}.parquet" for name in JUDGES]
    options = {"config": config, "cores": 3, "environment": environment}
    rng, rounds = np.random.default_rng(3), 3
    kept: dict[str, tuple[set[str], int]] = {}
    for _ in range(rounds):
        with fresh.start(*targets, "--keep-going", "--nolock", **options) as process:
            killer = Killer(fresh, psutil.Process(process.pid), rng)
            killer.start()
            output = process.communicate()
        killer.join(60)
        assert killer.killed == set(JUDGES), output
        assert process.returncode == 1
        for name in JUDGES:
            rows = store_of(fresh, name).read(columns=["text"])
            kept[name] = set(rows["request_id"][rows["text"].notna()]), len(calls_of(fresh, name))
    run = fresh.snakemake(*targets, "--keep-going", "--nolock", "--rerun-incomplete", **options)
    assert run.returncode == 0, run.stdout + run.stderr

    for name in JUDGES:
        requests = pd.read_parquet(fresh.file(f"results/requests/position_bias/{name}.parquet"))
        scores = pd.read_parquet(fresh.file(f"results/scores/position_bias/demo/{name}.parquet"))
        assert len(requests) == 80
        assert scores["score"].eq(4).all()
        calls = calls_of(fresh, name)
        prompts = {
            text.encode().hex(): name for name, text in zip(requests["request_id"], requests["prompt"], strict=True)
        }
        asked = collections.Counter(prompts[call] for call in calls)
        assert set(asked) == set(requests["request_id"])
        assert len(requests) <= len(calls) <= len(requests) + rounds * CONCURRENCY
        booked = store_of(fresh, name).spent()["calls"]
        assert len(calls) <= booked <= len(calls) + rounds * CONCURRENCY
        stored, before = kept[name]
        assert stored
        assert not stored & {prompts[call] for call in calls[before:]}
        print(name, f"{len(calls)} calls, {booked:.0f} booked, {len(stored)} stored before the last run")


@pytest.mark.slow
def test_the_demo_is_judged_by_a_function_and_the_library_makes_the_same_requests_and_reads(
    fresh: Project, monkeypatch: pytest.MonkeyPatch
):
    """The same items as a table: the library asks the same requests, and finds the answers in the workflow's store."""
    monkeypatch.setenv("CALLS_OF_THE_JUDGE", str(fresh.file("calls")))
    fresh.file("own_judge.py").write_text(OWN)
    config = {
        "datasets": of_tasks(2),
        "judges": {"mine": {"engine": "python", "function": "own_judge:judge", "answer_format": "score"}},
        "studies": {"position_bias": {"judges": ["mine"], "strategies": ["balanced", "random"]}},
        "statistics": {"bootstrap": {"resamples": 100}},
    }
    run = fresh.snakemake("all", "results/methods.md", "results/summary.json", config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "was run as a function of Python" in fresh.file("results/methods.md").read_text()
    cards = json.loads(fresh.file("results/summary.json").read_text())["cards"]
    assert {card["judge"] for card in cards} == {"mine"}

    scores = pd.read_parquet(fresh.file("results/scores/position_bias/demo/mine.parquet"))
    asked = scores["request_id"].nunique()
    assert len(calls_of(fresh, "")) == asked
    monkeypatch.syspath_prepend(fresh.folder)
    import own_judge

    for store, calls in (("results/store/mine", asked), ("library", 2 * asked)):
        reads = pd.concat(studies(own_judge.judge, fresh, fresh.file(store)), ignore_index=True)
        assert len(calls_of(fresh, "")) == calls
        assert_same(reads, scores)
    balanced = reads[reads["strategy"] == "balanced"].drop(columns="strategy")
    balanced.drop(columns=["failure", "answer", "request_id"]).to_csv(fresh.file("reads.csv"), index=False)
    for given in (balanced, fresh.file("reads.csv")):
        (card,) = rubric_order.bias_card(given)
        assert (card.judge, card.evidence.n_reads, card.verdict.word) == ("mine", len(balanced), "cannot tell")
    del sys.modules["own_judge"]

    fresh.file("moved").mkdir()
    fresh.file("own_judge.py").rename(fresh.file("moved/own_judge.py"))
    config["judges"]["mine"]["folder"] = "moved"
    assert fresh.planned(ONE_TABLE, config=config) == []
    fresh.file("moved/own_judge.py").write_text(OWN.replace("0.6", "0.5").replace("0.1", "0.125"))
    planned = fresh.planned(ONE_TABLE, config=config)
    assert {"plan_reads", "collect_requests", "judge_shard"} <= set(planned)
    assert "prepare_items" not in planned
    fresh.file("moved/own_judge.py").write_text("judge = 4\n")
    run = fresh.snakemake("--dry-run", ONE_TABLE, config=config)
    expected = "expected module:name of a function of one argument, found 4"
    assert run.stderr.splitlines()[-1] == f"error: config: judges/mine/function: 'own_judge:judge': {expected}"
    assert run.returncode == 1


def studies(function: object, project: Project, folder: Path) -> Iterator[pd.DataFrame]:
    """The reads of the demo by the library, a rubric and a strategy at a time."""
    items = pd.read_parquet(project.file("results/items/demo.parquet"))
    rubrics = pd.read_parquet(project.file("results/rubrics/demo.parquet")).set_index("rubric_id")
    names = {"item_id": "item", "group_id": "group", "response": "text"}
    plain = items.rename(columns=names)[[*names.values(), "instruction", "reference", "human_score"]]
    seed = demo_config()["studies"]["position_bias"]["seed"]
    how = {"dataset": "demo", "seed": seed, "answer_format": "score", "name": "mine", "folder": folder}
    for rubric_id, rows in plain.groupby(items["rubric_id"].to_numpy(), sort=False):
        rubric = {"question": rubrics["question"][rubric_id], "levels": list(rubrics["levels"][rubric_id])}
        for strategy in ("balanced", "random"):
            reads = rubric_order.study(function, rows, rubric=rubric, strategy=strategy, **how)
            yield reads.assign(strategy=strategy)


def assert_same(reads: pd.DataFrame, scores: pd.DataFrame) -> None:
    """Check that reads of the library say what the workflow's scores say, row by row."""
    order = ["strategy", "item", "request_id"]
    theirs = scores.rename(columns={"item_id": "item", "group_id": "group"}).sort_values(order, ignore_index=True)
    ours = reads.sort_values(order, ignore_index=True)
    for column in (*order, "group", "judge", "score", "human_score"):
        assert ours[column].tolist() == theirs[column].tolist(), column
    assert [list(row) for row in ours["ordering"]] == [list(row) for row in theirs["ordering"]]
    by_score = ours[[f"p_{k}" for k in range(1, 6)]].to_numpy()
    expected = np.stack(theirs["position_probabilities"].to_numpy())
    shown = np.stack(theirs["ordering"].to_numpy())
    np.testing.assert_allclose(np.take_along_axis(by_score, shown - 1, axis=1), expected)
