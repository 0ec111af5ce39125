import json
import logging
import re

import pytest
import yaml

from rubric_order import datasets
from rubric_order.base.errors import InputError

SKILLS = ["Logical Robustness", "Factuality", "Conciseness"]


def instruction(idx, /, *, drop=(), **changes):
    entry = {
        "idx": idx,
        "instruction": f"Do {idx}.",
        "answer": f"Done {idx}.",
        "task": "Koala",
        "skill": SKILLS,
        "domain": ["Health", "Culture"],
        "difficulty": "expert level knowledge",
    }
    return {key: value for key, value in (entry | changes).items() if key not in drop}


def output(idx, model="m", **changes):
    return {"question_id": idx, "text": f"{model} does {idx}."} | changes


def lines(path, records):
    path.write_text("".join(json.dumps(entry) + "\n" for entry in records), encoding="utf-8")
    return path


def write(tmp_path, root, *, evaluation=None, **outputs):
    outputs = outputs or {"chatgpt": [output(1), output(2)]}
    return {
        "evaluation": lines(tmp_path / "evaluation.jsonl", evaluation or [instruction(1), instruction(2)]),
        "rubrics": root / "resources/rubrics/flask.yaml",
    } | {name: lines(tmp_path / f"{name}.jsonl", records) for name, records in outputs.items()}


def prepare(files, limit=None):
    return datasets.prepare("flask", datasets.read("flask", files), limit=limit)


def error_of(files):
    with pytest.raises(InputError) as error:
        prepare(files)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_item_is_an_output_under_a_skill_with_the_answer_as_reference(tmp_path, root):
    both = {name: [output(idx, name) for idx in (1, 2)] for name in ("chatgpt", "vicuna_13b")}
    tables = prepare(write(tmp_path, root, **both))
    assert len(tables.items) == 2 * 2 * 3
    row = tables.items.set_index("item_id").loc["0002-vicuna_13b-logical_robustness"]
    assert row["group_id"] == "0002"
    assert row["candidate"] == "vicuna_13b"
    assert row["criterion"] == "logical_robustness"
    assert row["rubric_id"] == "flask_logical_robustness"
    assert row["instruction"] == "Do 2."
    assert row["response"] == "vicuna_13b does 2."
    assert row["reference"] == "Done 2."
    assert row["category"] == "Health, Culture / expert level knowledge"
    assert row["human_scores"] == []
    assert sorted(tables.rubrics["criterion"]) == ["conciseness", "factuality", "logical_robustness"]
    assert tables.rubrics["levels"].map(len).unique().tolist() == [5]


def test_an_instruction_may_have_fewer_skills(tmp_path, root):
    files = write(tmp_path, root, evaluation=[instruction(1, skill=["Factuality"]), instruction(2)])
    assert prepare(files).items["group_id"].tolist() == ["0001", "0002", "0002", "0002"]


def test_outputs_may_stand_in_any_order(tmp_path, root):
    files = write(tmp_path, root, chatgpt=[output(2), output(1)])
    assert prepare(files, limit=1).items["response"].unique().tolist() == ["m does 1."]


@pytest.mark.parametrize(
    ("changes", "category"),
    [
        ({"domain": ["Health", "-1"]}, "Health / expert level knowledge"),
        ({"domain": ["-1"]}, "unlabelled / expert level knowledge"),
        ({"difficulty": -1}, "Health, Culture / unlabelled"),
    ],
)
def test_a_domain_or_difficulty_that_nobody_could_tell_is_unlabelled(tmp_path, root, changes, category):
    files = write(tmp_path, root, evaluation=[instruction(1, **changes)], chatgpt=[output(1)])
    assert prepare(files).items["category"].unique().tolist() == [category]


def test_instructions_after_the_last_with_outputs_are_left_out_and_counted(tmp_path, root, caplog):
    caplog.set_level(logging.INFO)
    files = write(tmp_path, root, evaluation=[instruction(idx) for idx in (1, 2, 3, 4)])
    assert prepare(files).items["group_id"].unique().tolist() == ["0001", "0002"]
    expected = f"{files['evaluation']}: 2 of 4 instructions left out: they come after the last with outputs, idx 2"
    assert expected in caplog.messages


def test_a_gap_in_the_outputs_is_an_error(tmp_path, root):
    evaluation = [instruction(idx) for idx in (1, 2, 3)]
    files = write(tmp_path, root, evaluation=evaluation, chatgpt=[output(1), output(3)])
    assert error_of(files).startswith(f"{files['chatgpt']}: question_id 2: no output")


def test_a_file_of_outputs_that_ends_before_the_others_is_an_error(tmp_path, root):
    files = write(tmp_path, root, chatgpt=[output(1), output(2)], vicuna_13b=[output(1)])
    assert error_of(files).startswith(f"{files['vicuna_13b']}: question_id 2: no output")


def test_an_output_for_no_instruction_is_an_error(tmp_path, root):
    files = write(tmp_path, root, chatgpt=[output(1), output(2), output(9)])
    assert error_of(files) == f"{files['chatgpt']}: question_id 9: {files['evaluation']} has no instruction of it"


def test_no_outputs_at_all_are_an_error(tmp_path, root):
    files = write(tmp_path, root)
    path = files.pop("chatgpt")
    assert "expected at least one file of outputs, such as 'chatgpt', found none" in error_of(files)
    path.write_text("\n")
    assert error_of(files | {"chatgpt": path}) == f"{path}: no outputs; expected one per line"


def test_an_option_that_is_no_file_is_an_error(tmp_path, root):
    assert "'shots': expected a file of outputs, found 5" in error_of(write(tmp_path, root) | {"shots": 5})


def test_a_line_that_is_not_json_is_an_error_that_names_it(tmp_path, root):
    files = write(tmp_path, root)
    with open(files["chatgpt"], "a") as file:
        file.write('{"question_id": 3, \n')
    assert re.match(re.escape(f"{files['chatgpt']}: line 3, column ") + r"\d+: malformed JSON", error_of(files))


def test_the_published_files_have_1700_instructions_with_outputs_of_four_models(mirror, root):
    block = yaml.safe_load((root / "config/datasets/flask.yaml").read_text())["datasets"]["flask"]
    files = {
        name: mirror / at["mirror"] if "mirror" in at else root / at["path"] for name, at in block["files"].items()
    }
    tables = prepare(files)
    assert len(tables.items) == 4 * (3 * 1700 - 1)  # instruction 1417 has two skills
    assert tables.items["group_id"].nunique() == 1700
    assert set(tables.items["candidate"]) == {"chatgpt", "llama2_chat_13b", "vicuna_13b", "wizardlm_13b"}
    assert len(tables.rubrics) == 12
    assert tables.items["reference"].notna().all()
