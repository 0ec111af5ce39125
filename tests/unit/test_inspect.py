"""The extension of Inspect, with the real package and its mock model."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from factories import ROOT
from installed import installed

import rubric_order as ro
from rubric_order import strategies
from rubric_order.extras.logs import relog

LEVELS = ["Rude.", "Cold.", "Friendly."]


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    return installed(tmp_path_factory, "inspect")


@pytest.fixture
def program(packages, tmp_path):
    """Runs `inspect_program.py` beside the package, and returns what it prints."""

    def run(task):
        paths = [str(packages), str(ROOT / "workflow/scripts")]
        done = subprocess.run(
            [sys.executable, str(ROOT / "tests/inspect_program.py"), task, str(tmp_path)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "INSPECT_LOG_LEVEL": "error"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.mark.slow
def test_a_scorer_reads_each_answer_in_all_orders_as_the_workflow_renders_them(program):
    done = program("balanced")
    orders = [list(map(int, order)) for order in strategies.balanced(3)]
    assert [read["ordering"] for read in done["reads"]] == 6 * orders
    assert all(read["score"] == read["ordering"][0] for read in done["reads"])
    assert set(done["values"].values()) == {2.0}
    assert done["metrics"]["mean"] == 2
    expected = {
        ro.render(
            f"Dear you, Write letter {k}.",
            levels=LEVELS,
            ordering=order,
            instruction=f"Write letter {k}.",
            question="Is it polite?",
            reference=f"Letter {k}, kindly.",
            template="score",
        )
        for k in range(6)
        for order in orders
    }
    assert len(done["asked"]) == 36
    assert set(done["asked"]) == expected
    assert done["reads"][0]["judge"] == "mockllm/judge"
    assert done["verdict"] == "cannot tell"


@pytest.mark.slow
def test_rotated_asks_once_a_sample_and_takes_the_orders_in_turn(program):
    done = program("rotated")
    assert len(done["asked"]) == len(done["reads"]) == 36
    orders = {tuple(map(int, order)) for order in strategies.balanced(3)}
    for k in range(6):
        shown = [tuple(read["ordering"]) for read in done["reads"] if read["group"] == f"s{k}"]
        assert set(shown) == orders  # six epochs, six orders
    first = {read["group"]: tuple(read["ordering"]) for read in done["reads"] if read["item"].endswith(" 1")}
    assert len(set(first.values())) > 1


@pytest.mark.parametrize(("name", "labels"), [("rubric", "12345"), ("grades", "IPC")])
def test_a_stored_log_is_asked_again_in_the_requests_of_relog(program, tmp_path, name, labels):
    done = program(name)
    log = relog.look([ROOT / f"tests/data/logs/{name}.eval"])
    settings = {"base_url": "http://127.0.0.1:9/v1"}
    study = relog.write(log, tmp_path / "study", rubric=log.rubrics[0], order=list(labels), settings=settings)
    recorded = {call.messages[-1].text for call in log.calls}
    assert len(done["asked"]) == len(set(done["asked"]))
    assert set(done["asked"]) == set(study.requests["prompt"]) - recorded
    usual = [1, 2, 3, 4, 5] if name == "rubric" else [3, 2, 1]
    by_item = {read["item"]: read["score"] for read in done["reads"] if read["ordering"] == usual}
    grades = dict(zip(sorted(by_item), sorted((call.where, call.score) for call in log.calls), strict=True))
    assert {item: labels[score - 1] for item, score in by_item.items()} == {
        item: score for item, (_, score) in grades.items()
    }
    values = dict(zip(labels, (1, 2, 3, 4, 5) if name == "rubric" else (0, 0.5, 1), strict=True))
    for item, value in done["values"].items():
        scores = [values[labels[read["score"] - 1]] for read in done["reads"] if read["item"] == item]
        assert value == pytest.approx(np.mean(scores))


def test_a_stored_log_is_asked_once_a_sample_where_orders_rotate(program):
    done = program("grades_rotated")
    assert len({read["item"] for read in done["reads"]}) == len(done["reads"]) == 8
    assert len(done["asked"]) == sum(read["ordering"] != [3, 2, 1] for read in done["reads"])
    epochs = [[read["ordering"] for read in done["reads"] if read["item"].endswith(f" {epoch}")] for epoch in (1, 2)]
    assert all(first != second for first, second in zip(*epochs, strict=True))


def test_samples_whose_prompt_has_no_such_levels_have_no_score(program):
    done = program("rubric_other")
    said = "expected one prompt with the levels A, B once, found such levels 0 times in the prompt"
    assert done == {"asked": [], "reasons": 4 * [["scoring_failed", said]]}


def test_what_cannot_be_used_is_one_line(program):
    said = program("refused")
    assert [message.partition(":")[0] for message in said] == ["levels", "strategy", "template", "levels", *4 * ["log"]]
    assert "expected reads of one scorer of rubric_order.extras.logs.scorers, found nothing" in said[4]
    assert "no call of a judge is recorded; expected model=..." in said[5]
    scored = "its status is 'error', and 4 samples have scores; expected 'success', or partial=True"
    assert said[6] == f"log: {scored}"
    assert said[7] == said[4]  # read as far as it goes


def test_without_the_package_an_import_says_what_is_missing():
    with pytest.raises(ImportError, match=r"rubric_order.extras.logs.scorers: expected the package inspect-ai"):
        import rubric_order.extras.logs.scorers  # noqa: F401
