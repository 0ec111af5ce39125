import ast
import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from rubric_order import datasets
from rubric_order.base.errors import InputError
from rubric_order.datasets import Item
from rubric_order.datasets.rubrics import Rubric
from rubric_order.extras.papers.datasets import hanna, prometheus

RUBRIC = Rubric("r", "quality", "Is it good?", ("no", "yes"))
OTHER = Rubric("other", "quality", "Is it bad?", ("yes", "no"))
RATERS = (1, 2, 3)
CRITERIA = {
    "relevance": ("RE", "Relevance"),
    "coherence": ("CH", "Coherence"),
    "empathy": ("EM", "Empathy"),
    "surprise": ("SU", "Surprise"),
    "engagement": ("EG", "Engagement"),
    "complexity": ("CX", "Complexity"),
}


def prepare(name, adapter, limit=None, **files):
    tables = datasets.prepare(name, datasets.read(adapter, files), limit=limit)
    return tables.items, tables.rubrics


def item(item_id="x-a", group_id="x", **changes):
    values = {"candidate": "a", "instruction": "Do.", "response": "Done.", "rubric": RUBRIC}
    return Item(where=f"rows, {item_id}", item_id=item_id, group_id=group_id, **{**values, **changes})


# --- what every dataset must satisfy


def test_one_row_an_item_and_one_a_rubric():
    tables = datasets.prepare("d", [item("x-a", human_scores=[2, 3]), item("y-a", "y", category="c")])
    items, rubrics = tables.items, tables.rubrics
    assert items["item_id"].tolist() == ["x-a", "y-a"]
    assert items["human_score"].tolist() == pytest.approx([2.5, np.nan], nan_ok=True)
    assert items["human_scores"].tolist() == [[2.0, 3.0], []]
    assert items["category"].isna().tolist() == [True, False]
    assert items["dataset"].unique().tolist() == ["d"]
    assert rubrics.to_dict("records") == [
        {"rubric_id": "r", "criterion": "quality"}
        | {"name": "Quality", "short": "Is it good?", "question": "Is it good?", "levels": ["no", "yes"], "lowest": 1}
    ]


def test_text_is_in_form_nfc_with_plain_line_ends_and_nothing_around_it():
    assert datasets.clean(" \r\ne\u0301a\r\nb\rc\t\n", "here") == "\u00e9a\nb\nc"


@pytest.mark.parametrize("text", ["a\nb\tc", "\u2028", "👩‍🔬", "\u202e", "{{ x }}", "ﬁve² ½ Ａ…", "don’t"])
def test_ordinary_and_odd_characters_are_kept(text):
    assert datasets.clean(f"a{text}b", "here") == f"a{text}b"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"response": ""}, "field 'response': expected text, found nothing"),
        ({"response": " \n\t"}, "field 'response': expected text, found nothing"),
        ({"response": None}, "field 'response': expected text, found None"),
        ({"instruction": 5}, "field 'instruction': expected text, found 5"),
        ({"reference": ""}, "field 'reference': expected text, found nothing"),
        ({"response": "ding\x07"}, r"field 'response': expected text, found control character '\x07' at offset 4"),
        ({"response": "a\x00b"}, r"expected text, found control character '\x00' at offset 1"),
        ({"response": "a\x7fb"}, r"expected text, found control character '\x7f' at offset 1"),
        ({"response": "a\ud83db"}, r"expected text, found control character '\ud83d' at offset 1"),
        ({"candidate": None}, "field 'candidate': expected text, found None"),
        ({"candidate": 4}, "field 'candidate': expected text, found 4"),
        ({"group_id": 4}, "field 'group_id': expected text, found 4"),
        ({"rubric": None}, "item 'x-a' has no rubric"),
        ({"human_scores": ["3"]}, "field 'human_scores': expected numbers, found '3'"),
        ({"human_scores": [3, None]}, "field 'human_scores': expected numbers, found None"),
        ({"human_scores": [float("nan")]}, "field 'human_scores': expected numbers, found nan"),
        ({"reference_labels": [True]}, "field 'reference_labels': expected numbers, found True"),
        ({"rubric": Rubric("r", "q", "", ("no", "yes"))}, "rubric: question: expected text, found nothing"),
        ({"rubric": Rubric("r", "q", "Q", ("no", "\x07"))}, "rubric: level 2: expected text, found control"),
    ],
)
def test_a_wrong_item_is_an_error_that_names_row_and_field(changes, message):
    with pytest.raises(InputError, match=re.escape(message)) as error:
        datasets.prepare("d", [item("w-a", "w", rubric=OTHER), item(**changes)])
    assert str(error.value).startswith("rows, x-a: ")
    assert "\n" not in str(error.value)


