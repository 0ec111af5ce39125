import re
import stat

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rubric_order
from rubric_order.base import files, parquet
from rubric_order.base import records as sources
from rubric_order.base.errors import InputError


def test_a_written_file_is_whole_and_alone_in_its_folder(tmp_path):
    files.write_text("héllo\n", tmp_path / "deep/er/a.txt")
    assert (tmp_path / "deep/er/a.txt").read_bytes() == "héllo\n".encode()
    assert [path.name for path in (tmp_path / "deep/er").iterdir()] == ["a.txt"]


def test_a_write_that_fails_leaves_nothing_behind_and_the_old_file_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write():
        with files.atomic(path) as temporary:
            temporary.write_text("half of the new")
            assert path.read_text() == "old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(TypeError):
        parquet.write(pd.DataFrame({"a": [1]}), tmp_path / "a.parquet", odd=object())
    with pytest.raises(pa.ArrowException):
        parquet.write(pd.DataFrame({"a": [1, "b"]}), tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_written_file_can_be_read_by_others(tmp_path):
    files.write_text("x", tmp_path / "a.txt")
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o644


def test_the_temporary_file_keeps_the_suffix_that_writers_go_by(tmp_path):
    with files.atomic(tmp_path / "a.svg") as temporary:
        temporary.touch()
        assert temporary.suffix == ".svg"
        assert temporary.parent == tmp_path


TEXTS = [
    "=1+1",
    "+a",
    "-b",
    "@SUM(A1)",
    "\t=x",
    "-0.3",
    "+2",
    "-1e3",
    "-",
    "=",
    "'=x",
    "''-y",
    "'a",
    "a=b",
    "-.5",
    "-0.3 [-1]",
]


def test_no_cell_of_csv_is_a_formula_and_a_reader_gets_the_same_texts_and_numbers(tmp_path):
    table = pd.DataFrame({"=name": TEXTS, "number": np.linspace(-1, 1, len(TEXTS)), "kind": pd.Categorical(TEXTS)})
    files.write_csv(table, tmp_path / "a.csv")
    first = [row["'=name"] for _, row in files.read_csv(tmp_path / "a.csv", ())]
    assert [text for text in first if text[:1] in "=+-@\t" and len(text) > 1] == ["-0.3", "+2", "-1e3", "-.5"]
    back = sources.read(tmp_path / "a.csv")
    assert back["=name"].tolist() == back["kind"].tolist() == TEXTS
    assert back["number"].astype(float).tolist() == table["number"].tolist()


TABLE = pd.DataFrame(
    {
        "name": ["a", "b", None],
        "score": pd.array([1, None, 3], dtype="Int8"),
        "share": [0.1, np.nan, 0.3],
        "ordering": [[1, 2], [2, 1], [1, 2]],
    }
)


def test_a_table_comes_back_as_it_was_with_its_metadata(tmp_path):
    parquet.write(TABLE, tmp_path / "a.parquet", study="s", settings={"n": 5})
    back = pd.read_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(back.drop(columns="ordering"), TABLE.drop(columns="ordering"))
    assert [list(row) for row in back["ordering"]] == TABLE["ordering"].tolist()
    assert parquet.read_metadata(tmp_path / "a.parquet") == {
        "schema_version": parquet.SCHEMA_VERSION,
        "rubric_order": rubric_order.__version__,
        "study": "s",
        "settings": {"n": 5},
    }


def test_the_bytes_of_a_table_depend_on_its_rows_and_metadata_alone(tmp_path):
    def written(name, table=TABLE, **metadata):
        parquet.write(table, tmp_path / name, **metadata)
        return (tmp_path / name).read_bytes()

    first = written("a.parquet", seed=1, study="s")
    assert written("other/b.parquet", TABLE.copy(), study="s", seed=1) == first
    assert written("c.parquet", TABLE.set_index(pd.Index([7, 8, 9])), seed=1, study="s") == first
    assert written("d.parquet", seed=2, study="s") != first
    assert written("e.parquet", TABLE.iloc[:2], seed=1, study="s") != first


def test_tables_of_one_schema_are_read_as_one_also_where_a_column_is_empty_in_some(tmp_path):
    parquet.write(TABLE, tmp_path / "a.parquet")
    parquet.write(TABLE.assign(name=None, ordering=None), tmp_path / "b.parquet")
    parquet.write(TABLE.iloc[:0], tmp_path / "c.parquet")
    for order in ("abc", "bac", "cba"):
        table = parquet.read([tmp_path / f"{name}.parquet" for name in order])
        assert len(table) == 6
        assert table["score"].dtype == "Int8"
        assert table["name"].notna().sum() == 2
        assert table["ordering"].notna().sum() == 3
    columns = parquet.read([tmp_path / "a.parquet"], columns=["share"]).columns
    assert columns.tolist() == ["share"]


def test_a_table_has_no_index_column(tmp_path):
    parquet.write(TABLE.set_index(pd.Index([7, 8, 9])), tmp_path / "a.parquet")
    assert pq.read_schema(tmp_path / "a.parquet").names == TABLE.columns.tolist()


def test_a_checksum_is_that_of_the_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert files.sha256(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def wrong(read, path, content=None):
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read(path)
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(path), "FILE")


@pytest.mark.parametrize("read", [files.read_text, files.read_json, files.read_json_lines, files.read_yaml])
def test_a_file_that_cannot_be_read_as_text_is_an_error_that_names_it(tmp_path, read):
    assert wrong(read, tmp_path / "none") == "FILE: no such file"
    assert wrong(read, tmp_path) == "FILE: cannot be read: Is a directory"
    found = wrong(read, tmp_path / "a", '"first"\n"caf\u00e9"\n'.encode("latin-1"))
    assert found == "FILE: line 2: expected UTF-8, found byte 0xe9"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert files.read_json(tmp_path / "a.json") == {"a": 1}


def test_malformed_json_is_an_error_with_line_and_column(tmp_path):
    found = wrong(files.read_json, tmp_path / "a.json", b'{"a": 1,\n "b" 2}')
    assert found == "FILE: line 2, column 6: malformed JSON: Expecting ':' delimiter"


def test_json_lines_are_read_with_the_numbers_of_their_lines(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n"\u2028"\r\n[2]', encoding="utf-8", newline="")
    assert files.read_json_lines(tmp_path / "a.jsonl") == [(1, {"a": 1}), (3, "\u2028"), (4, [2])]


def test_a_malformed_json_line_is_an_error_with_its_number(tmp_path):
    found = wrong(files.read_json_lines, tmp_path / "a.jsonl", b'{"a": 1}\n\n{"a": }\n')
    assert found == "FILE: line 3, column 7: malformed JSON: Expecting value"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3, column 1: malformed YAML: duplicate key 'a'"),
        ("x:\n  - {a: 1, a: 1}\n", "line 2, column 12: malformed YAML: duplicate key 'a'"),
        ("1: low\n2: high\n1: lower\n", "line 3, column 1: malformed YAML: duplicate key 1"),
        ("a: [1, 2\nb: 3\n", "line 2, column 2: malformed YAML"),
        ("a: !!python/object/apply:os.getcwd []\n", "line 1, column 4: malformed YAML"),
        ("a: *nowhere\n", "line 1, column 4: malformed YAML: found undefined alias 'nowhere'"),
        ("? [a]\n: 1\n", "line 1, column 3: malformed YAML: key ['a'] is not a word"),
        ("a: 1\nb: ding\x07\n", r"line 2: character '\x07' is not allowed in YAML"),
        ("a: 2026-02-31\n", "line 1, column 4: malformed YAML: day is out of range for month"),
    ],
)
def test_malformed_yaml_is_an_error_with_its_line(tmp_path, content, message):
    assert wrong(files.read_yaml, tmp_path / "a.yaml", content.encode()).startswith(f"FILE: {message}")


def test_merge_keys_of_yaml_may_be_overridden_and_are_no_duplicates(tmp_path):
    (tmp_path / "a.yaml").write_text("base: &base {x: 1, y: 2}\nnew:\n  <<: *base\n  y: 3\n")
    assert files.read_yaml(tmp_path / "a.yaml")["new"] == {"x": 1, "y": 3}


def test_the_metadata_of_a_column_survives_for_pandas(tmp_path):
    parquet.write(TABLE, tmp_path / "a.parquet")
    kept = pq.read_schema(tmp_path / "a.parquet").metadata
    assert re.search(rb'"Int8"', kept[b"pandas"])
