import csv
import json
import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from factories import completed

from rubric_order import datasets
from rubric_order.base.errors import InputError
from rubric_order.datasets import custom

OWN = {"question": "Is it kind?", "level_1": "no", "level_2": "partly", "level_3": "yes"}
ROW = {"item_id": "a", "instruction": "Greet.", "response": "Hello.", **OWN}
SCALE = {"question": "Is it polite?", "levels": {1: "no", 2: "yes"}}
FORMATS = ["csv", "jsonl", "parquet"]


def columns_of(rows):
    return list(dict.fromkeys(name for row in rows for name in row))


def write(tmp_path, rows, format="csv", name=None):
    path = tmp_path / (name or f"items.{format}")
    if format == "csv":
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns_of(rows))
            writer.writeheader()
            writer.writerows(rows)
    elif format == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in columns_of(rows)}), path)
    return path


def write_rubrics(tmp_path, content):
    path = tmp_path / "rubrics.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
    return path


def prepare(items, rubrics=None, **options):
    files = {"items": items} | ({"rubrics": rubrics} if rubrics else {})
    return datasets.prepare("mine", datasets.read("custom", files, options))


def error(items, rubrics=None, **options):
    with pytest.raises(InputError) as caught:
        prepare(items, rubrics, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return str(caught.value)


def row(item_id="a", **changes):
    return {name: value for name, value in {**ROW, "item_id": item_id, **changes}.items() if value is not ...}


def referring(item_id="a", **changes):
    """A row without a rubric of its own."""
    return row(item_id, **dict.fromkeys(OWN, ...), **changes)


# --- what is read


@pytest.mark.parametrize("format", FORMATS)
def test_a_full_row_is_read_the_same_from_each_format(tmp_path, format):
    text = 'Good day, "you";\nhow are you? \u00e9\u2028 {{ x }}'
    full = row(
        group_id="g",
        candidate="anna",
        criterion="kindness",
        category="talk",
        rubric_id="kind",
        reference="Good morning.",
        response=text,
        human_score="4.5" if format == "csv" else 4.5,
    )
    tables = prepare(write(tmp_path, [full, {**full, "item_id": "b", "candidate": "ben"}], format))
    first = tables.items.iloc[0]
    assert first[["item_id", "group_id", "candidate", "criterion", "category"]].tolist() == [
        *("a", "g", "anna", "kindness", "talk")
    ]
    assert first[["instruction", "response", "reference"]].tolist() == ["Greet.", text, "Good morning."]
    assert first["human_scores"] == [4.5]
    assert tables.rubrics.to_dict("records") == [
        {"rubric_id": "kind", "criterion": "kindness", "name": "Kindness", "short": "Is it kind?"}
        | {"question": "Is it kind?", "levels": ["no", "partly", "yes"], "lowest": 1}
    ]
    assert tables.items["item_id"].tolist() == ["a", "b"]


@pytest.mark.parametrize("format", FORMATS)
def test_the_smallest_rows_get_groups_by_instruction_and_candidates_by_response(tmp_path, format):
    rows = [row("a"), row("b", response="Hi."), row("c", instruction="Part."), row("d", instruction=" Greet.\n")]
    items = prepare(write(tmp_path, rows, format)).items
    assert items["group_id"].tolist() == ["a", "a", "c", "a"]
    assert items["candidate"].tolist() == ["a", "b", "c", "a"]
    assert items["criterion"].tolist() == ["overall"] * 4
    assert items["rubric_id"].tolist() == ["a"] * 4
    assert items["human_scores"].tolist() == [[]] * 4
    assert items["reference"].isna().all()
    assert items["category"].isna().all()


@pytest.mark.parametrize("format", FORMATS)
def test_category_and_reference_and_human_score_may_be_empty(tmp_path, format):
    empty = "" if format == "csv" else None
    score = "3" if format == "csv" else 3
    rows = [row("a", category=empty, reference=empty, human_score=empty)]
    rows += [row("b", category="c", reference="R", human_score=score)]
    items = prepare(write(tmp_path, rows, format)).items
    assert items["category"].isna().tolist() == [True, False]
    assert items["reference"].isna().tolist() == [True, False]
    assert items["human_scores"].tolist() == [[], [3.0]]


def test_rubrics_in_columns_may_have_different_numbers_of_levels(tmp_path):
    rows = [row("a"), row("b", level_3=""), row("c"), row("d", question="Is it short?")]
    tables = prepare(write(tmp_path, rows))
    assert tables.items["rubric_id"].tolist() == ["a", "b", "a", "d"]
    assert tables.rubrics["levels"].tolist() == [["no", "partly", "yes"], ["no", "partly"], ["no", "partly", "yes"]]


def test_up_to_nine_levels_are_read_in_order_whatever_the_order_of_the_columns(tmp_path):
    levels = {f"level_{level}": f"at {level}" for level in range(9, 0, -1)}
    tables = prepare(write(tmp_path, [row(**levels)]))
    assert tables.rubrics["levels"].tolist() == [[f"at {level}" for level in range(1, 10)]]


@pytest.mark.parametrize(
    ("format", "cells", "expected"),
    [
        ("csv", {"human_score": " 4 "}, [4.0]),
        ("csv", {"human_score": "-1.5e0"}, [-1.5]),
        ("csv", {"human_scores": "[3, 4.5]"}, [3.0, 4.5]),
        ("csv", {"human_scores": "[]"}, []),
        ("csv", {"human_scores": ""}, []),
        ("jsonl", {"human_scores": [3, 4.5]}, [3.0, 4.5]),
        ("jsonl", {"human_score": 4}, [4.0]),
        ("parquet", {"human_scores": [3.0, 4.0]}, [3.0, 4.0]),
        ("csv", {f"human_score_{rater}": str(rater % 5) for rater in range(11, 0, -1)}, [*range(1, 5)] * 2),
        ("csv", {"human_score_1": "3", "human_score_2": "5", "human_score_3": ""}, [3.0, 5.0]),
        ("parquet", {"human_score_1": 3, "human_score_2": None}, [3.0]),
    ],
)
def test_human_scores_stand_in_one_column_or_in_a_list_or_in_a_column_a_rater(tmp_path, format, cells, expected):
    if len(cells) == 11:
        expected = [float(rater % 5) for rater in range(1, 12)]
    assert prepare(write(tmp_path, [row(**cells)], format)).items["human_scores"].tolist() == [expected]


@pytest.mark.parametrize("column", ["rubric_id", "criterion"])
def test_rubrics_in_a_file_are_found_by_rubric_id_or_by_criterion(tmp_path, column):
    rubrics = write_rubrics(tmp_path, {"polite": SCALE, "short": {**SCALE, "question": "Is it short?"}})
    rows = [referring("a", **{column: "short"}), referring("b", **{column: "polite"})]
    tables = prepare(write(tmp_path, rows), rubrics)
    assert tables.items["criterion"].tolist() == ["short", "polite"]
    assert tables.items["rubric_id"].tolist() == ["short", "polite"]
    assert tables.rubrics["question"].tolist() == ["Is it short?", "Is it polite?"]


def test_a_row_that_names_rubric_and_criterion_keeps_both(tmp_path):
    rubrics = write_rubrics(tmp_path, {"polite_letter": SCALE})
    tables = prepare(write(tmp_path, [referring(rubric_id="polite_letter", criterion="politeness")]), rubrics)
    assert tables.items.loc[0, ["rubric_id", "criterion"]].tolist() == ["polite_letter", "politeness"]


def test_a_rubric_file_of_the_project_can_be_used(tmp_path, root):
    items = write(tmp_path, [referring(criterion="empathy")])
    tables = prepare(items, root / "resources/rubrics/hanna.yaml")
    assert tables.rubrics["rubric_id"].tolist() == ["empathy"]
    assert len(tables.rubrics["levels"][0]) == 9


@pytest.mark.parametrize("format", FORMATS)
def test_a_fetched_file_has_no_ending_so_that_an_option_says_its_format(tmp_path, format):
    path = write(tmp_path, [row()], format, name="items")
    assert error(path) == f"{path}: expected a file that ends in .csv, .jsonl, .parquet, or option 'format'"
    assert len(prepare(path, format=format).items) == 1


def test_a_csv_file_of_a_spreadsheet_program_is_read(tmp_path):
    path = write(tmp_path, [row(response="one\r\ntwo"), row("b")])
    path = path.rename(tmp_path / "ITEMS.CSV")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\r\n")
    assert prepare(path).items["response"].tolist() == ["one\ntwo", "Hello."]


def test_a_parquet_file_of_pandas_is_read(tmp_path):
    table = pd.DataFrame([row(human_score=3.0), row("b", human_score=None)])
    table["category"] = pd.Categorical(["x", "y"])
    table.to_parquet(tmp_path / "items.parquet")
    items = prepare(tmp_path / "items.parquet").items
    assert items["human_scores"].tolist() == [[3.0], []]
    assert items["category"].tolist() == ["x", "y"]


# --- what is wrong


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["Response", "humanscore", "level_00", "level_12", "human_score_0", "level", "notes"])
def test_an_unknown_column_is_an_error_that_names_it_and_the_known_ones(tmp_path, format, name):
    path = write(tmp_path, [row(), row("b", **{name: "5"})], format)
    assert error(path) == (
        f"{path}: unknown column {name!r}; known: item_id, instruction, response, group_id, candidate, criterion, "
        "rubric_id, question, reference, category, human_score, human_scores, human_score_1, ..., level_0 ... level_11"
    )


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["item_id", "instruction", "response", "question", "level_1", "level_2"])
def test_a_missing_column_is_an_error_that_names_it(tmp_path, format, name):
    path = write(tmp_path, [row(**{name: ...})], format)
    assert error(path).startswith(f"{path}: column {name!r} is missing; ")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "name", ["item_id", "instruction", "response", "question", "group_id", "candidate", "criterion", "rubric_id"]
)
def test_a_cell_that_must_not_be_empty_is_an_error_that_names_row_and_field(tmp_path, format, name):
    filled = {"group_id": "g", "candidate": "c", "criterion": "k", "rubric_id": "r"}
    second = row("b", **filled) | {name: "" if format == "csv" else None}
    path = write(tmp_path, [row("a", **filled), second], format)
    place = {"csv": "line 3", "jsonl": "line 2", "parquet": "row 2"}[format]
    assert error(path) == f"{path}: {place}: field {name!r}: expected text, found nothing"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"human_score": 10**400}, "field 'human_score': expected a number, found 1000"),
        ({"human_scores": "[" * 10**5}, "field 'human_scores': expected a list such as [3, 4], found '[[["),
    ],
)
def test_a_wrong_value_is_an_error_that_names_file_row_and_field(tmp_path, changes, message):
    path = write(tmp_path, [row(), row(**{"item_id": "b", **changes})], "jsonl")
    assert error(path).startswith(f"{path}: line 2: ")
    assert message in error(path)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"human_score": "3", "human_scores": "[3]"}, "human scores stand in 'human_score' and in 'human_scores'"),
        ({"human_score": "3", "human_score_1": "3"}, "human scores stand in 'human_score_1' and in 'human_score'"),
        ({"human_score_2": "3"}, "column 'human_score_1' is missing; found 'human_score_2'"),
        ({"human_score_1": "3", "human_score_3": "3"}, "column 'human_score_2' is missing; found 'human_score_3'"),
    ],
)
def test_human_score_columns_that_contradict_each_other_are_an_error(tmp_path, cells, message):
    path = write(tmp_path, [row(**cells)])
    assert error(path).startswith(f"{path}: {message}")


