"""Datasets of pairs: MT-Bench and DevBench from spreadsheets, Auto-J, and HHH alignment."""

import io
import json
import logging
import zipfile
from datetime import datetime

import openpyxl
import pytest
import yaml

from rubric_order import datasets
from rubric_order.base import files
from rubric_order.base.errors import InputError


def prepare(adapter, files, options=None, limit=None):
    return datasets.prepare("small", datasets.read(adapter, files, options), limit=limit)


def error_of(adapter, path, options=None, name="answers"):
    """The message of the mistake in a file, which it names."""
    with pytest.raises(InputError) as error:
        prepare(adapter, {name: path}, options)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < 500
    return message.removeprefix(f"{path}: ")


def write_sheet(tmp_path, rows):
    """A workbook of the rows' dicts; titles are those of the first."""
    workbook = openpyxl.Workbook()
    workbook.active.append(list(rows[0]))
    for row in rows:
        workbook.active.append(list(row.values()))
    path = tmp_path / "answers.xlsx"
    workbook.save(path)
    return path


# --- MT-Bench


def question(index=81, **changes):
    return {
        "question_1": f"First of {index}?",
        "question_2": "And then?",
        "index": index,
        "evaluating_guidance": None,
        "task": "writing",
        "reference_answer_1": None,
        "reference_answer_2": None,
        "answer_1-gpt-4": "One.",
        "answer_2-gpt-4": "Two.",
        "answer_1-vicuna-13b-v1.3": "Un.",
        "answer_2-vicuna-13b-v1.3": "Deux.",
        "answer_1-Ünusual model_1": "Eins.",
        "answer_2-Ünusual model_1": "Zwei.",
    } | changes


def mtbench(tmp_path, *rows, **options):
    return prepare("mtbench_pairs", {"answers": write_sheet(tmp_path, rows)}, options)


def test_each_answer_of_mtbench_is_an_item_and_the_baseline_is_paired_with_each_other_model(tmp_path):
    tables = mtbench(tmp_path, question(), question(105, task="math"))
    assert tables.items["item_id"].tolist() == [
        f"{index}-{model}" for index in (81, 105) for model in ("gpt-4", "vicuna-13b-v1.3", "Ünusual model_1")
    ]
    assert tables.items["candidate"].unique().tolist() == ["gpt-4", "vicuna-13b-v1.3", "Ünusual model_1"]
    assert tables.items["category"].tolist() == ["writing"] * 3 + ["math"] * 3
    assert tables.pairs[["group_id", "item_a", "item_b", "category"]].to_numpy().tolist() == [
        ["81", "81-vicuna-13b-v1.3", "81-gpt-4", "writing"],
        ["81", "81-vicuna-13b-v1.3", "81-Ünusual model_1", "writing"],
        ["105", "105-vicuna-13b-v1.3", "105-gpt-4", "math"],
        ["105", "105-vicuna-13b-v1.3", "105-Ünusual model_1", "math"],
    ]
    assert tables.pairs["preference"].isna().all()
    assert tables.pairs["criterion"].unique().tolist() == ["overall"]
    assert tables.rubrics.empty


def test_turns_stand_under_headings_in_the_order_of_the_conversation(tmp_path):
    row = tmp_path, question(reference_answer_1="1.", reference_answer_2="2.")
    first = mtbench(*row).items.iloc[0]
    assert first["instruction"] == "[Turn 1, user]\nFirst of 81?\n\n[Turn 2, user]\nAnd then?"
    assert first["response"] == "[Turn 1, assistant]\nOne.\n\n[Turn 2, assistant]\nTwo."
    assert first["reference"] == "[Turn 1, reference]\n1.\n\n[Turn 2, reference]\n2."


def test_a_reference_of_one_turn_keeps_the_number_of_its_turn(tmp_path):
    rows = question(), question(133, reference_answer_2="2."), question(131, reference_answer_1="1.")
    references = mtbench(tmp_path, *rows).items.groupby("group_id")["reference"].first().dropna()
    assert references.to_dict() == {"131": "[Turn 1, reference]\n1.", "133": "[Turn 2, reference]\n2."}


