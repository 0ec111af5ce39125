"""A plain table of reads: what it becomes, and one clear error for what it must not be."""

import json

import numpy as np
import pandas as pd
import pytest

import rubric_order as ro
from rubric_order.base.errors import InputError
from rubric_order.intake import score_tables as reads
from rubric_order.prompts import orderings


def table(**columns):
    rows = {"item": ["a", "a", "b", "b"], "ordering": ["1 2 3", "3 2 1", "1 2 3", "3 2 1"], "score": [1, 2, 3, 3]}
    return pd.DataFrame(rows | columns)


def test_positions_scores_and_probabilities_are_those_of_the_orderings():
    plain = table(score=["1", "", "3", "2.0"], p_1=[0.2] * 4, p_2=[0.3] * 4, p_3=[0.5, 0.5, 0.5, 0.5])
    found = reads.as_scores(plain)
    assert found["position"].tolist() == [1, pd.NA, 3, 2]
    assert found["failure"].isna().tolist() == [True, False, True, True]
    assert [list(each) for each in found["position_probabilities"]] == [[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]] * 2
    assert found["expected_score"].tolist() == pytest.approx([2.3] * 4)
    assert found["read_index"].tolist() == [0, 1, 0, 1]
    assert found["group_id"].tolist() == found["item_id"].tolist()
    assert set(found["strategy"]) == {"recorded"}


@pytest.mark.parametrize("score", [["1", "3", "3", "2"], [""] * 4])
def test_probabilities_of_0_and_1_are_written_scores(score):
    sure = {f"p_{level}": [float(level == drawn) for drawn in (1, 3, 3, 2)] for level in (1, 2, 3)}
    found = reads.as_scores(table(score=score, **sure))
    assert found["score"].tolist() == [1, 3, 3, 2]
    assert found["position_probabilities"].isna().all()
    assert found["expected_score"].isna().all()


@pytest.mark.parametrize("written", ["3 1 2", "3,1,2", "[3, 1, 2]", "(3 1 2)", "3 > 1 > 2", "312", [3, 1, 2]])
def test_an_ordering_may_be_written_in_several_ways(written):
    found = reads.as_scores(pd.DataFrame({"item": ["a"], "ordering": [written], "score": [2]}))
    assert list(found["ordering"][0]) == [3, 1, 2]
    assert found["position"][0] == 3


def test_ten_levels():
    shown = [" ".join(map(str, row)) for row in orderings.balanced(10)]
    found = reads.as_scores(pd.DataFrame({"item": "a", "ordering": shown, "score": 10}))
    assert sorted(found["position"]) == sorted([*range(1, 11)] * 2)
    assert set(found["strategy"]) == {"balanced"}


def test_all_formats_give_the_same_scores(tmp_path):
    plain = table(
        judge="none", group=["g", "g", "h", "h"], human_score=[1.5, np.nan, 2, 2], p_1=0.5, p_2=0.25, p_3=0.25
    )
    plain.to_csv(tmp_path / "reads.csv", index=False)
    plain.to_json(tmp_path / "reads.jsonl", orient="records", lines=True)
    plain.assign(ordering=[[1, 2, 3], [3, 2, 1]] * 2).to_parquet(tmp_path / "reads.parquet")
    found = [reads.as_scores(reads.read_file(tmp_path / f"reads.{name}")) for name in ("csv", "jsonl", "parquet")]
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)
    assert found[0]["human_score"].tolist() == [1.5, 1.5, 2, 2]
    assert found[0]["judge"].unique().tolist() == ["none"]


def test_an_item_under_two_criteria_is_two_items_of_its_group():
    """They were taken for one item that was read twice in each ordering."""
    one, two = table(criterion="style", score=[1, 2, 3, 3]), table(criterion="plot", score=[3, 3, 1, 1])
    scores = reads.as_scores(pd.concat([one, two]).assign(group="g"))
    assert list(dict.fromkeys(scores["item_id"])) == ["a/style", "b/style", "a/plot", "b/plot"]
    assert scores["read_index"].tolist() == [0, 1] * 4
    assert scores["criterion"].tolist() == ["style"] * 4 + ["plot"] * 4
    assert scores["group_id"].unique().tolist() == ["g"]
    alone = reads.as_scores(pd.concat([one, two]))
    assert alone["group_id"].tolist() == ["a", "a", "b", "b"] * 2  # a text is one group under all its criteria
    same = reads.as_scores(one)
    assert same["item_id"].tolist() == ["a", "a", "b", "b"]
    pd.testing.assert_frame_equal(same.drop(columns="criterion"), reads.as_scores(table()).drop(columns="criterion"))


def test_criteria_do_not_compete_for_the_best_answer(tmp_path):
    """One answer per prompt, judged under two criteria: there is no best answer that could change."""
    shown = orderings.balanced(3)
    rows = [
        {"item": f"{group}-{criterion}", "group": group, "criterion": criterion, "ordering": " ".join(map(str, row))}
        | {f"p_{score}": 0.6 if score == (row[0] if criterion == "style" else 2) else 0.2 for score in (1, 2, 3)}
        for group in map(str, range(12))
        for criterion in ("style", "plot")
        for row in shown
    ]
    plain = pd.DataFrame(rows).assign(score=2)
    (card,) = ro.bias_card(plain)
    assert card.to_dict()["single_items"]["best_changed"] is None
    (pooled,) = ro.bias_card(plain.drop(columns="criterion"))
    assert pooled.to_dict()["single_items"]["best_changed"] is not None


