import json
import logging
import re

import pytest
import yaml

from rubric_order import datasets
from rubric_order.base.errors import InputError

RUBRIC = {"criteria": "Is it good?"} | {f"score{n}_description": f"{word} work" for n, word in enumerate("abcde", 1)}


def record(index=0, *, capability="planning", drop=(), **changes):
    entry = {
        "id": f"{capability}_trip_{index}",
        "capability": capability,
        "task": "trip",
        "instance_idx": index,
        "system_prompt": "You plan.",
        "input": f"Plan trip {index}.",
        "reference_answer": f"Best plan {index}.",
        "score_rubric": RUBRIC,
        "response": f"Plan {index}.",
        "response_model_name": "org/model-7b",
    }
    return {key: value for key, value in (entry | changes).items() if key not in drop}


def write(tmp_path, *records):
    path = tmp_path / "records.json"
    path.write_text(json.dumps({entry["id"]: entry for entry in records}), encoding="utf-8")
    return path


def prepare(path, **options):
    return datasets.prepare("biggen", datasets.read("biggen", {"records": path}, options))


def items(path, **options):
    return prepare(path, **options).items.to_dict("records")


def test_an_instance_is_an_item_with_its_own_rubric_and_reference_and_its_capability_as_category(tmp_path):
    tables = prepare(write(tmp_path, record(0), record(1)))
    row = tables.items.to_dict("records")[1]
    assert row["item_id"] == "planning_trip_1-org/model-7b"
    assert row["group_id"] == row["rubric_id"] == "planning_trip_1"
    assert row["candidate"] == "org/model-7b"
    assert row["instruction"] == "You plan.\n\nPlan trip 1."
    assert row["response"] == "Plan 1."
    assert row["reference"] == "Best plan 1."
    assert row["category"] == "planning"
    assert row["human_scores"] == []
    assert tables.rubrics.to_dict("records")[0] == {
        "rubric_id": "planning_trip_0",
        "criterion": "overall",
        "name": "Overall",
        "short": "Is it good?",
        "question": "Is it good?",
        "levels": ["a work", "b work", "c work", "d work", "e work"],
        "lowest": 1,
    }
    assert len(tables.rubrics) == 2


@pytest.mark.parametrize("system_prompt", ["", " \n", None])
def test_without_a_system_prompt_the_instruction_is_the_input(tmp_path, system_prompt):
    (row,) = items(write(tmp_path, record(system_prompt=system_prompt)))
    assert row["instruction"] == "Plan trip 0."


@pytest.mark.parametrize("changes", [{"drop": ["response_model_name"]}, {"response_model_name": ""}])
def test_a_response_of_no_named_model_is_by_candidate_sample(tmp_path, changes):
    (row,) = items(write(tmp_path, record(**changes)))
    assert row["candidate"] == "sample"