def test_rows_that_share_a_rubric_id_but_not_the_rubric_are_an_error(tmp_path):
    path = write(tmp_path, [row("a", rubric_id="r"), row("b", rubric_id="r", level_3="very")])
    assert error(path) == f"{path}: line 3: rubric 'r' differs from an earlier one of that id"


def test_a_rubric_that_is_not_in_the_file_is_an_error_that_names_those_that_are(tmp_path):
    rubrics = write_rubrics(tmp_path, {"polite": SCALE, "short": SCALE})
    path = write(tmp_path, [referring(criterion="polite"), referring("b", criterion="kind")])
    assert error(path, rubrics) == (
        f"{path}: line 3: field 'criterion': no rubric 'kind' in {rubrics}; found polite, short"
    )


def test_rubrics_both_in_columns_and_in_a_file_are_an_error(tmp_path):
    rubrics = write_rubrics(tmp_path, {"polite": SCALE})
    path = write(tmp_path, [row(criterion="polite")])
    assert error(path, rubrics).startswith(f"{path}: column 'question': rubrics stand in {rubrics} already")


@pytest.mark.parametrize(("content", "named"), [({"polite": SCALE}, "polite"), (SCALE, "overall")])
def test_rows_need_not_name_the_rubric_that_a_file_has_alone(tmp_path, content, named):
    rubrics = write_rubrics(tmp_path, content)
    tables = prepare(write(tmp_path, [referring()]), rubrics)
    (rubric,) = tables.rubrics.to_dict("records")
    assert (rubric["rubric_id"], rubric["criterion"], list(rubric["levels"])) == (named, named, ["no", "yes"])
    assert tables.items["rubric_id"].tolist() == [named]


