"""Files of reads as other programs write them: names, endings, separators, scales, and answers in place of scores."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import rubric_order as ro
from rubric_order.base.errors import InputError
from rubric_order.intake import scales
from rubric_order.intake import score_tables as reads
from rubric_order.intake.columns import Columns
from rubric_order.library import comparison, doctor, estimates
from rubric_order.prompts import orderings

FOREIGN = pd.DataFrame(
    {
        "sample_id": ["a", "a", "b", "b"],
        "shown": ["1 2 3", "3 2 1"] * 2,
        "judge_score": ["1", "2", "3", "3"],
        "prompt": ["p", "p", "q", "q"],
    }
)
NAMES = Columns.parse(["item=sample_id,ordering=shown", "score=judge_score,group=prompt"])


def scores(table, **options):
    return reads.as_scores(pd.DataFrame(table), "reads", **options)


def read(path, text, **options):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return estimates.scores_of(path, **options)


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_categorical=False)


def test_columns_of_another_name():
    renamed = FOREIGN.set_axis(["item", "ordering", "score", "group"], axis=1)
    same(scores(FOREIGN, columns=NAMES), scores(renamed))
    assert scores(FOREIGN, columns=NAMES)["group_id"].tolist() == ["p", "p", "q", "q"]


def test_a_column_that_is_named_goes_before_one_of_our_name():
    table = FOREIGN.assign(score=[3, 3, 3, 3])
    assert scores(table, columns=NAMES)["score"].tolist() == [1, 2, 3, 3]


def test_all_missing_columns_are_named_at_once_with_the_nearest():
    with pytest.raises(InputError) as error:
        scores(FOREIGN)
    message = str(error.value)
    assert message.startswith("reads: columns 'item', 'ordering' and 'score' are missing; found sample_id, shown, ")
    assert (
        "did you mean --columns item=sample_id,ordering=shown,score=judge_score,group=prompt? Optional: group"
        in message
    )
    assert "docs/audit.md" in message


JUDGED = pd.DataFrame(
    {
        "sample_id": ["a", "a", "b", "b"],
        "prompt": ["p", "p", "q", "q"],
        "judge_model": ["x", "y"] * 2,
        "shown": ["1 2 3", "3 2 1"] * 2,
        "judge_answer": ["1/3", "2/3", "3/3", "3/3"],
        "annotator_mean": [2, 2, 3, 3],
    }
)
ALL = "item=sample_id,ordering=shown,score=judge_answer,judge=judge_model,group=prompt,human_score=annotator_mean"


def test_columns_that_are_useful_are_suggested_with_those_that_are_needed():
    with pytest.raises(InputError) as error:
        scores(JUDGED)
    assert f"did you mean --columns {ALL}? Optional: judge, group and human_score (docs" in str(error.value)
    found = scores(JUDGED, columns=Columns.parse([ALL]))
    read = found[["judge", "item_id", "group_id", "human_score", "score"]].to_numpy().tolist()
    assert sorted(read) == [["x", "a", "p", 2, 1], ["x", "b", "q", 3, 3], ["y", "a", "p", 2, 2], ["y", "b", "q", 3, 3]]


def test_a_column_of_judges_that_is_not_read_is_named_on_the_card(tmp_path):
    needed = dict(part.split("=") for part in ALL.split(",")[:3])
    (card,) = ro.bias_card(JUDGED, columns=needed)
    assert card.notes[0] == (
        "Column 'judge_model' has 2 values and is not read: all reads count as those of one judge."
        " If it names judges, say --columns judge=judge_model."
    )
    JUDGED.to_csv(tmp_path / "log.csv", index=False)
    assert doctor.diagnose(tmp_path / "log.csv", columns=needed)[0].notes == card.notes[:1]
    for table in (JUDGED.assign(judge_model="x"), JUDGED.drop(columns="judge_model"), JUDGED.assign(judge="x")):
        (card,) = ro.bias_card(table, columns=needed)
        assert "judge_model" not in " ".join(card.notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item", "expected parts such as item=sample_id, found 'item'"),
        ("itme=id", "'itme': expected one of item, ordering"),
        ("itme=id", "did you mean 'item'?"),
        ("item=a,item=b", "'item' stands twice"),
        ("item=sample_idd,ordering=shown,score=x", "no column 'sample_idd' and column 'x'; found sample_id"),
        ("item=sample_idd,ordering=shown,score=x", "did you mean 'sample_id'?"),
    ],
)
def test_a_wrong_name_is_one_line(text, message):
    with pytest.raises(InputError) as error:
        scores(FOREIGN, columns=Columns.parse([text]))
    assert message in str(error.value)


def test_capitals_blanks_and_hyphens_do_not_count():
    table = pd.DataFrame({"Item": ["a"], " ORDERING": ["1 2"], "Score": [2], "Human-Score": [1]})
    assert scores(table)["human_score"].tolist() == [1]


def test_two_columns_that_could_be_one_are_an_error():
    table = pd.DataFrame({"Item": ["a"], "ITEM": ["b"], "ordering": ["1 2"], "score": [2]})
    with pytest.raises(InputError, match="columns 'Item' and 'ITEM' could both be 'item'"):
        scores(table)


def test_a_path_leads_into_nested_json(tmp_path):
    rows = [
        {"meta": {"id": f"i{k}", "shown": order}, "grading": {"scores": [{"value": value}]}}
        for k, (order, value) in enumerate([([1, 2, 3], 1), ([3, 2, 1], 3)])
    ]
    text = "\n".join(map(json.dumps, rows))
    names = Columns.parse(["item=meta.id,ordering=meta.shown,score=grading.scores.0.value"])
    found = read(tmp_path / "log.jsonl", text, columns=names)
    assert found[["item_id", "score", "position"]].to_numpy().tolist() == [["i0", 1, 1], ["i1", 3, 1]]
    (tmp_path / "log.json").write_text(json.dumps(rows))
    same(found, estimates.scores_of(tmp_path / "log.json", columns=names))
    pd.DataFrame(rows).to_parquet(tmp_path / "log.parquet")
    same(found, estimates.scores_of(tmp_path / "log.parquet", columns=names))


def test_a_missing_path_names_those_that_there_are(tmp_path):
    text = json.dumps({"id": 1, "grading": {"score": 4, "why": "good"}, "ordering": "1 2"})
    with pytest.raises(InputError) as error:
        read(tmp_path / "log.jsonl", text)
    assert "did you mean --columns item=id,score=grading.score?" in str(error.value)
    with pytest.raises(InputError, match=r"no column 'grading\.scor'; found id, grading\.score, grading.why, ordering"):
        read(tmp_path / "log.jsonl", text, columns=Columns.parse(["score=grading.scor"]))


@pytest.mark.parametrize(("name", "separator"), [("a.tsv", "\t"), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", ",")])
@pytest.mark.parametrize("packed", [False, True])
def test_separators_and_gzip(tmp_path, name, separator, packed):
    table = pd.DataFrame({"item": ["a", "b"], "ordering": ["1,2", "2 1"], "score": [1, 2], "text": ['x;"y', "z\nz"]})
    text = table.to_csv(sep=separator, index=False).encode()
    found = read(tmp_path / f"{name}{'.gz' if packed else ''}", gzip.compress(text) if packed else text)
    same(found, scores(table))


def test_a_packed_file_needs_no_ending(tmp_path):
    lines = '{"item": 1, "ordering": "12", "score": 2}\n'
    same(read(tmp_path / "a.jsonl", gzip.compress(lines.encode())), read(tmp_path / "b.jsonl", lines))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv.gz", gzip.compress(b"item,ordering,score\na,1 2,1\n", mtime=0)[:-12], "broken gzip file"),
        ("a.json", b'{\n "other": 1\n}\n', "expected a list of objects, or an object per line, found one object"),
        ("a.json", b"[1]", "entry 1: expected a mapping, found 1"),
        ("a.json", b"[{}", "malformed JSON"),
        ("a.gz", b"", "expected a file that ends in .csv, .jsonl or .parquet"),
    ],
)
def test_a_file_that_is_none_is_one_line(tmp_path, name, content, message):
    with pytest.raises(InputError) as error:
        read(tmp_path / name, content)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


ZERO = ("0", "1", "2", "3", "4")
HALVES = tuple(f"{value:g}" for value in np.arange(1, 5.5, 0.5))
ELEVEN = tuple(map(str, range(11)))
LETTERS = ("E", "D", "C", "B", "A")


def judged(labels, **columns):
    """Reads of a judge that prefers the first position, with levels as they are written, and the same from 1 on."""
    n = len(labels)
    rows = []
    for item in range(40):
        for order in orderings.balanced(n):
            level = order[0] if item % 4 == 0 else 1 + item % n
            rows.append((item, order, level))
    written = pd.DataFrame(
        {"item": item, "ordering": " ".join(labels[k - 1] for k in order), "score": labels[level - 1]}
        for item, order, level in rows
    )
    plain = pd.DataFrame({"item": item, "ordering": " ".join(map(str, o)), "score": k} for item, o, k in rows)
    return written, plain


@pytest.mark.parametrize("labels", [ZERO, HALVES, ELEVEN, LETTERS, ("i", "ii", "iii")])
def test_a_scale_is_that_of_the_orderings(labels):
    written, plain = judged(labels)
    found = scores(written)
    if labels != ELEVEN:
        same(found.drop(columns=["scale", "lowest"], errors="ignore"), scores(plain).drop(columns="scale"))
    assert set(found.get("lowest", [1])) == {0 if labels in (ZERO, ELEVEN) else 1}
    assert set(found["strategy"]) == {"balanced"}
    assert found["score"].max() == len(labels)
    card, usual = ro.bias_card(written)[0], ro.bias_card(plain)[0]
    assert card.to_dict()["preference"] == usual.to_dict()["preference"]
    assert [note for note in card.notes if note not in usual.notes]


def test_eleven_levels_are_told_apart():
    written, _ = judged(ELEVEN)
    card = ro.bias_card(written)[0].to_dict()
    assert (card["n_levels"], card["n_orderings"], card["design"]["balanced"]) == (11, 22, True)
    assert card["v"] == pytest.approx(0.25)  # that of a judge that selects the first position in a quarter of its reads


def test_notes_say_how_large_a_point_is():
    (card,) = ro.bias_card(judged(HALVES)[0])
    assert any("1, 1.5, ..., 5; a point on this card is one level, 0.5 of a written score" in n for n in card.notes)


def test_letters_can_be_in_another_order():
    written, _ = judged(LETTERS)
    up, down = (scores(written, scale=scales.parse(text)) for text in ("A,B,C,D,E", "E,D,C,B,A"))
    assert (up["score"] == 6 - down["score"]).all()
    assert (up["position"] == down["position"]).all()


@pytest.mark.parametrize(
    ("shown", "expected"),
    [("ascending", [1, 2, 3]), ("Descending", [3, 2, 1]), ("reversed", [3, 2, 1]), ("CBA", [1, 2, 3])],
)
def test_words_and_letters_name_orderings(shown, expected):
    letters = shown.isupper()
    table = {"item": ["a"], "ordering": [shown], "score": ["B" if letters else 2]}
    found = scores(table, scale=None if letters else scales.parse("3"))
    assert list(found["ordering"][0]) == expected
    assert found["position"].tolist() == [2]


def test_a_word_takes_the_scale_of_the_other_orderings():
    table = {"item": ["a", "a", "b"], "ordering": ["descending", "0 1 2", "descending"], "score": [2, 0, 1]}
    found = scores(table)
    assert [list(order) for order in found["ordering"]] == [[3, 2, 1], [1, 2, 3], [3, 2, 1]]
    assert found["score"].tolist() == [3, 1, 2]
    with pytest.raises(InputError, match="row 1: field 'ordering': expected the scores, such as '5 4 3 2 1', or --sc"):
        scores({"item": ["a"], "ordering": ["ascending"], "score": [1]})


@pytest.mark.parametrize(
    ("labels", "text", "level"),
    [
        ("5", "4/5", 4),
        ("5", "The plot holds. Score: 3", 3),
        ("5", "I cannot say.", None),
        ("5", "Between 2 and 4, hard to tell", None),
        ("E,D,C,B,A", "b", 4),
        ("E,D,C,B,A", "I would give it a B.", 4),
        ("0-10", "7/10", 8),
        ("0-10", "Score: 0", 1),
        ("0-10", "[[10]]", 11),
        ("0-10", "The plot holds. I would give it an 8 out of 10.", 9),
        ("1-5:0.5", "3.5", 6),
        ("1-5:0.5", "3,5", 6),
        ("1-5:0.5", "Rating: 4.5 / 5", 8),
    ],
)
def test_answers_are_parsed(labels, text, level):
    scale = scales.parse(labels)
    table = {"item": ["a", "b"], "ordering": "ascending", "score": [text, scale.labels[0]]}
    found = scores(table, scale=scale)["score"]
    assert (None if found.isna()[0] else int(found[0])) == level


def test_answers_without_a_score_are_counted_by_reason():
    written, _ = judged(ZERO)
    written.loc[[0, 3], "score"] = "no idea at all"
    written.loc[5, "score"] = ""
    (card,) = ro.bias_card(written)
    assert card.to_dict()["n_failed"] == 3
    assert any("2 answers were read and give no score: no_score 2" in note for note in card.notes)


@pytest.mark.parametrize("packed", [False, True])
def test_a_column_of_reasons_is_read_where_there_is_no_score(packed):
    written, _ = judged(ZERO)
    written["failure"] = None
    written.loc[[0, 1, 2, 3], "score"] = ""
    written.loc[[0, 1, 5], "failure"] = [f"timeout\n{'x' * 80}", "y" * 80, "of a read that has a score"]
    written.loc[3, "score"] = "no idea at all"
    written.loc[3, "failure"] = "the parser's reason counts"
    table = written.astype({"failure": "category", "score": "category"}) if packed else written
    card = ro.bias_card(table)[0].to_dict()
    assert card["failures"] == {"empty": 1, "no_score": 1, "timeout": 1, "y" * 60: 1}
    renamed = ro.bias_card(table.rename(columns={"failure": "why"}), columns={"failure": "why"})[0].to_dict()
    assert renamed["failures"] == card["failures"]


def test_a_reason_may_be_a_number():
    written, _ = judged(ZERO)
    written["failure"] = 429.0
    written.loc[[0, 1], "score"] = ""
    assert ro.bias_card(written)[0].to_dict()["failures"] == {"429": 2}


@pytest.mark.parametrize("values", [[{"a": 1}, np.nan], [True, None], ["", "NaN"], [["a"], "\t"]])
def test_a_column_of_reasons_that_holds_no_text_is_not_read(values):
    written, _ = judged(ZERO)
    written["failure"] = pd.Series(values * len(written), dtype=object)[: len(written)]
    written.loc[[0, 1], "score"] = ""
    assert ro.bias_card(written)[0].to_dict()["failures"] == {"empty": 2}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"score": ["7"], "ordering": ["0 1 2"]}, "row 1: field 'score': expected one of 0, 1, 2, or nothing"),
        ({"score": ["7/5"], "ordering": ["1 2 3"]}, "field 'score': expected a whole number from 1 to 3"),
        ({"score": ["refused"], "ordering": ["1 2 3"]}, "found 'refused'"),
        ({"score": ["no idea at all"], "ordering": ["1 2"]}, "expected answers that give a score, found none in any"),
        ({"score": [1], "ordering": ["1 2 4"]}, "field 'ordering': expected the 2 to 11 scores"),
        ({"score": [{"a": 1}], "ordering": ["1 2"]}, "field 'score': expected a text, a number, or a list of them"),
    ],
)
def test_what_is_no_score_and_no_ordering_is_named(columns, message):
    with pytest.raises(InputError) as error:
        scores({"item": ["a"], **columns})
    assert message in str(error.value)


def test_a_judge_has_one_scale():
    table = {"item": ["a", "b"], "ordering": ["1 2 3", "0 1 2"], "score": [1, 1]}
    message = "row 2: field 'ordering': 'judge' has two scales: 1, 2, 3 in an earlier row, 0, 1, 2 here"
    with pytest.raises(InputError, match=message):
        scores(table)
    assert scores({**table, "judge": ["one", "two"]})["score"].tolist() == [1, 2]


@pytest.mark.parametrize("text", ["1", "12", "0-20", "5-1", "1-5:0.3", "1,2,4", "2,1", "A,a", ",", "x-y"])
def test_a_scale_that_is_none(text):
    with pytest.raises(InputError, match="scale: expected such as 5, 0-10"):
        scales.parse(text)


def test_human_scores_and_probabilities_are_on_the_scale():
    table = {
        "item": ["a"],
        "ordering": ["2 1 0"],
        "score": [0],
        "human_score": [1.5],
        "p_0": 0.5,
        "p_1": 0.3,
        "p_2": 0.2,
    }
    found = scores(table)
    assert found["human_score"].tolist() == [2.5]
    assert found["expected_score"].tolist() == pytest.approx([1.7])
    assert list(found["position_probabilities"][0]) == [0.2, 0.3, 0.5]
    letters = scores(
        {"item": ["a"], "ordering": ["A B C"], "score": ["A"], "human_score": ["B"], "P_A": 0.8, "p_b": 0.2, "p_C": 0}
    )
    assert letters["human_score"].tolist() == [2]
    assert letters["expected_score"].tolist() == pytest.approx([2.8])


def test_calibration_takes_scores_from_one_alone():
    written, _ = judged(ZERO)
    with pytest.raises(InputError, match=r"expected the scores 1 to n, found 0, 1, \.\.\., 4"):
        ro.calibrate(written)


def test_two_files_of_others_are_compared(tmp_path):
    written, plain = judged(ZERO)
    names = {"item": "id", "score": "rating"}
    foreign = written.rename(columns=names)
    for name in ("one", "two"):
        foreign.assign(judge=name).to_csv(tmp_path / f"{name}.tsv", sep="\t", index=False)
    found = comparison.compare(tmp_path / "one.tsv", tmp_path / "two.tsv", columns=names)
    usual = comparison.compare(plain.assign(judge="one"), plain.assign(judge="two"))
    assert str(found) == str(usual)
