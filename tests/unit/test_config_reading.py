"""Config files, read before Snakemake reads them."""

import os

import pytest

from rubric_order.base.errors import InputError
from rubric_order.settings import reading

# Nine lines: aliases of aliases stand for 9 ** 9 values.
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def problem(path) -> str:
    with pytest.raises(InputError) as error:
        reading.read(path)
    return str(error.value).replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"judges:\n  a: {}\n  a: {}\n", "FILE: line 3, column 3: malformed YAML: duplicate key 'a'"),
        (BOMB.encode(), "FILE: line 6, column 8: malformed YAML: aliases stand for more than 100000 values"),
        (BOMB.replace("[", "{k: [").replace("]", "]}").encode(), "FILE: line 6, column "),
        (
            b"a: &a {x: 1}\nb: {<<: [*a, *a], y: *c}\n",
            "FILE: line 2, column 22: malformed YAML: found undefined alias 'c'",
        ),
        (b"a: &a\n  b: *a\n", "FILE: line 2, column 6: malformed YAML: alias *a stands for the value that it is in"),
        (b"judges:\n\ta: 1\n", "FILE: line 2, column 1: malformed YAML"),
        ("judges:\n  a: café\n".encode("latin-1"), "FILE: line 2: expected UTF-8, found byte 0xe9"),
        (b"a: 1\nb: 2026-02-31\n", "FILE: line 2, column 4: malformed YAML: day is out of range"),
        (b"a: 1\nb: " + b"9" * 5000, "FILE: line 2, column 4: malformed YAML: Exceeds the limit"),
        (b"a: " + b"[" * 3000 + b"]" * 3000, "FILE: line 1, column 53: malformed YAML: nested too deeply"),
        (b"a: 1\n---\nb: 1\n", "FILE: line 2, column 1: malformed YAML"),
        (b"", "FILE: expected a mapping of keys to settings, found nothing"),
        (b"- a\n", "FILE: expected a mapping of keys to settings, found ['a']"),
        (b"__use_yte__: true\na: ?1/0\n", "FILE: key '__use_yte__': expected plain YAML"),
        (b"a: !!python/object/apply:os.system [ls]\n", "FILE: line 1, column 4: malformed YAML"),
        (b'{"judges": {}, "judges": {}}', "FILE: key 'judges' stands twice in one mapping"),
        (b"x: y\n" * 200_000, "FILE: expected at most 500,000 bytes, found 1,000,000"),
    ],
)
def test_a_file_that_is_no_config_is_one_line_with_its_place(tmp_path, content, message):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    assert problem(path).startswith(message)
    assert "\n" not in problem(path)


def test_what_is_no_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert problem(tmp_path / "nowhere.yaml") == "FILE: no such file"
    assert problem(tmp_path) == "FILE: cannot be read: Is a directory"
    assert problem(tmp_path / "pipe") == "FILE: expected a file with a config, found a device or a pipe"


def test_aliases_that_repeat_little_are_taken(tmp_path):
    (tmp_path / "a.yaml").write_text("base: &base {x: 1}\none: {<<: *base, y: 2}\ntwo: *base\n")
    assert reading.read(tmp_path / "a.yaml")["one"] == {"x": 1, "y": 2}


def test_json_is_read_as_json(tmp_path):
    (tmp_path / "a.json").write_text('{\n\t"a": 1e2}')
    assert reading.read(tmp_path / "a.json") == {"a": 100.0}


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (["-n", "--configfile", "a", "b", "--cores", "1"], ["a", "b"]),
        (["--configfiles", "a", "--config", "x=1", "y=2"], ["a"]),
        (["--config", "x=1"], []),
        (["all", "-C", "x=1", "--configfile", "a", "-s", "Snakefile"], ["a"]),
        (["--configfile"], []),
    ],
)
def test_the_config_files_of_a_command_line(words, files):
    assert reading.named(words) == files