def test_rows_that_do_not_say_which_rubric_they_mean_are_an_error(tmp_path):
    rubrics = write_rubrics(tmp_path, {"polite": SCALE, "short": SCALE})
    path = write(tmp_path, [referring()])
    assert error(path, rubrics).startswith(f"{path}: column 'rubric_id' or 'criterion' is missing")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("polite", "expected a list of rubrics or a mapping of them, found 'polite'"),
        ({}, "expected a list of rubrics or a mapping of them, found {}"),
        ([SCALE], "rubric 1: field 'id' is missing"),
        ({"polite": "yes"}, "rubric 'polite': expected fields question, levels; found 'yes'"),
        ({"polite": {**SCALE, "short": "x"}}, "rubric 'polite': expected fields question, levels; found question, "),
        ({"polite": {"question": "Q"}}, "rubric 'polite': expected fields question, levels; found question"),
        ({"polite": {**SCALE, "question": 5}}, "rubric 'polite': question: expected text, found 5"),
        ({"polite": {**SCALE, "levels": ["no", "yes"]}}, "rubric 'polite': levels: expected a mapping of at least 2"),
        ({"polite": {**SCALE, "levels": {1: "no", 3: "yes"}}}, "rubric 'polite': levels: level 2 is missing"),
        ({"polite": SCALE, True: SCALE}, "rubric True: expected text as id, found True; put it in quotes"),
        ("a: {}\na: {}\n", "line 2, column 1: malformed YAML: duplicate key 'a'"),
    ],
)
def test_a_wrong_rubric_file_is_an_error_that_names_it_and_the_rubric(tmp_path, content, message):
    rubrics = write_rubrics(tmp_path, content)
    assert error(write(tmp_path, [referring(criterion="polite")]), rubrics).startswith(f"{rubrics}: {message}")


