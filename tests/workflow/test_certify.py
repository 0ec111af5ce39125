"""The study of `rubric-order certify` by Snakemake: the same requests, answers, reads and card."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from endpoint import Call, Endpoint, Reply, completion, running
from typer.testing import CliRunner

from rubric_order.commands.app import app
from rubric_order.judging.store import Store

from .conftest import Project

TARGETS = ("all", "results/summary.html")
OF_A_RUN = ["engine", "attempts"]  # columns of the store that say how an answer was obtained
SECONDS_A_CALL = 0.01


def reply(call: Call) -> Reply:
    """An answer that follows from the prompt; one in ten gives no score."""
    shown = re.findall(r"^Score ([0-9]+):", call.prompt, re.MULTILINE)
    number = int(hashlib.sha256(call.prompt.encode()).hexdigest(), 16)
    score = shown[0] if number % 4 == 0 else shown[number // 4 % len(shown)]
    text = "I cannot tell." if number % 10 == 9 else f"So be it. [RESULT] {score}"
    return Reply(completion(text, model=call.body["model"]), delay=SECONDS_A_CALL)


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with running(reply) as endpoint:
        yield endpoint


def certified(folder: Path, judge: str, *words: str) -> list[dict]:
    """Cards of a study in a folder."""
    done = CliRunner().invoke(app, ["certify", judge, "--groups", "3", "--folder", str(folder), "--json", *words])
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def by_snakemake(project: Project, folder: Path) -> list[dict]:
    """Cards of the study that a folder has as a config."""
    named = ["--directory", str(folder), "--configfile", str(folder / "certify.yaml")]
    run = project.snakemake(*TARGETS, *named)
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads((folder / "results/summary.json").read_text())["cards"]


def stored(folder: Path, judge: str) -> pd.DataFrame:
    rows = Store(folder / "results/store" / judge).read()
    return rows.drop(columns=OF_A_RUN, errors="ignore").sort_values("request_id").reset_index(drop=True)


@pytest.mark.slow
def test_certify_and_snakemake_are_one_study(fresh: Project, server: Endpoint, tmp_path: Path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    cards = certified(ours, server.base_url, "--model", "m")
    asked = [call.body for call in server.calls]
    assert len(asked) == 120
    theirs.mkdir()
    for name in ("certify.yaml", "tasks.yaml"):
        shutil.copy(ours / name, theirs)
    made = by_snakemake(fresh, theirs)
    bodies = [call.body for call in server.calls[len(asked) :]]
    assert sorted(map(json.dumps, bodies)) == sorted(map(json.dumps, asked))

    for path in ("requests/certify/judge_m", "items/sample", "rubrics/sample"):
        pd.testing.assert_frame_equal(
            pd.read_parquet(ours / f"data/{path}.parquet"), pd.read_parquet(theirs / f"results/{path}.parquet")
        )
    pd.testing.assert_frame_equal(stored(ours, "judge_m"), stored(theirs, "judge_m"))
    place = "certify/sample/judge_m.parquet"
    for kind in ("plan", "scores"):
        one, other = (pd.read_parquet(root / kind / place) for root in (ours / "data", theirs / "results"))
        assert one.to_csv(index=False) == other.to_csv(index=False)
    assert cards == made
    assert cards[0]["n_failed"] > 0
    for path in (ours / "data/statistics").iterdir():
        other = theirs / "results/statistics" / path.name
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(other))
    shown = [path for kind in ("tables", "figures") for path in (ours / "data" / kind).iterdir()]
    assert {path.suffix for path in shown} == {".csv", ".md", ".tex", ".html", ".svg"}
    for path in shown:
        assert path.read_bytes() == (theirs / "results" / path.relative_to(ours / "data")).read_bytes(), path


@pytest.mark.slow
def test_snakemake_takes_the_answers_of_certify_in_its_folder(fresh: Project, server: Endpoint, tmp_path: Path):
    cards = certified(tmp_path / "study", server.base_url, "--model", "m")
    asked = len(server.calls)
    assert by_snakemake(fresh, tmp_path / "study") == cards
    assert len(server.calls) == asked
