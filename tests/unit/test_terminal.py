"""Output on a terminal: no traceback, and no character that controls it."""

import gzip
import json
import re
import signal
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from endpoint import Reply, running

from rubric_order.base import command_line
from rubric_order.base.errors import InputError, printable
from rubric_order.commands import app, as_json

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]")
EVIL = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eback"
ROWS = [
    {"judge": "j", "item": f"i{k}", "ordering": ordering, "score": k % 3 + 1}
    for k in range(20)
    for ordering in ("1 2 3", "3 2 1")
]


@pytest.fixture
def said(monkeypatch, capsys):
    """The program's output, and its status."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["rubric-order", *map(str, words)])
        monkeypatch.setattr(app.signals, "end_once", lambda: None)
        try:
            app.main()
        except SystemExit as end:
            return end.code, *capsys.readouterr()
        return 0, *capsys.readouterr()

    return run


def csv(text):
    return "item,ordering,score\n" + "".join(f"{row['item']},{row['ordering']},{row['score']}\n" for row in ROWS) + text


def lines(**changes):
    return "".join(json.dumps(row | changes) + "\n" for row in ROWS).encode()


FILES = {
    "latin.csv": csv("").replace("item", "ítem").encode("latin-1"),
    "body.csv": csv("").replace("i3", "í3").encode("latin-1"),
    "utf16.csv": csv("").encode("utf-16"),
    "packed.csv": gzip.compress(csv("").encode())[:60],
    "packed.jsonl": gzip.compress(lines())[:60],
    "packed.parquet": gzip.compress(b"x"),
    "key.jsonl": lines(**{"\ud800": 1}),
    "item.jsonl": lines(item="\ud800"),
    "deep.jsonl": b"[" * 100_000,
    "number.jsonl": b'{"item": ' + b"9" * 5000 + b"}",
    "score.jsonl": lines(score=EVIL),
    "name.jsonl": lines(**{EVIL: 1, "orderng": 1}).replace(b'"ordering"', b'"orderng2"'),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_reads_that_cannot_be_read_is_one_line(said, tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name])
    status, out, err = said("audit", tmp_path / name)
    assert (status, out) == (1, "")
    assert err.startswith(f"error: {tmp_path / name}: ")
    assert err.count("\n") == 1
    assert not CONTROL.search(err)


def test_lists_of_lists_in_parquet_are_one_line(said, tmp_path):
    table = pa.table({"item": ["a"] * 4, "ordering": [[[1], [2]]] * 4, "score": [1] * 4})
    pq.write_table(table, tmp_path / "a.parquet")
    status, _, err = said("audit", tmp_path / "a.parquet")
    assert status == 1
    assert "row 1: field 'ordering': expected a text, a number, or a list of them, found" in err


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_names_cannot_control_the_terminal(said, tmp_path, options):
    files = []
    for name in ("one", "two"):
        files.append(tmp_path / f"{name}.parquet")
        pd.DataFrame([row | {"judge": f"{name} {EVIL}"} for row in ROWS]).to_parquet(files[-1])
    for words in (["audit", files[0]], ["compare", *files]):
        status, out, err = said(*words, *options)
        assert status == 0, err
        assert "red" in out
        assert not CONTROL.search(out + err)
        if options:
            assert EVIL in str(json.loads(out)[0]["judge"] if words[0] == "audit" else json.loads(out)["one"])


def test_json_without_unseen_characters_says_the_same():
    value = {"a": [EVIL, "\U000e0001 and \ud800", "ä\n"]}
    assert json.loads(as_json(value)) == value
    assert not CONTROL.search(as_json(value))
    assert "ä" in as_json(value)


def test_a_message_escapes_what_it_quotes_and_keeps_its_lines():
    message = str(InputError(f"one {EVIL}\ntwo\t\ud800 ünï 🙂"))
    assert not CONTROL.search(message)
    assert message.endswith("\ntwo\t\\ud800 ünï 🙂")
    assert printable("plain") == "plain"


def test_a_line_of_the_log_escapes_what_it_quotes(capfd):
    code = "from rubric_order.base import command_line\ncommand_line.begin()\ncommand_line.log.warning('a %s', {!r})"
    run = subprocess.run([sys.executable, "-c", code.format(EVIL)], capture_output=True, text=True)
    assert "red" in run.stderr
    assert not CONTROL.search(run.stderr)


def test_a_prompt_is_escaped_on_a_terminal_alone(said, tmp_path, monkeypatch):
    (tmp_path / "reply.txt").write_text(f"text {EVIL}", encoding="utf-8")
    words = ["render", tmp_path / "reply.txt", "--level", "bad", "--level", "good"]
    assert EVIL in said(*words)[1]
    monkeypatch.setattr("rubric_order.commands._is_terminal", lambda: True)
    assert not CONTROL.search(said(*words)[1])


def test_standard_input_that_is_no_utf8_is_one_line():
    run = subprocess.run(
        [sys.executable, "-m", "rubric_order.commands.app", "parse", "-"], input=b"caf\xe9", capture_output=True
    )
    assert run.returncode == 1
    assert run.stderr == b"error: standard input: expected UTF-8, found byte 0xe9\n"


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2, 5])
def test_ctrl_c_ends_a_probe_without_a_traceback_however_often(tmp_path, times):
    (tmp_path / "reply.txt").write_text("Hello.")
    with running(lambda call: Reply(stall=True)) as endpoint:
        command = [sys.executable, "-m", "rubric_order.commands.app", "probe", str(tmp_path / "reply.txt")]
        command += ["--level", "bad", "--level", "good", "--base-url", endpoint.base_url, "--model", "m"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while not endpoint.calls and process.poll() is None:
                pass
            for _ in range(times):
                process.send_signal(signal.SIGINT)
            _, err = process.communicate()
    assert process.returncode not in (0, None)
    assert "Traceback" not in err
    assert "KeyboardInterrupt" not in err


def test_ctrl_c_ends_a_job_without_a_traceback():
    code = (
        "import os, signal\nfrom rubric_order.base import command_line\n"
        "def main() -> None:\n    os.kill(os.getpid(), signal.SIGINT)\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "command_line.run(main)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr == "ended on request\n"


def test_an_option_that_names_a_file_of_settings_takes_it(tmp_path, monkeypatch, capsys):
    def main(settings: dict) -> None:
        print(settings)

    (tmp_path / "a.json").write_text('{"a": 1}')
    for value, status in ((tmp_path / "a.json", None), ('{"a": 1}', None), (tmp_path / "none.json", 2), ("[1]", 2)):
        monkeypatch.setattr(sys, "argv", ["x", "--settings", str(value)])
        monkeypatch.setattr(command_line, "begin", lambda: None)
        if status is None:
            command_line.run(main)
        else:
            with pytest.raises(SystemExit) as end:
                command_line.run(main)
            assert end.value.code == status
    out, err = capsys.readouterr()
    assert out == "{'a': 1}\n" * 2
    assert "expected JSON or a file of JSON" in err