def test_another_baseline_can_be_chosen(tmp_path):
    pairs = mtbench(tmp_path, question(), baseline="gpt-4").pairs
    assert pairs["item_a"].unique().tolist() == ["81-gpt-4"]
    assert pairs["item_b"].tolist() == ["81-vicuna-13b-v1.3", "81-Ünusual model_1"]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("a_x000D_\nb_x000D_\n", "a\nb"),
        ("tab_x0009_tab", "tab\ttab"),
        ("name_x0041_ and _x000G_", "name_x0041_ and _x000G_"),
        ("None", "None"),
        ("nan", "nan"),
        (42, "42"),
        (42.0, "42"),
        (-0.25, "-0.25"),
        (12345678901234, "12345678901234"),
        ("  e\u0301 \r\n", "\u00e9"),
        ("{0} {{ x }}", "{0} {{ x }}"),
    ],
)
def test_cells_are_read_as_text(tmp_path, cell, text):
    response = mtbench(tmp_path, question(**{"answer_1-gpt-4": cell})).items["response"][0]
    assert response == f"[Turn 1, assistant]\n{text}\n\n[Turn 2, assistant]\nTwo."


@pytest.mark.parametrize("empty", [None, " _x000D_\n"])
def test_an_answer_that_is_empty_in_one_turn_is_kept_and_logged(tmp_path, caplog, empty):
    caplog.set_level(logging.INFO)
    tables = mtbench(tmp_path, question(**{"answer_1-gpt-4": empty}))
    assert tables.items["response"][0] == "[Turn 1, assistant]\n\n\n[Turn 2, assistant]\nTwo."
    assert len(tables.pairs) == 2
    assert "1 answers say nothing in one of the two turns" in caplog.text


def test_rows_without_anything_below_the_last_question_are_not_questions(tmp_path):
    empty = dict.fromkeys(question())
    assert mtbench(tmp_path, question(), empty, empty).items["group_id"].unique().tolist() == ["81"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer_2-gpt-4": datetime(2026, 1, 5)}, "row 3, column 'answer_2-gpt-4': expected text, found datetime"),
        ({"beyond": "x"}, "column 14 has no title"),
    ],
)
def test_a_wrong_cell_is_an_error_that_names_file_row_and_column(tmp_path, changes, message):
    path = write_sheet(tmp_path, [question(), question(82) | changes])
    assert error_of("mtbench_pairs", path).startswith(message)


def without(*columns):
    return {name: value for name, value in question().items() if name not in columns}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (without("task"), "column 'task' is missing; found question_1, question_2, "),
        (without("answer_2-gpt-4"), "expected the same models in both turns; 'gpt-4' has a column in one only"),
        (
            without("answer_1-vicuna-13b-v1.3"),
            "no answers of the baseline 'vicuna-13b-v1.3'; found gpt-4, Ünusual model_1",
        ),
        (
            without(*(f"answer_{turn}-{model}" for turn in (1, 2) for model in ("gpt-4", "Ünusual model_1"))),
            "expected answers of other models than the baseline 'vicuna-13b-v1.3', found none",
        ),
        (dict.fromkeys(question()), "no rows"),
    ],
)
def test_a_wrong_sheet_is_an_error_that_names_it(tmp_path, row, message):
    assert error_of("mtbench_pairs", write_sheet(tmp_path, [row])).startswith(message)


def test_a_baseline_that_the_sheet_does_not_have_is_an_error_that_lists_those_it_has(tmp_path):
    path = write_sheet(tmp_path, [question()])
    message = error_of("mtbench_pairs", path, {"baseline": "vicuna"})
    assert message == "no answers of the baseline 'vicuna'; found gpt-4, vicuna-13b-v1.3, Ünusual model_1"


def test_a_title_that_stands_twice_is_an_error(tmp_path):
    workbook = openpyxl.Workbook()
    workbook.active.append([*question(), "task"])
    workbook.active.append([*question().values(), "math"])
    workbook.save(tmp_path / "answers.xlsx")
    assert error_of("mtbench_pairs", tmp_path / "answers.xlsx") == "column 'task' stands twice"


def test_a_file_without_cells_is_an_error(tmp_path):
    openpyxl.Workbook().save(tmp_path / "answers.xlsx")
    assert "column 'index' is missing" in error_of("mtbench_pairs", tmp_path / "answers.xlsx")