def test_an_item_id_that_stands_twice_is_an_error_that_names_both_places():
    first, second = item(), item()
    second.where = "rows, the second"
    with pytest.raises(InputError, match="rows, the second: item id 'x-a' is already used by rows, x-a"):
        datasets.prepare("d", [first, second])


def test_two_rubrics_of_one_id_are_an_error():
    other = Rubric("r", "quality", "Is it bad?", ("no", "yes"))
    with pytest.raises(InputError, match="rubric 'r' differs from an earlier one"):
        datasets.prepare("d", [item("x-a"), item("x-b", rubric=other)])


def test_no_items_is_an_error_that_names_the_dataset():
    with pytest.raises(InputError, match="dataset empty_one: no items"):
        datasets.prepare("empty_one", [])


def test_limit_keeps_all_items_of_the_first_groups_even_if_they_are_scattered():
    order = [("x", "a"), ("y", "a"), ("z", "a"), ("x", "b"), ("z", "b"), ("y", "b")]
    rows = [item(f"{group}-{candidate}", group) for group, candidate in order]
    items = datasets.prepare("d", rows, limit=2).items
    assert items["item_id"].tolist() == ["x-a", "y-a", "x-b", "y-b"]
    assert len(datasets.prepare("d", rows, limit=9).items) == 6


def test_limit_leaves_out_the_rubrics_of_the_other_groups():
    rubrics = [Rubric(group, "quality", "Is it good?", ("no", "yes")) for group in "xyz"]
    rows = [item(f"{rubric.rubric_id}-a", rubric.rubric_id, rubric=rubric) for rubric in rubrics]
    assert datasets.prepare("d", rows, limit=1).rubrics["rubric_id"].tolist() == ["x"]


def test_a_file_that_config_does_not_name_is_an_error_that_says_what_the_adapter_needs():
    with pytest.raises(
        InputError, match="'hanna' needs files stories, ratings, rubrics; config does not name 'rubrics'"
    ):
        datasets.read("hanna", {"stories": None, "ratings": None})


# --- demo


@pytest.fixture(scope="module")
def demo(pytestconfig):
    return prepare("demo", "demo", tasks=pytestconfig.rootpath / "resources/demo/tasks.yaml")


def test_the_demo_has_80_items_in_20_groups_and_every_level_16_times(demo):
    items, rubrics = demo
    assert len(items) == 80
    assert items.groupby("group_id").size().tolist() == [4] * 20
    assert items["human_score"].value_counts().to_dict() == {1.0: 16, 2.0: 16, 3.0: 16, 4.0: 16, 5.0: 16}
    assert len(rubrics) == 20
    assert rubrics["levels"].map(len).unique().tolist() == [5]


def test_the_responses_of_the_demo_have_40_to_200_words(demo):
    words = demo[0]["response"].str.split().map(len)
    assert words.min() >= 40
    assert words.max() <= 200


def test_no_two_responses_of_the_demo_are_the_same_and_each_task_has_a_reference(demo):
    items, _ = demo
    assert items["response"].is_unique
    assert items["reference"].notna().all()
    assert items.groupby("group_id")["human_score"].nunique().min() >= 3