HEADER = "item_id,instruction,response,question,level_1,level_2\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("items.csv", b"", "no rows"),
        ("items.csv", HEADER.encode(), "no rows"),
        ("items.csv", f"{HEADER}a,b,c,d,e,f\na,b,c,d,e\n".encode(), "line 3: expected 6 cells, found 5"),
        ("items.csv", f"{HEADER}a,b, c, and so on,d,e,f\n".encode(), "line 2: expected 6 cells, found 7"),
        ("items.csv", f'{HEADER}a,b,"c,d,e,f\ng,h,i,j,k,l\n'.encode(), "line 3: malformed CSV: unexpected end of data"),
        ("items.csv", f'{HEADER}a,b,"c"c,d,e,f\n'.encode(), "line 2: malformed CSV: ',' expected after '\"'"),
        (
            "items.csv",
            HEADER.replace("level_2", "level_1").encode() + b"a,b,c,d,e,f\n",
            "column 'level_1' stands twice",
        ),
        ("items.csv", HEADER.replace(",", ";").encode() + b"a;b;c;d;e;f\n", "unknown column 'item_id;instruction;"),
        ("items.csv", f"{HEADER}a,b,caf".encode() + b"\xe9,d,e,f\n", "line 2: expected UTF-8, found byte 0xe9"),
        ("items.jsonl", b"", "no rows"),
        ("items.jsonl", b'{"item_id": "a"\n', "line 1, column 16: malformed JSON"),
        ("items.jsonl", b'\n["a"]\n', "line 2: expected a mapping, found ['a']"),
        ("items.parquet", b"", "malformed Parquet: "),
        ("items.parquet", b"PAR1 no table PAR1", "malformed Parquet: "),
        ("items.xlsx", b"", "expected a file that ends in .csv, .jsonl, .parquet, or option 'format'"),
    ],
)
def test_a_file_that_is_not_a_table_is_an_error_that_names_it(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    assert error(path).startswith(f"{path}: {message}")


@pytest.mark.parametrize("format", FORMATS)
def test_a_missing_file_is_an_error(tmp_path, format):
    path = tmp_path / f"none.{format}"
    assert error(path) == f"{path}: no such file"


def test_a_folder_is_an_error(tmp_path):
    (tmp_path / "items.parquet").mkdir()
    path = tmp_path / "items.parquet"
    assert error(path) == f"{path}: expected a file, found a folder or a pipe"


def test_a_parquet_file_without_rows_is_an_error(tmp_path):
    path = tmp_path / "items.parquet"
    pd.DataFrame([row()]).iloc[:0].to_parquet(path)
    assert error(path) == f"{path}: no rows"


@pytest.mark.parametrize("format", ["xlsx", "CSV", 5, ["csv"]])
def test_a_wrong_format_is_an_error_that_names_the_known_ones(tmp_path, format):
    expected = f"adapter 'custom': option 'format': expected csv, jsonl, parquet, found {format!r}"
    assert error(write(tmp_path, [row()]), format=format) == expected


# --- the worked example and the page that describes the columns


def test_the_worked_example_is_five_varied_texts_with_two_raters_each(root):
    config = yaml.safe_load((root / "config/examples/custom.yaml").read_text(encoding="utf-8"))
    dataset = config["datasets"]["my_items"]
    assert config["studies"]["position_bias"]["datasets"] == ["my_items"]
    tables = prepare(root / dataset["files"]["items"]["path"])
    assert len(tables.items) == 5
    assert tables.items["group_id"].nunique() == 3
    assert tables.items["human_scores"].map(len).tolist() == [2] * 5
    assert tables.rubrics["levels"].map(len).unique().tolist() == [5]


def test_the_worked_example_is_a_valid_config_that_stands_alone(root):
    config = yaml.safe_load((root / "config/examples/custom.yaml").read_text(encoding="utf-8"))
    config = completed(config, root)
    assert list(config["judges"]) == config["studies"]["position_bias"]["judges"]
    assert config["datasets"]["my_items"]["adapter"] in datasets.REGISTRY.names()


def test_the_page_on_custom_data_lists_every_column(root):
    page = (root / "docs/custom_data.md").read_text(encoding="utf-8")
    listed = re.findall(r"`([a-z_0-9]+)`", "".join(re.findall(r"^\| (`.*?) \|", page, flags=re.MULTILINE)))
    scores = ["human_score", "human_scores", "human_score_1", "human_score_2"]
    assert sorted(listed) == sorted([*custom.WHOLE, *custom.SPARSE, *scores, "level_1", "level_2"])


# --- every row under every rubric

SEVERAL = {name: {"question": f"Is it {name}?", "levels": {0: "no", 1: "yes"}} for name in ("wit", "care")}


def under_every(tmp_path, rows, format="csv"):
    return prepare(write(tmp_path, rows, format), write_rubrics(tmp_path, SEVERAL), every_rubric=True)


def short(item_id, response, **others):
    return {"item_id": item_id, "instruction": "Greet.", "response": response, **others}


@pytest.mark.parametrize("format", FORMATS)
def test_every_row_is_an_item_under_every_rubric_of_the_file(tmp_path, format):
    items = under_every(tmp_path, [short("a", "Hello."), short("b", "Hi.")], format=format).items
    assert items["item_id"].tolist() == ["a-wit", "a-care", "b-wit", "b-care"]
    assert items["criterion"].tolist() == ["wit", "care"] * 2
    assert items["group_id"].tolist() == ["a"] * 4
    assert items["candidate"].tolist() == ["a", "a", "b", "b"]


def test_groups_and_candidates_of_rows_stay_under_every_rubric(tmp_path):
    tables = under_every(tmp_path, [short("a", "Hello.", group_id="g", candidate="anna")])
    assert tables.items[["group_id", "candidate"]].drop_duplicates().to_numpy().tolist() == [["g", "anna"]]
    assert tables.rubrics[["rubric_id", "lowest"]].to_numpy().tolist() == [["wit", 0], ["care", 0]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (short("a", "Hi.", rubric_id="wit"), "column 'rubric_id' is of one rubric"),
        (short("a", "Hi.", criterion="wit"), "column 'criterion' is of one rubric"),
        (short("a", "Hi.", human_score="4"), "column 'human_score' is of one rubric"),
        (short(" ", "Hi."), "line 2: field 'item_id': expected text, found ' '"),
    ],
)
def test_rows_that_are_of_one_rubric_are_not_read_under_all(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        under_every(tmp_path, [row])
    message = "option 'every_rubric' needs a file of rubrics, which config names 'rubrics'"
    assert error(tmp_path / "items.csv", every_rubric=True) == f"{tmp_path / 'items.csv'}: {message}"