def test_multilingual_instances_are_left_out_and_counted(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    path = write(tmp_path, record(0), record(0, capability="multilingual"), record(1))
    assert [row["group_id"] for row in items(path)] == ["planning_trip_0", "planning_trip_1"]
    assert f"{path}: 1 of 3 instances left out: multilingual" in caplog.messages


def test_reference_answers_can_be_judged_and_are_then_not_shown_as_references(tmp_path):
    (row,) = items(write(tmp_path, record()), judged="reference_answer")
    assert (row["candidate"], row["response"], row["reference"]) == ("reference", "Best plan 0.", None)
    assert row["item_id"] == "planning_trip_0-reference"


def test_responses_that_are_all_the_same_are_warned_of(tmp_path, caplog):
    path = write(tmp_path, record(0, response="Hello World!"), record(1, response="Hello World!"))
    assert len(items(path)) == 2
    (warning,) = [entry for entry in caplog.records if entry.levelno == logging.WARNING]
    assert "all 2 texts to judge are 'Hello World!': a placeholder" in warning.getMessage()
    caplog.clear()
    items(path, judged="reference_answer")
    items(write(tmp_path, record(0), record(1)))
    assert not [entry for entry in caplog.records if entry.levelno == logging.WARNING]


def test_a_command_of_a_formula_that_lost_its_backslash_gets_it_back_everywhere_and_is_counted(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    rubric = RUBRIC | {"score5_description": "gives \frac{1}{2} \times 3"}
    broken = record(
        0, input="What is \binom{7}{3}\tor \\frac{1}{2}?", reference_answer="\frac{3}{2}", score_rubric=rubric
    )
    path = write(tmp_path, broken, record(1))
    tables = prepare(path)
    assert tables.items["instruction"][0] == "You plan.\n\nWhat is \\binom{7}{3}\tor \\frac{1}{2}?"
    assert tables.items["reference"][0] == "\\frac{3}{2}"
    assert tables.rubrics["levels"][0][4] == "gives \\frac{1}{2} \\times 3"
    assert f"{path}: lost backslashes of formulas put back in 1 instances" in caplog.messages


def test_an_instance_under_another_id_is_an_error(tmp_path):
    with pytest.raises(InputError, match="instance 'planning_trip_1': expected id 'planning_walk_1', from capability"):
        prepare(write(tmp_path, record(0), record(1, task="walk")))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "expected a mapping of instance ids to records, found list"),
        ('{"a": 5}', "instance 'a': expected a mapping, found 5"),
        ('{"a": {},\n "b": }', "line 2, column 7: malformed JSON"),
        ('{"a": {"b": 1}, "a": {"b": 2}}', "key 'a' stands twice in one mapping; expected once"),
        ('{"a": {"b": 1, "b": 2}}', "key 'b' stands twice in one mapping; expected once"),
    ],
)
def test_a_file_that_is_not_a_mapping_of_records_is_an_error_that_says_where(tmp_path, content, message):
    path = tmp_path / "records.json"
    path.write_text(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        prepare(path)


def test_only_multilingual_instances_are_no_items(tmp_path):
    with pytest.raises(InputError, match="dataset biggen: no items"):
        prepare(write(tmp_path, record(capability="multilingual")))


@pytest.fixture
def configured(mirror, root):
    """The block of config, and the file that it names, under the mirror."""
    block = yaml.safe_load((root / "config/datasets/biggen.yaml").read_text())["datasets"]["biggen"]
    return block, mirror / block["files"]["records"]["mirror"]


def test_the_published_file_has_695_instances_each_with_five_levels_of_its_own(configured):
    block, path = configured
    tables = prepare(path, **block["options"])
    assert len(tables.items) == tables.items["group_id"].nunique() == len(tables.rubrics) == 695
    assert tables.items["category"].nunique() == 8
    assert tables.rubrics["levels"].map(len).unique().tolist() == [5]
    assert tables.items["response"].nunique() == 694


def test_the_published_responses_are_a_placeholder(configured, caplog):
    _, path = configured
    tables = prepare(path)
    assert tables.items["response"].unique().tolist() == ["Hello World!"]
    assert tables.items["candidate"].unique().tolist() == ["sample-model"]
    assert "all 695 texts to judge are 'Hello World!'" in caplog.text


def test_the_published_formulas_hold_no_piece_of_a_lost_command(configured):
    _, path = configured
    tables = prepare(path)
    texts = [*tables.items["instruction"], *tables.items["reference"], *tables.rubrics["levels"].explode()]
    assert not [text for text in texts if re.search(r"(?<![A-Za-z\\])(rac|inom|imes)\b", text)]


def test_further_files_are_other_models_and_bring_peoples_scores(tmp_path):
    one = write(tmp_path, record(0, human_score=4), record(1, human_score=[3, 5]))
    two = tmp_path / "two.json"
    other = [record(index, response_model_name="org/other", human_score=index + 1, response="B") for index in (0, 1)]
    two.write_text(json.dumps({entry["id"]: entry for entry in other}), encoding="utf-8")
    table = datasets.prepare("biggen", datasets.read("biggen", {"records": one, "second": two})).items
    assert table[["item_id", "group_id", "human_score"]].to_numpy().tolist() == [
        ["planning_trip_0-org/model-7b", "planning_trip_0", 4.0],
        ["planning_trip_1-org/model-7b", "planning_trip_1", 4.0],
        ["planning_trip_0-org/other", "planning_trip_0", 1.0],
        ["planning_trip_1-org/other", "planning_trip_1", 2.0],
    ]


def test_a_human_score_that_is_no_number_is_named(tmp_path):
    with pytest.raises(InputError, match="field 'human_score': expected a number or a list of numbers, found 'good'"):
        prepare(write(tmp_path, record(0, human_score="good")))