MISTAKES = {
    "row 2: field 'ordering': expected the 2 to 11 scores, each once": {"ordering": ["1 2 3", "1 2 2"] * 2},
    "row 1: field 'ordering'": {"ordering": ["0 1 3"] * 4},
    "found '1 2 x'": {"ordering": ["1 2 x"] * 4},
    "row 3: field 'ordering': 'judge' has two levels: 3 in an earlier row, 2 here": {
        "ordering": ["1 2 3", "3 2 1", "1 2", "1 2 3"]
    },
    "row 2: field 'score': expected a whole number from 1 to 3, or nothing where there is no score, found 'four'": {
        "score": ["1", "four", "2", "3"]
    },
    "found '4'": {"score": [1, 4, 2, 3]},
    "found '2.5'": {"score": [1, 2.5, 2, 3]},
    "field 'item': expected a name, found ''": {"item": ["a", "", "b", "b"]},
    "row 2: field 'group': 'a' has two groups: g in an earlier row, h here": {"group": ["g", "h", "h", "h"]},
    "row 4: field 'human_score': item 'b' has two human scores: 1 in an earlier row, 2 here; so have 1 of"
    " 2 items. Expected one per item: give each item the mean of its human scores": {"human_score": [1, 1, 1, 2]},
    "found p_1, p_2, expected p_1 to p_3": {"p_1": 0.5, "p_2": 0.5},
    "expected probabilities of two decimals or more that sum to 1, found 0.5 0.5 0.5 (sum 1.5)": {
        "p_1": 0.5,
        "p_2": 0.5,
        "p_3": 0.5,
    },
    "expected probabilities from 0 to 1": {"p_1": -0.5, "p_2": 0.5, "p_3": 1.0},
    "row 2: fields 'p_1' to 'p_3': expected a probability of every score, or of none, found empty 0.5 0.5": {
        "p_1": [0.0, np.nan, 0, 0],
        "p_2": 0.5,
        "p_3": 0.5,
    },
    "column 'groups' is not known; expected 'group'": {"groups": 1},
}


@pytest.mark.parametrize(("message", "columns"), MISTAKES.items(), ids=range(len(MISTAKES)))
def test_a_mistake_is_named_with_its_place(message, columns):
    with pytest.raises(InputError) as error:
        reads.as_scores(table(**columns), "reads.csv")
    assert message in str(error.value)
    assert str(error.value).startswith("reads.csv: ")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "item,score\na,1\n", "column 'ordering' is missing; found item, score"),
        ("a.csv", "", "malformed CSV"),
        ("a.csv", "item,ordering,score\n", "no rows"),
        ("a.csv", "item,ordering,score\na,1 2\n", "Expected 3 columns, got 2"),
        ("a.csv", "item,item,score\na,a,1\n", "column 'item' stands twice"),
        ("a.jsonl", '{"item": 1}\n[2]\n', "line 2: expected a mapping"),
        ("a.jsonl", "{\n", "line 1, column 2: malformed JSON"),
        ("a.parquet", "PAR", "malformed Parquet"),
        ("a.xlsx", "", "expected a file that ends in .csv, .jsonl or .parquet"),
    ],
)
def test_a_malformed_file_is_one_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as error:
        reads.as_scores(reads.read_file(path), path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        reads.read_file(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("score", "Infinity", "field 'score': expected a whole number from 1 to 2"),
        ("ordering", "-Infinity", "field 'ordering': expected the 2 to 11 scores"),
        ("ordering", "[Infinity, 1]", "field 'ordering': expected the 2 to 11 scores"),
        ("p_1", "Infinity", "p_1"),
        ("item", r'"a\ud800"', "field 'item': expected text that UTF-8 can write, found 'a\\ud800'"),
        ("ordering", r'["\udc00"]', "field 'ordering': expected text that UTF-8 can write"),
    ],
)
def test_json_lines_with_infinity_or_half_a_character_are_one_line(tmp_path, field, value, message):
    row = {"item": '"a"', "ordering": "[1, 2]", "score": "1", "p_1": "0.5", "p_2": "0.5"}
    path = tmp_path / "reads.jsonl"
    path.write_text("{" + ", ".join(f'"{key}": {text}' for key, text in (row | {field: value}).items()) + "}\n")
    with pytest.raises(InputError) as error:
        reads.as_scores(reads.read_file(path), path)
    assert message in str(error.value)
    assert "row 1" in str(error.value)


def test_an_item_may_be_named_infinity(tmp_path):
    path = tmp_path / "reads.jsonl"
    path.write_text('{"item": Infinity, "ordering": [1, 2], "score": 1}\n')
    assert reads.as_scores(reads.read_file(path))["item_id"].tolist() == ["inf"]


def test_json_lines_may_write_lists_numbers_and_null(tmp_path):
    rows = [{"item": 7, "ordering": [2, 1], "score": None}, {"item": 7, "ordering": [1, 2], "score": 2}]
    path = tmp_path / "reads.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = reads.as_scores(reads.read_file(path))
    assert found["item_id"].tolist() == ["7", "7"]
    assert found["position"].tolist() == [pd.NA, 2]


@pytest.mark.parametrize(
    ("levels", "total", "accepted"), [(7, 0.97, True), (7, 0.96, False), (11, 1.05, True), (3, 0.98, True)]
)
def test_probabilities_of_two_decimals_may_sum_to_as_little_as_rounding_makes(levels, total, accepted):
    shares = np.round(np.full(levels, 0.01), 2)
    shares[0] += total - shares.sum()
    given = pd.DataFrame({"item": ["a"], "ordering": [" ".join(map(str, range(1, levels + 1)))], "score": [1]})
    given = given.assign(**{f"p_{level}": share for level, share in enumerate(shares, start=1)})
    if accepted:
        made = reads.as_scores(given)
        assert made["position_probabilities"][0].sum() == pytest.approx(1)
    else:
        with pytest.raises(InputError, match="that sum to 1"):
            reads.as_scores(given)
