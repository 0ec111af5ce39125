"""Mistakes of a user: one clear error each, no traceback, no partial output."""

import json
from collections.abc import Callable

import pandas as pd
import pytest
import yaml

from .conftest import SMALL, Project

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


def edit_task(change: Callable[[list], None]) -> Callable[[Project], dict]:
    """A case that changes the demo's tasks."""

    def prepare(project: Project) -> dict:
        tasks = yaml.safe_load(project.file(TASKS).read_text())
        change(tasks)
        project.file(TASKS).write_text(yaml.safe_dump(tasks))
        return {}

    return prepare


def records(text: str) -> Callable[[Project], dict]:
    """A case with a file of Prometheus records."""

    def prepare(project: Project) -> dict:
        project.file("records.json").write_text(text)
        return {"datasets": {"mine": {"adapter": "prometheus", "files": {"records": {"path": "records.json"}}}}}

    return prepare


def from_mirror(files: dict[str, bytes], checksum: str) -> Callable[[Project], dict]:
    """A case whose dataset lies in a mirror folder."""

    def prepare(project: Project) -> dict:
        mirror = project.file("mirror")
        mirror.mkdir()
        for name, content in files.items():
            (mirror / name).write_bytes(content)
        source = {"url": "https://example.invalid/tasks.yaml", "sha256": checksum, "mirror": "tasks.yaml"}
        dataset = {"adapter": "demo", "files": {"tasks": source}}
        return {"dataset_mirror": "mirror", "datasets": {"copied": dataset}}

    return prepare


def config(**blocks: object) -> Callable[[Project], dict]:
    return lambda project: blocks


BAD_INPUT = {
    "unknown config key": (
        config(studies={"position_bias": {"stratgies": ["balanced"]}}),
        "results/items/demo.parquet",
        ["config: studies/position_bias: unknown key 'stratgies'", "strategies"],
    ),
    "wrong type": (
        config(datasets={"demo": {"limit": "many"}}),
        "results/items/demo.parquet",
        ["config: datasets/demo/limit", "'many'", "integer"],
    ),
    "judge not defined": (
        config(studies={"position_bias": {"judges": ["gpt_9"]}}),
        "results/items/demo.parquet",
        ["config: studies/position_bias/judges: 'gpt_9' is not defined", "smollm2_135m"],
    ),
    "missing dataset file": (
        config(datasets={"demo": {"files": {"tasks": {"path": "nowhere/tasks.yaml"}}}}),
        "results/items/demo.parquet",
        ["nowhere/tasks.yaml"],
    ),
    "missing file in the mirror": (
        from_mirror({}, "0" * 64),
        "results/items/copied.parquet",
        ["error: dataset copied/tasks: no file mirror/tasks.yaml"],
    ),
    "wrong checksum": (
        from_mirror({"tasks.yaml": b"- id: changed\n"}, "0" * 64),
        "results/items/copied.parquet",
        ["error: dataset copied/tasks: mirror/tasks.yaml has SHA-256", "expected " + "0" * 64],
    ),
    "malformed JSON": (
        records('[\n{"idx": 1,\n"response_source" "a"}\n]\n'),
        "results/items/mine.parquet",
        ["error: records.json: line 3, column 19: malformed JSON"],
    ),
    "malformed YAML": (
        lambda project: project.file(TASKS).write_text("- id: x\n  category: [\n") and {},
        "results/items/demo.parquet",
        [f"error: {TASKS}: line 3, column 1: malformed YAML"],
    ),
    "duplicate item ids": (
        records(json.dumps([RECORD, RECORD])),
        "results/items/mine.parquet",
        ["error: records.json: record 2: item id '001-a_model' is already used by records.json: record 1"],
    ),
    "item without a rubric": (
        edit_task(lambda tasks: tasks[2].pop("rubric")),
        "results/items/demo.parquet",
        [f"error: {TASKS}: task 3 (explain_herd_immunity): response 1: item 'explain_herd_immunity-a' has no rubric"],
    ),
    "level missing from a rubric": (
        edit_task(lambda tasks: tasks[1]["rubric"]["levels"].pop(4)),
        "results/items/demo.parquet",
        [f"error: {TASKS}: task 2 (explain_compound_interest): rubric: levels: level 4 is missing", "expected 1 to 5"],
    ),
    "empty response": (
        edit_task(lambda tasks: tasks[0]["responses"][1].update(text=" \n")),
        "results/items/demo.parquet",
        [f"error: {TASKS}: task 1 (explain_tides): response 2: field 'response': expected text, found nothing"],
    ),
    "scale that the rubric lacks": (
        config(
            studies={"position_bias": {"scales": [4]}},
            figures={"position_selection": {"n": 4}},
            tables={"position_selection": {"n": 4}, "human_agreement": {"n": 4}},
        ),
        "results/plan/position_bias/demo/smollm2_135m.parquet",
        [
            "error: study position_bias: scale 4: rubric 'explain_tides': ",
            "a rubric with 5 levels has no 4 evenly spaced ones",
        ],
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gives_one_clear_error_and_no_output(fresh: Project, case: str):
    prepare, target, expected = BAD_INPUT[case]
    run = fresh.snakemake(target, config=prepare(fresh))
    said = run.stdout + run.stderr
    assert run.returncode != 0
    assert "Traceback" not in said
    for fragment in expected:
        assert fragment in said
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 or (not lines and "MissingInputException" in said)
    folder = fresh.file(target).parent
    assert not folder.exists() or list(folder.iterdir()) == []


def test_a_prompt_longer_than_the_context_fails_alone(finished: Project, project: Project):
    tokens = pd.read_parquet(finished.file("results/responses/position_bias/smollm2_135m/1.parquet"))["prompt_tokens"]
    limit = int(tokens.median())
    config = SMALL | {"judges": {"smollm2_135m": {"max_model_len": limit}}}
    config["studies"] = {"position_bias": {"strategies": ["balanced"]}}
    run = project.snakemake(config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    scores = pd.read_parquet(project.file("results/scores/position_bias/demo/smollm2_135m.parquet"))
    too_long = scores["failure"] == "prompt_too_long"
    assert 0 < too_long.sum() < len(scores)
    assert scores.loc[too_long, "score"].isna().all()
    assert scores.loc[~too_long, "expected_score"].notna().all()
    failures = pd.read_csv(project.file("results/tables/parse_failures.csv"))
    counted = failures.query("position == 'all' and reason == 'prompt_too_long'")["n_failed"].sum()
    assert counted == too_long.sum()


def test_an_engine_argument_that_vllm_lacks_is_one_clear_error(project: Project):
    run = project.snakemake(config=SMALL | {"judges": {"smollm2_135m": {"engine_args": {"enforce_eagerly": True}}}})
    said = run.stdout + run.stderr
    assert run.returncode != 0
    assert "error: judge: engine_args: vLLM has no argument 'enforce_eagerly'; expected enforce_eager" in said
    assert "Traceback" not in said


def test_a_failed_rule_shows_its_error_in_its_log_too(fresh: Project):
    prepare, target, expected = BAD_INPUT["level missing from a rubric"]
    fresh.snakemake(target, config=prepare(fresh))
    assert expected[0] in fresh.file("results/logs/prepare_items/demo.log").read_text()
