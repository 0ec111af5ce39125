"""Files of recorded answers: their formats, and what is wrong with them."""

import re

import pytest
from recorded_answers import RECORDS, compared_summaries, comparison, general, write

from rubric_order.base.errors import InputError
from rubric_order.intake.recorded import discovery, formats
from rubric_order.intake.recorded import plans as reads


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet", "deep/er/a.jsonl"])
@pytest.mark.parametrize("kind", RECORDS)
def test_every_format_is_recognised_by_its_fields_in_every_kind_of_file(tmp_path, kind, name):
    write(tmp_path / name, RECORDS[kind](), RECORDS[kind](response="other"))
    assert [record["format"] for record in formats.read(tmp_path / name)] == [kind, kind]


def test_a_record_with_the_fields_of_several_formats_is_of_the_one_that_more_fields_mark(tmp_path):
    path = write(tmp_path / "a.jsonl", general() | RECORDS["summeval"]() | compared_summaries())
    assert [record["format"] for record in formats.read(path)] == ["summeval_pairwise"]
    path = write(tmp_path / "b.jsonl", general() | RECORDS["pairwise"]())
    assert [record["format"] for record in formats.read(path)] == ["pairwise"]


# --- files that are wrong


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.jsonl: line 1: expected a recorded answer, found nothing"),
        (b"\n \n", "a.jsonl: line 1: expected a recorded answer, found nothing"),
        (b'{"question": 1}\n', "a.jsonl: line 1: no known format of recorded answers: found fields question"),
        (b"[1]\n", "a.jsonl: line 1: expected a mapping, found [1]"),
        (b'\n{"item_id": \n', "a.jsonl: line 2, column 13: malformed JSON"),
        (b'{"item_id": "\xff"}\n', "a.jsonl: line 1: expected UTF-8, found byte 0xff"),
        (b'{"item_id": ' + b"9" * 5000 + b"}\n", "a.jsonl: line 1: malformed JSON"),
        (b"[" * 100_000 + b"\n", "a.jsonl: line 1: nested too deeply"),
    ],
)
def test_a_broken_line_is_an_error_with_file_and_line(tmp_path, content, message):
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        discovery.discover(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in RECORDS for name in formats.importers()[kind].required]
)
def test_a_missing_field_is_an_error_with_file_and_line(tmp_path, kind, name):
    broken = RECORDS[kind]()
    del broken[name]
    write(tmp_path / "a.jsonl", RECORDS[kind](), broken)
    with pytest.raises(InputError, match=f"a.jsonl: line 2: field '{name}' is missing"):
        discovery.discover(tmp_path)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (general(response=4), "field 'response': expected text, found 4"),
        (general(response="\ud83d"), "field 'response': expected text without half of a surrogate pair"),
        (general(item_id=" "), "field 'item_id': expected a name, found ' '"),
        (general(ordering=[1, 1, 2]), "field 'ordering': expected a list that holds each of 1 to n once"),
        (general(ordering=[1, 2, "3"]), "field 'ordering': expected a list"),
        (general(ordering=[True, 2]), "field 'ordering': expected a list"),
        (general(ordering=[1]), "field 'ordering': expected a list"),
        (general(ordering="1,2"), "field 'ordering': expected a list"),
        (general(ordering_index=-1), "field 'ordering_index': expected a whole number from 0, found -1"),
        (general(repeat=1.5), "field 'repeat': expected a whole number from 0, found 1.5"),
        (general(repeat=True), "field 'repeat': expected a whole number from 0, found True"),
        (comparison(options=[]), "field 'options': expected two or three different capital letters, the last"),
        (comparison(options=["A", "B", "B"]), "field 'options': expected two or three different capital letters"),
        (comparison(answer_b="x"), "field 'answer_b': expected another one than answer_a, found 'x' twice"),
        (compared_summaries(pair=["M8"]), "field 'pair': expected a list of two names"),
        (compared_summaries(toggled="no"), "field 'toggled': expected true or false, found 'no'"),
        (compared_summaries(human_score_1="2"), "field 'human_score_1': expected a number, found '2'"),
    ],
)
def test_a_wrong_value_is_an_error_with_file_line_and_field(tmp_path, record, message):
    path = write(tmp_path / "a.jsonl", record)
    with pytest.raises(InputError, match=re.escape(f"a.jsonl: line 1: {message}")):
        reads.read(path)


def test_a_gzip_file_that_is_cut_short_is_an_error(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", *(general(item_id=f"i{k}", response=str(k)) for k in range(2000)))
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputError, match=r"a.jsonl.gz: line \d+: broken gzip file"):
        discovery.discover(tmp_path)


@pytest.mark.parametrize("content", [b"no gzip", b"\x1f\x8b\x08\x00garbage that is no deflate stream"])
def test_a_file_that_is_no_gzip_is_an_error(tmp_path, content):
    (tmp_path / "a.jsonl.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.jsonl\.gz: line 1[:,] "):
        discovery.discover(tmp_path)


def test_a_file_that_is_no_parquet_is_an_error(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match=r"a\.parquet: malformed Parquet"):
        discovery.discover(tmp_path)