TASK = {
    "id": "greet",
    "category": "talk",
    "instruction": "Say hello.",
    "reference": "Good day.",
    "rubric": {"criterion": "Is it polite?", "levels": {1: "no", 2: "somewhat", 3: "yes"}},
    "responses": [{"candidate": "a", "level": 1, "text": "Oi."}, {"candidate": "b", "level": 3, "text": "Hello."}],
}


def test_the_demo_can_be_cut_to_the_first_responses_of_each_task(pytestconfig):
    tasks = pytestconfig.rootpath / "resources/demo/tasks.yaml"
    items, _ = prepare("demo", "demo", tasks=tasks, responses=1)
    assert items.groupby("group_id").size().tolist() == [1] * 20
    assert items["human_score"].value_counts().to_dict() == dict.fromkeys([1.0, 2.0, 3.0, 4.0, 5.0], 4)


def write_tasks(tmp_path, *tasks):
    path = tmp_path / "tasks.yaml"
    path.write_text(yaml.safe_dump(list(tasks), sort_keys=False))
    return path


def test_a_small_demo_file_is_read(tmp_path):
    items, rubrics = prepare("small", "demo", tasks=write_tasks(tmp_path, TASK))
    assert items[["item_id", "group_id", "candidate", "criterion", "rubric_id", "human_score"]].to_numpy().tolist() == [
        ["greet-a", "greet", "a", "quality", "greet", 1.0],
        ["greet-b", "greet", "b", "quality", "greet", 3.0],
    ]
    assert rubrics["levels"].tolist() == [["no", "somewhat", "yes"]]


def test_a_demo_file_without_a_list_is_an_error(tmp_path):
    path = tmp_path / "tasks.yaml"
    path.write_text("tasks: []\n")
    with pytest.raises(InputError, match="expected a list of tasks, found dict"):
        prepare("small", "demo", tasks=path)


# --- prometheus


def prompt(instruction="Say hello.", response="Hello.", reference="Good day.", rubric=None):
    rubric = rubric or "[Is it polite?]\nScore 1: no\nScore 2: barely\nScore 3: so so\nScore 4: yes\nScore 5: very"
    return (
        "###Task Description:\nAn instruction, a response to evaluate and a rubric are given.\n\n"
        f"###The instruction to evaluate:\n{instruction}\n\n###Response to evaluate:\n{response}\n\n"
        f"###Reference Answer (Score 5):\n{reference}\n\n###Score Rubrics:\n{rubric}\n\n###Feedback: "
    )


def record(text=None, **changes):
    values = {"idx": 7, "response_source": "model", "category": "talk", "gpt4_score": [3, 4, 4]}
    return {**values, "instruction": prompt() if text is None else text, **changes}


def write_records(tmp_path, records):
    path = tmp_path / "records.json"
    path.write_text(json.dumps(records))
    return path


def test_a_prometheus_record_is_cut_into_its_sections(tmp_path):
    path = write_records(tmp_path, [record(), record(response_source="other")])
    items, rubrics = prepare("small", "prometheus", records=path)
    first = items.iloc[0]
    assert items["item_id"].tolist() == ["007-model", "007-other"]
    assert first[["group_id", "candidate", "category"]].tolist() == ["007", "model", "talk"]
    assert first[["instruction", "response", "reference"]].tolist() == ["Say hello.", "Hello.", "Good day."]
    assert first["reference_labels"] == [3.0, 4.0, 4.0]
    assert first["human_scores"] == []
    assert rubrics.to_dict("records") == [
        {
            "rubric_id": "007",
            "criterion": "overall",
            "name": "Overall",
            "short": "Is it polite?",
            "question": "Is it polite?",
            "levels": ["no", "barely", "so so", "yes", "very"],
            "lowest": 1,
        }
    ]


