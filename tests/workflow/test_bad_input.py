"""Mistakes of a user: one clear error each, no traceback, no partial output."""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from factories import ROOT, demo_config

from rubric_order.base import command_line
from rubric_order.base.errors import InputError
from rubric_order.run import loading

from .conftest import Project

TASKS = "resources/demo/tasks.yaml"
RECORD = {
    "idx": 1,
    "response_source": "a_model",
    "category": "writing",
    "gpt4_score": [4, 4, 5],
    "instruction": "###The instruction to evaluate:\nSay hello.\n\n###Response to evaluate:\nHello.\n\n"
    "###Reference Answer (Score 5):\nHello there.\n\n###Score Rubrics:\n[Is it a greeting?]\n"
    + "\n".join(f"Score {level}: Description {level}." for level in range(1, 6))
    + "\n\n###Feedback: ",
}


def edit_tasks(folder: Path, change: Callable[[list], object]) -> None:
    """Change the demo's tasks in a project."""
    path = folder / TASKS
    path.parent.mkdir(parents=True, exist_ok=True)
    tasks = yaml.safe_load((ROOT / TASKS).read_text())
    change(tasks)
    path.write_text(yaml.safe_dump(tasks))


def without_a_level(tasks: list) -> None:
    tasks[1]["rubric"]["levels"].pop(4)


# Through Snakemake: a mistake in config, in a file, in what is fetched, and in how a study fits its data.


@pytest.fixture
def said(fresh: Project):
    """Snakemake's message about a mistake: it makes nothing, and shows no traceback."""

    def run(target: str, config: dict | None = None) -> str:
        done = fresh.snakemake(target, config=config)
        text = done.stdout + done.stderr
        assert done.returncode != 0
        assert "Traceback" not in text
        folder = fresh.file(target).parent
        assert not folder.exists() or list(folder.iterdir()) == []
        return text

    return run


def errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("error: ")]


def test_a_mistake_in_config_is_one_clear_error(said):
    text = said("results/items/demo.parquet", {"studies": {"position_bias": {"stratgies": ["balanced"]}}})
    (line,) = errors(text)
    assert line.startswith("error: config: studies/position_bias: unknown key 'stratgies'")
    assert "strategies" in line


def test_a_mistake_in_a_file_is_one_clear_error_also_in_the_log(said, fresh: Project):
    edit_tasks(fresh.folder, without_a_level)
    (line,) = errors(said("results/items/demo.parquet"))
    expected = f"error: {TASKS}: task 2 (explain_compound_interest): rubric: levels: level 4 is missing"
    assert line.startswith(expected)
    assert expected in fresh.file("results/logs/prepare_items/demo.log").read_text()


def test_a_file_with_a_wrong_checksum_is_one_clear_error(said, fresh: Project):
    fresh.file("mirror").mkdir()
    fresh.file("mirror/tasks.yaml").write_bytes(b"- id: changed\n")
    source = {"url": "https://example.invalid/tasks.yaml", "sha256": "0" * 64, "mirror": "tasks.yaml"}
    datasets = {"copied": {"adapter": "demo", "files": {"tasks": source}}}
    text = said("results/items/copied.parquet", {"dataset_mirror": "mirror", "datasets": datasets})
    (line,) = errors(text)
    assert line.startswith("error: dataset copied/tasks: mirror/tasks.yaml has SHA-256")
    assert "expected " + "0" * 64 in line


def test_a_scale_that_a_rubric_lacks_is_one_clear_error(said):
    config = {"studies": {"position_bias": {"scales": [4]}}}
    config |= {"figures": {name: {"n": 4} for name in ("position_selection", "score_effects", "position_preference")}}
    config |= {"tables": {"position_selection": {"n": 4}, "human_agreement": {"n": 4}}}
    (line,) = errors(said("results/plan/position_bias/demo/smollm2_135m.parquet", config))
    assert line.startswith("error: study position_bias: scale 4: rubric 'explain_tides': ")
    assert "a rubric with 5 levels has no 4 evenly spaced ones" in line


def test_a_file_that_is_not_there_is_named(said):
    text = said("results/items/demo.parquet", {"datasets": {"demo": {"files": {"tasks": {"path": "nowhere.yaml"}}}}})
    assert "MissingInputException" in text
    assert "nowhere.yaml" in text


# In process: the same calls as the rules'.


@pytest.mark.parametrize(
    ("config", "fragments"),
    [
        ({"datasets": {"demo": {"limit": "many"}}}, ["config: datasets/demo/limit", "'many'", "a whole number"]),
        (
            {"studies": {"position_bias": {"judges": ["gpt_9"]}}},
            ["config: studies/position_bias/judges: 'gpt_9' is not defined", "smollm2_135m"],
        ),
    ],
)
def test_other_mistakes_in_config(config: dict, fragments: list[str]):
    whole = demo_config()
    loading.merge(whole, config)
    with pytest.raises(InputError) as error:
        loading.complete(whole, folder=ROOT)
    for fragment in fragments:
        assert fragment in str(error.value)


@pytest.fixture
def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The end of an entry script, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "workflow/scripts")

    def run(script: str, **options: object) -> str:
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        monkeypatch.setattr(sys, "argv", [script, *words])
        with pytest.raises(SystemExit) as end:
            command_line.run(getattr(importlib.import_module(script), script))
        return end.value.code

    return run


def prepare(ended, adapter: str, file: str) -> str:
    """The end of a job that prepares the items of one file; nothing is made."""
    settings = json.dumps({"adapter": adapter, "limit": None, "options": {}})
    made = {"items": "made/i.parquet", "rubrics": "made/r.parquet", "pairs": "made/p.parquet"}
    text = ended("prepare_items", dataset="mine", files=file, settings=settings, **made)
    assert not Path("made").exists()
    return text


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ('[\n{"idx": 1,\n"response_source" "a"}\n]\n', "line 3, column 19: malformed JSON"),
        (json.dumps([RECORD] * 2), "record 2: item id '001-a_model' is already used by records.json: record 1"),
    ],
)
def test_mistakes_in_records(ended, records: str, message: str):
    Path("records.json").write_text(records)
    assert f"error: records.json: {message}" in prepare(ended, "prometheus", "records=records.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda tasks: tasks[2].pop("rubric"),
            "task 3 (explain_herd_immunity): response 1: item 'explain_herd_immunity-a' has no rubric",
        ),
        (
            lambda tasks: tasks[0]["responses"][1].update(text=" \n"),
            "task 1 (explain_tides): response 2: field 'response': expected text, found nothing",
        ),
    ],
)
def test_mistakes_in_tasks(ended, change: Callable[[list], object], message: str):
    edit_tasks(Path(), change)
    assert f"error: {TASKS}: {message}" in prepare(ended, "demo", f"tasks={TASKS}")


def test_a_malformed_file_of_tasks(ended):
    edit_tasks(Path(), lambda tasks: None)
    Path(TASKS).write_text("- id: x\n  category: [\n")
    assert f"error: {TASKS}: line 3, column 1: malformed YAML" in prepare(ended, "demo", f"tasks={TASKS}")


def test_a_file_that_the_mirror_lacks(ended):
    source = {"url": "https://example.invalid/tasks.yaml", "sha256": "0" * 64, "mirror": "tasks.yaml"}
    found = ended("fetch_dataset", source=json.dumps(source), mirror="mirror", what="copied/tasks", output="made/tasks")
    assert "error: dataset copied/tasks: no file mirror/tasks.yaml" in found
    assert not Path("made/tasks").exists()