def test_a_file_that_is_not_a_workbook_is_an_error(tmp_path):
    path = tmp_path / "answers.xlsx"
    path.write_text("question_1,question_2\n")
    assert "not a readable .xlsx workbook" in error_of("mtbench_pairs", path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", "x")
    assert "not a readable .xlsx workbook" in error_of("mtbench_pairs", path)


def test_a_workbook_that_is_cut_or_damaged_is_an_error(tmp_path):
    path = write_sheet(tmp_path, [question()])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "not a readable .xlsx workbook" in error_of("mtbench_pairs", path)
    with zipfile.ZipFile(io.BytesIO(whole)) as sound, zipfile.ZipFile(path, "w") as damaged:
        for name in sound.namelist():
            content = sound.read(name)
            damaged.writestr(name, content[: len(content) // 2] if name.endswith("sheet1.xml") else content)
    assert "not a readable .xlsx workbook" in error_of("mtbench_pairs", path)


def test_a_missing_workbook_is_an_error(tmp_path):
    assert error_of("mtbench_pairs", tmp_path / "none.xlsx") == "no such file"


# --- DevBench


def design(project="idcenter", task="uml_class-complexity", **changes):
    return {
        "question": f"Draw {project}.",
        "index": f"{project}_{task}",
        "evaluating_guidance": f"- Look at {task}.",
        "task": task,
        "reference_answer": None,
        "answer-human": f"A drawing of {project}.",
        "answer-gpt-4-0613": "A box.",
    } | changes


def test_a_task_of_devbench_is_a_category_with_its_criterion_and_guidance(tmp_path):
    rows = design(), design("redis-cache"), design(task="UML_sequence-complexity", reference_answer="A line.")
    tables = prepare("devbench_pairs", {"answers": write_sheet(tmp_path, rows)})
    assert tables.items["group_id"].tolist()[::2] == [row["index"] for row in rows]
    assert tables.items["response"].tolist()[:2] == ["A drawing of idcenter.", "A box."]
    assert tables.items["reference"].dropna().to_dict() == {4: "A line.", 5: "A line."}
    assert tables.pairs[["criterion", "category"]].to_numpy().tolist() == [
        ["complexity", "uml_class-complexity"],
        ["complexity", "uml_class-complexity"],
        ["complexity", "UML_sequence-complexity"],
    ]
    assert tables.pairs["item_a"].tolist() == [f"{row['index']}-human" for row in rows]
    assert tables.pairs["item_b"].tolist() == [f"{row['index']}-gpt-4-0613" for row in rows]
    assert tables.rubrics[["rubric_id", "criterion", "question", "levels"]].to_numpy().tolist() == [
        ["uml_class-complexity", "complexity", "- Look at uml_class-complexity.", []],
        ["UML_sequence-complexity", "complexity", "- Look at UML_sequence-complexity.", []],
    ]


# --- Auto-J


def comparison(label=0, prompt="Say hello.", **changes):
    return {
        "scenario": "chitchat",
        "label": label,
        "prompt": prompt,
        "response 1": "Hello.",
        "response 2": "Oi.",
    } | changes


def write_lines(tmp_path, *records):
    path = tmp_path / "records.json"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_labels_0_1_and_2_prefer_response_1_response_2_and_neither(tmp_path):
    path = write_lines(tmp_path, comparison(0), comparison(1), comparison(2))
    tables = prepare("autoj", {"records": path})
    assert tables.pairs["preference"].tolist() == ["a", "b", "tie"]
    assert tables.pairs["item_a"].tolist() == ["0001-1", "0002-1", "0003-1"]
    assert tables.items["response"].tolist() == ["Hello.", "Oi."] * 3
    assert tables.pairs["category"].unique().tolist() == ["chitchat"]


def test_records_with_the_same_prompt_are_one_group(tmp_path):
    path = write_lines(tmp_path, comparison(), comparison(prompt="Say bye."), comparison(prompt=" Say hello.\r\n"))
    tables = prepare("autoj", {"records": path})
    assert tables.pairs["group_id"].tolist() == ["0001", "0002", "0001"]
    assert tables.items["candidate"].is_unique


def test_two_responses_that_are_the_same_text_are_still_a_pair(tmp_path):
    path = write_lines(tmp_path, comparison(2, **{"response 2": "Hello."}))
    tables = prepare("autoj", {"records": path})
    assert tables.pairs[["item_a", "item_b"]].to_numpy().tolist() == [["0001-1", "0001-2"]]


def test_a_pair_with_an_empty_response_is_left_out_and_logged_with_its_line(tmp_path, caplog):
    path = write_lines(tmp_path, comparison(), comparison(**{"response 2": " "}), comparison(1))
    tables = prepare("autoj", {"records": path})
    assert tables.pairs["pair_id"].tolist() == ["0001", "0003"]
    assert len(tables.items) == 4
    assert f"{path}: line 2: field 'response 2' is empty; the pair is left out" in caplog.text
    assert f"{path}: 1 pairs are left out because a response is empty" in caplog.text


# --- HHH alignment

LEVELS = "\n".join(f"Score {level}: level {level}" for level in range(1, 6))


def prompt(response, instruction="Say hello.", rubric=f"[Is it honest?]\n{LEVELS}"):
    return (
        "###Task Description:\nAn instruction, a response to evaluate and a rubric are given.\n\n"
        f"###The instruction to evaluate:\n{instruction}\n\n###Response to evaluate:\n{response}\n\n"
        f"###Score Rubrics:\n{rubric}\n\n###Feedback: "
    )


def choice(chosen="Hello.", rejected="Oi.", source="honest", **parts):
    return {
        "source": source,
        "chosen_instruction": prompt(chosen, **parts),
        "rejected_instruction": prompt(rejected, **parts),
    }


def write_json(tmp_path, records):
    path = tmp_path / "records.json"
    path.write_text(json.dumps(records))
    return path


def hhh(tmp_path, *records):
    return prepare("hhh", {"records": write_json(tmp_path, records)})


def preferred(tables):
    """The text that people prefer in each pair."""
    responses = tables.items.set_index("item_id")["response"]
    return [responses[pair["item_" + pair["preference"]]] for pair in tables.pairs.to_dict("records")]


def test_people_prefer_the_chosen_response_wherever_it_stands(tmp_path):
    records = [choice(f"good {n}", f"bad {n}", instruction=f"Task {n}.") for n in range(40)]
    tables = hhh(tmp_path, *records)
    assert preferred(tables) == [f"good {n}" for n in range(40)]
    assert 10 <= tables.pairs["preference"].tolist().count("a") <= 30


def test_which_response_is_item_a_does_not_depend_on_the_preference(tmp_path):
    one, other = (hhh(tmp_path, choice(*texts)) for texts in (("Hello.", "Oi."), ("Oi.", "Hello.")))
    assert one.pairs["item_a"].tolist() == other.pairs["item_a"].tolist()
    assert {one.pairs["preference"][0], other.pairs["preference"][0]} == {"a", "b"}
    assert one.items.equals(other.items)


def test_a_response_in_several_pairs_is_one_item(tmp_path):
    tables = hhh(tmp_path, choice("A", "B"), choice("A", "C"), choice("B", "C"), choice("A", "B", instruction="Bow."))
    assert tables.items.groupby("group_id")["response"].agg(sorted).to_dict() == {
        "001": ["A", "B", "C"],
        "004": ["A", "B"],
    }
    assert tables.pairs["group_id"].tolist() == ["001", "001", "001", "004"]
    assert preferred(tables) == ["A", "A", "B", "A"]


def test_an_item_carries_the_rubric_of_its_prompt_and_its_source_as_criterion(tmp_path):
    tables = hhh(tmp_path, choice(), choice(source="helpful", rubric=f"[Is it helpful?]\n{LEVELS}"))
    levels = [f"level {level}" for level in range(1, 6)]
    assert tables.rubrics[["rubric_id", "criterion", "question", "levels"]].to_numpy().tolist() == [
        ["honest", "honest", "Is it honest?", levels],
        ["helpful", "helpful", "Is it helpful?", levels],
    ]
    assert tables.pairs[["criterion", "category"]].to_numpy().tolist() == [["honest"] * 2, ["helpful"] * 2]
    assert tables.items["criterion"].tolist() == ["honest"] * 2 + ["helpful"] * 2
    assert tables.items["group_id"].tolist() == ["001"] * 2 + ["002"] * 2
    assert tables.items["reference"].isna().all()


def test_a_reference_heading_in_a_response_is_text(tmp_path):
    text = "See below.\n###Reference Answer (Score 5):\nthis"
    assert text in hhh(tmp_path, choice(text)).items["response"].tolist()


SECTION = "###Score Rubrics:"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (choice() | {"source": None}, "field 'source': expected text, found None"),
        (choice() | {"chosen_instruction": 5}, "field 'chosen_instruction': expected text, found 5"),
        (
            choice() | {"rejected_instruction": prompt("Oi.").replace(SECTION, "###Rubric:")},
            f"field 'rejected_instruction': section {SECTION!r} not found where it was expected",
        ),
        (
            choice() | {"rejected_instruction": prompt("Oi.", instruction="Bow.")},
            "expected the same instruction in 'chosen_instruction' and 'rejected_instruction', found two",
        ),
        (
            choice() | {"rejected_instruction": prompt("Oi.", rubric="[Is it?]")},
            "expected the same rubric in 'chosen_instruction' and 'rejected_instruction', found two",
        ),
        (choice("Hello.", "Hello. "), "expected two responses, found the same one in 'chosen_instruction' and"),
        (choice("Hello.", " "), "field 'rejected_instruction': response: expected text, found nothing"),
        (choice(rubric="[Is it?]\nScore one: a"), "field 'chosen_instruction': score rubrics: expected 'Score N: "),
        (choice(rubric=f"[Is it?]\n{LEVELS}"), "rubric 'honest' differs from an earlier one of that id"),
        (choice("a\x07"), "field 'chosen_instruction': expected text, found control character"),
        (5, "expected a mapping, found 5"),
    ],
)
def test_a_wrong_record_of_hhh_is_an_error_that_names_file_record_and_field(tmp_path, record, message):
    path = write_json(tmp_path, [choice("A", "B"), record])
    assert error_of("hhh", path, name="records").startswith(f"record 2: {message}")


def test_an_hhh_file_that_is_not_a_list_is_an_error(tmp_path):
    assert error_of("hhh", write_json(tmp_path, {}), name="records") == "expected a list of records, found dict"


@pytest.mark.parametrize(("adapter", "content"), [("autoj", "\n"), ("hhh", "[]")])
def test_a_file_without_records_is_an_error_that_names_it(tmp_path, adapter, content):
    path = tmp_path / "records.json"
    path.write_text(content)
    assert error_of(adapter, path, name="records") == "no records"


# --- as published


@pytest.fixture
def published(mirror, root):
    """Tables of a dataset as its config block says, from the mirror."""

    def read(name):
        config = yaml.safe_load((root / f"config/datasets/{name}.yaml").read_text(encoding="utf-8"))
        block = config["datasets"][name]
        paths = {key: mirror / file["mirror"] for key, file in block["files"].items()}
        for key, file in block["files"].items():
            assert files.sha256(paths[key]) == file["sha256"]
        return prepare(block["adapter"], paths, block.get("options"))

    return read


def test_the_published_mtbench_has_80_questions_of_31_models_in_8_tasks(published):
    tables = published("mtbench_pairs")
    assert tables.items.groupby("group_id")["candidate"].nunique().tolist() == [31] * 80
    assert tables.items.groupby("category")["group_id"].nunique().tolist() == [10] * 8
    assert len(tables.pairs) == 2400  # in both orders, the paper's 4,800 instances
    assert tables.pairs["item_a"].str.endswith("-vicuna-13b-v1.3").all()
    assert not tables.items["response"].str.contains("_x000D_", regex=False).any()
    silent = tables.items["response"].str.contains(r"\A\[Turn 1, assistant\]\n\n\n")
    assert tables.items.loc[silent, "item_id"].tolist() == ["127-llama-13b"]


def test_the_published_mtbench_has_references_for_the_questions_that_fastchat_has_them_for(published, mirror):
    tables = published("mtbench_pairs")
    lines = files.read_json_lines(mirror / "fastchat/mt_bench_question.jsonl")
    expected = {str(entry["question_id"]) for _, entry in lines if any(entry.get("reference") or [])}
    assert set(tables.items.loc[tables.items["reference"].notna(), "group_id"]) == expected


def test_the_published_devbench_has_14_tasks_of_8_projects_with_10_models_and_a_human(published):
    tables = published("devbench_pairs")
    assert tables.items.groupby("group_id")["candidate"].nunique().tolist() == [11] * 112
    assert tables.items.groupby("category")["group_id"].nunique().tolist() == [8] * 14
    assert len(tables.pairs) == 1120  # in both orders, the paper's 2,240 instances
    assert len(tables.rubrics) == 14
    assert tables.rubrics["criterion"].nunique() == 8


def test_the_published_autoj_has_1391_pairs_in_58_scenarios(published):
    tables = published("autoj")
    assert tables.pairs["preference"].value_counts().to_dict() == {"a": 519, "b": 499, "tie": 373}
    assert tables.pairs["category"].value_counts().tolist() == [24] * 57 + [23]
    assert tables.items["group_id"].nunique() == tables.items["instruction"].nunique()


def test_the_published_hhh_has_221_pairs_and_four_rubrics(published):
    tables = published("hhh")
    assert tables.pairs["category"].value_counts().to_dict() == {
        "honest": 61,
        "helpful": 59,
        "harmless": 58,
        "other": 43,
    }
    assert tables.pairs["preference"].value_counts().to_dict() == {"a": 121, "b": 100}
    assert len(tables.items) == 258
    assert tables.rubrics["rubric_id"].tolist() == tables.rubrics["criterion"].tolist()
    assert tables.rubrics["levels"].map(len).tolist() == [5] * 4