def test_records_are_grouped_by_instruction_where_several_rubrics_share_a_prompt(tmp_path):
    """The shape in which FLASK with people's scores is expected."""
    other = "[Is it short?]\nScore 1: no\nScore 2: barely\nScore 3: so so\nScore 4: yes\nScore 5: very"
    rows = [
        {"instruction": prompt(), "human_score": [3, 4, 5], "gpt4_score": [4]},
        {"instruction": prompt(rubric=other), "human_score": [1, 2], "gpt4_score": [2]},
        {"instruction": prompt(response="Hi."), "human_score": [2], "gpt4_score": [2]},
        {"instruction": prompt("Say bye.", "Bye.", rubric=other), "human_score": [5], "response_source": "m"},
    ]
    rows[2]["instruction"] = rows[2]["instruction"].replace("###Reference Answer (Score 5):\nGood day.\n\n", "")
    path = write_records(tmp_path, rows)
    read = datasets.read("prometheus", {"records": path}, {"group_by": "instruction"})
    items = datasets.prepare("flask_human", read).items
    assert items[["item_id", "group_id", "criterion", "human_score"]].to_numpy().tolist() == [
        ["000-response_1-criterion_1", "000", "criterion_1", 4.0],
        ["000-response_1-criterion_2", "000", "criterion_2", 1.5],
        ["000-response_2-criterion_1", "000", "criterion_1", 2.0],
        ["001-m-criterion_2", "001", "criterion_2", 5.0],
    ]
    assert items["reference"].fillna("").tolist() == ["Good day.", "Good day.", "", "Good day."]
    assert items["reference_labels"].tolist() == [[4.0], [2.0], [2.0], []]


def test_feedback_bench_is_read_by_path_and_its_scores_are_labels(tmp_path):
    rows = [{"instruction": prompt(), "orig_score": "4"}, {"instruction": prompt(response="Hi."), "orig_score": 2}]
    path = write_records(tmp_path, rows)
    read = datasets.read("prometheus", {"records": path}, {"group_by": "instruction"})
    assert datasets.prepare("feedback_bench", read).items["reference_labels"].tolist() == [[4.0], [2.0]]
    path = write_records(tmp_path, [rows[0], rows[1] | {"orig_score": "good"}])
    with pytest.raises(InputError, match="record 2: field 'orig_score': expected a number, found 'good'"):
        datasets.prepare("d", datasets.read("prometheus", {"records": path}, {"group_by": "instruction"}))


def test_a_list_of_human_scores_that_is_none_is_named(tmp_path):
    path = write_records(tmp_path, [{"instruction": prompt(), "human_score": 4}])
    read = datasets.read("prometheus", {"records": path}, {"group_by": "instruction"})
    with pytest.raises(InputError, match="record 1: field 'human_score': expected list, found 4"):
        datasets.prepare("flask_human", read)
    with pytest.raises(InputError, match="expected idx or instruction, found 'prompt'"):
        datasets.prepare("flask_human", datasets.read("prometheus", {"records": path}, {"group_by": "prompt"}))


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("instruction", "Explain what ###Score Rubrics: and ###Feedback: mean."),
        ("instruction", "Say:\n###The instruction to evaluate:\nthis."),
        ("response", "I start with\n###Response to evaluate:\nand go on."),
        ("response", "They wrote ###Score Rubrics:\n[Is it?]\nScore 1: no\n###Feedback: fine [RESULT] 5"),
        ("response", "###The instruction to evaluate: is a heading."),
        ("reference", "A rubric begins with ###Score Rubrics: and ends before ###Feedback:."),
        ("reference", "See ###Response to evaluate: above."),
    ],
)
def test_headings_inside_the_texts_are_text(tmp_path, field, text):
    path = write_records(tmp_path, [record(prompt(**{field: text}))])
    items, _ = prepare("small", "prometheus", records=path)
    texts = {"instruction": "Say hello.", "response": "Hello.", "reference": "Good day.", field: text}
    assert items.iloc[0][list(texts)].to_dict() == texts


def test_windows_line_ends_of_a_prometheus_prompt_are_read_like_plain_ones(tmp_path):
    plain = write_records(tmp_path, [record()])
    expected = prepare("small", "prometheus", records=plain)
    windows = write_records(tmp_path, [record(prompt().replace("\n", "\r\n"))])
    for table, other in zip(prepare("small", "prometheus", records=windows), expected, strict=True):
        pd.testing.assert_frame_equal(table, other)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (record(prompt().replace("###Score Rubrics:", "###Rubric:")), "section '###Score Rubrics:' not found"),
        (record(prompt().replace("###Feedback:", "")), "section '###Feedback:' not found"),
        (record(prompt().replace("###Response to evaluate:", "")), "section '###Response to evaluate:' not found"),
        (record(prompt(rubric="Is it?\nScore 1: no")), "expected a question in brackets, found 'Is it?'"),
        (record(prompt(rubric="[Is it?]\nScore 1: a\nScore 3: b")), "score rubrics: level 2 is missing"),
        (record(prompt(rubric="[Is it?]\nScore 1: a\nScore 1: b")), "score rubrics: score 1 stands twice"),
        (record(prompt(rubric="[Is it?]\nScore one: a")), "expected 'Score N: description', found 'Score one: a'"),
        (record(prompt(response=" ")), "field 'response': expected text, found nothing"),
        (record(prompt(response="a\x07b")), "field 'instruction': expected text, found control character"),
    ],
)
def test_a_wrong_record_is_an_error_that_names_file_record_and_field(tmp_path, second, message):
    path = write_records(tmp_path, [record(response_source="first"), second])
    with pytest.raises(InputError, match=re.escape(message)) as error:
        prepare("small", "prometheus", records=path)
    assert str(error.value).startswith(f"{path}: record 2: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[\n {"idx": 1},\n {"idx": }\n]', "line 3, column 10: malformed JSON"),
        (b'[\n "caf\xe9"]', "line 2: expected UTF-8, found byte 0xe9"),
        (b'{"idx": 1}', "expected a list of records, found dict"),
        (b"", "line 1, column 1: malformed JSON"),
    ],
)
def test_a_file_that_is_not_a_list_of_records_is_an_error_that_names_the_line(tmp_path, content, message):
    path = tmp_path / "records.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        prepare("small", "prometheus", records=path)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match=re.escape(f"{tmp_path / 'none.json'}: no such file")):
        prepare("small", "prometheus", records=tmp_path / "none.json")


# --- hanna


def hanna_scores():
    """Scores by column, story s from 0: different for each criterion, rater and story."""
    return {
        f"Human {rater} {code}": [(story + rater * place) % 5 + 1 for story in range(96)]
        for place, (code, _) in enumerate(CRITERIA.values(), start=1)
        for rater in RATERS
    }


def write_hanna(tmp_path, root, *, stories=None, cells=None, models=("Human", "GPT-2")):
    rows = (
        [(f"Prompt {n}", f'Story {n},\nwith a comma and "quotes"') for n in range(96)] if stories is None else stories
    )
    paths = {name: tmp_path / f"{name}.csv" for name in ("stories", "ratings")}
    with open(paths["stories"], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["", "Prompt", "Human", "Story", "Model"])
        for system in ("GPT-2", "CTRL"):  # each human story stands beside every system's
            writer.writerows([number, *row, "generated", system] for number, row in enumerate(rows))
    values = {name: str(scores) for name, scores in hanna_scores().items()} | (cells or {})
    values = {name: value for name, value in values.items() if value is not ...}
    with open(paths["ratings"], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Model", *values])
        for model in models:
            writer.writerow([model, *(values.values() if model == "Human" else ["[]"] * len(values))])
    return paths | {"rubrics": root / "resources/rubrics/hanna.yaml"}


def test_hanna_is_each_story_under_each_criterion_with_the_three_scores_of_its_row(tmp_path, root):
    items, rubrics = prepare("hanna", "hanna", **write_hanna(tmp_path, root))
    assert len(items) == 576
    assert len(rubrics) == 6
    assert rubrics["levels"].map(len).unique().tolist() == [9]
    row = items.set_index("item_id").loc["042-empathy"]
    assert row["response"] == 'Story 42,\nwith a comma and "quotes"'
    assert row["instruction"] == "Write a short story for the following prompt.\n\nPrompt 42"
    assert row["human_scores"] == [(42 + rater * 3) % 5 + 1 for rater in RATERS]
    assert row["rubric_id"] == "hanna_empathy"
    assert row["reference"] is None or pd.isna(row["reference"])


def test_a_prompt_that_holds_braces_is_data(tmp_path, root):
    stories = [(f"Prompt {n} {{0}} {{}} {{name}}", f"Story {n}") for n in range(96)]
    items, _ = prepare("hanna", "hanna", limit=1, **write_hanna(tmp_path, root, stories=stories))
    assert items["instruction"][0].endswith("Prompt 0 {0} {} {name}")


def test_limit_keeps_the_first_stories_under_all_criteria(tmp_path, root):
    items, _ = prepare("hanna", "hanna", limit=2, **write_hanna(tmp_path, root))
    assert items["group_id"].tolist() == ["000"] * 6 + ["001"] * 6


def hanna_error(files):
    with pytest.raises(InputError) as error:
        prepare("hanna", "hanna", **files)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500
    return str(error.value)


ONES = [1] * 95


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("[1, 2", "expected a list of scores, found '[1, 2'"),
        ("", "expected a list of scores, found ''"),
        ("__import__('os').getcwd()", "expected a list of scores, found \"__import__('os').getcwd()\""),
        ("[1, 2]", "expected a list of 96 scores, found '[1, 2]'"),
        (str([*ONES, 6]), "story 96: expected a score from 1 to 5, found 6"),
        (str([2.5, *ONES]), "story 1: expected a score from 1 to 5, found 2.5"),
        (str(["4", *ONES]), "story 1: expected a score from 1 to 5, found '4'"),
        (str([None, *ONES]), "story 1: expected a score from 1 to 5, found None"),
    ],
)
def test_a_wrong_cell_of_ratings_is_an_error_that_names_row_column_and_story(tmp_path, root, cell, message):
    files = write_hanna(tmp_path, root, cells={"Human 2 EM": cell})
    assert hanna_error(files) == f"{files['ratings']}: row 'Human', column 'Human 2 EM': {message}"


@pytest.mark.parametrize(
    ("changes", "file", "message"),
    [
        ({"cells": {"Human 2 EM": ...}}, "ratings", "column 'Human 2 EM' is missing; found Model, Human 1 RE, "),
        ({"models": ("GPT-2",)}, "ratings", "expected one row with Model 'Human', found 0"),
        ({"models": ("Human", "Human")}, "ratings", "expected one row with Model 'Human', found 2"),
        ({"stories": [("P", "S")]}, "stories", "expected 96 distinct human stories, found 1"),
        ({"stories": []}, "stories", "no rows"),
        ({"stories": [(f"P{n}", "S" if n != 5 else " ") for n in range(96)]}, "stories", "story 6: field 'response': "),
    ],
)
def test_a_wrong_hanna_file_is_an_error_that_names_it(tmp_path, root, changes, file, message):
    files = write_hanna(tmp_path, root, **changes)
    assert hanna_error(files).startswith(f"{files[file]}: {message}")


@pytest.mark.parametrize(("file", "column"), [("stories", "Prompt"), ("stories", "Human"), ("ratings", "Model")])
def test_a_missing_column_is_an_error_that_names_it(tmp_path, root, file, column):
    files = write_hanna(tmp_path, root)
    header, _, rest = files[file].read_text().partition("\n")
    files[file].write_text(header.replace(f"{column},", f"Other {column},", 1) + "\n" + rest)
    with pytest.raises(InputError, match=re.escape(f"{files[file]}: column '{column}' is missing; found ")):
        prepare("hanna", "hanna", **files)


def test_a_hanna_file_that_is_not_utf_8_is_an_error_that_names_the_line(tmp_path, root):
    files = write_hanna(tmp_path, root)
    files["stories"].write_bytes(files["stories"].read_bytes() + b"x,\xff,,,\n")
    with pytest.raises(InputError, match=r"stories.csv: line \d+: expected UTF-8, found byte 0xff"):
        prepare("hanna", "hanna", **files)


def test_a_criterion_without_a_rubric_is_an_error(tmp_path, root):
    files = write_hanna(tmp_path, root)
    entries = yaml.safe_load(files["rubrics"].read_text())
    files["rubrics"] = tmp_path / "rubrics.yaml"
    files["rubrics"].write_text(yaml.safe_dump(entries[:-1]))
    with pytest.raises(InputError, match="no rubric for criterion 'complexity'; found relevance, coherence"):
        prepare("hanna", "hanna", **files)


# --- the datasets as published


@pytest.mark.parametrize("name", ["mt_bench", "vicuna"])
def test_the_published_prometheus_files_have_320_items_of_80_prompts(mirror, name):
    items, rubrics = prepare(name, "prometheus", records=mirror / f"prometheus_eval/{name}_eval.json")
    assert len(items) == 320
    assert items.groupby("group_id")["candidate"].nunique().tolist() == [4] * 80
    assert len(rubrics) == 80
    assert rubrics["levels"].map(len).unique().tolist() == [5]
    assert items["reference_labels"].map(len).unique().tolist() == [3]


@pytest.mark.parametrize("name", ["mt_bench", "vicuna"])
def test_the_sections_of_a_published_record_put_together_give_its_prompt_again(mirror, name):
    records = json.loads((mirror / f"prometheus_eval/{name}_eval.json").read_text(encoding="utf-8"))
    headings = [prometheus.INSTRUCTION, prometheus.RESPONSE, prometheus.REFERENCE, prometheus.RUBRIC]
    for entry in records:
        sections = prometheus.split_prompt(entry["instruction"], "here")
        joined = [part for pair in zip(headings, sections, strict=True) for part in pair]
        found = entry["instruction"].partition(headings[0])
        expected = (found[1] + found[2]).removesuffix(prometheus.FEEDBACK)
        assert "".join("".join(joined).split()) == "".join(expected.split()).removesuffix("###Feedback:")


@pytest.fixture
def published_hanna(mirror, root):
    ratings = mirror / "hanna/hanna_metric_scores_llm.csv"
    stories = mirror / "hanna/hanna_llm_stories.csv"
    items, _ = prepare(
        "hanna", "hanna", stories=stories, ratings=ratings, rubrics=root / "resources/rubrics/hanna.yaml"
    )
    return items, pd.read_csv(ratings)


def test_the_published_hanna_has_576_items_whose_human_scores_have_the_published_means(published_hanna):
    items, ratings = published_hanna
    assert len(items) == 576
    (human,) = ratings[ratings["Model"] == "Human"].to_dict("records")
    for criterion, (_, column) in CRITERIA.items():
        mine = items[items["criterion"] == criterion].sort_values("group_id")
        assert mine["human_score"].tolist() == pytest.approx(ast.literal_eval(human[column]))


def test_the_published_hanna_stories_are_distinct_and_in_the_order_of_the_ratings(published_hanna):
    items, _ = published_hanna
    assert items["response"].nunique() == hanna.N_STORIES
    assert items["group_id"].unique().tolist() == [f"{n:03d}" for n in range(96)]
