"""Command lines made from signatures."""

import dataclasses
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_order.base import command_line
from rubric_order.base.errors import InputError


@pytest.fixture
def called(monkeypatch):
    """Arguments that a command line gives to `main`."""

    def run(*arguments):
        calls = []

        def main(number: int, settings: dict, paths: list[Path], files: dict[str, Path], model: Path | None) -> None:
            calls.append({"number": number, "settings": settings, "paths": paths, "files": files, "model": model})

        monkeypatch.setattr(sys, "argv", ["script", *arguments])
        command_line.run(main)
        return calls[0]

    return run


def test_options_are_read_as_the_signature_says(called):
    found = called(
        *("--number", "3", "--settings", '{"a": null}', "--paths", "x", "y", "--files", "one=a=b", "--model", "m")
    )
    assert found == {
        "number": 3,
        "settings": {"a": None},
        "paths": [Path("x"), Path("y")],
        "files": {"one": Path("a=b")},
        "model": Path("m"),
    }


@dataclasses.dataclass
class Lines:
    lines: list[str]

    @classmethod
    def from_file(cls, path):
        if not Path(path).exists():
            raise InputError(f"{path}: no such file")
        return cls(Path(path).read_text().splitlines())


def test_a_class_that_reads_files_is_given_the_path_of_one(monkeypatch, tmp_path):
    given = []

    def main(table: Lines) -> None:
        given.append(table)

    (tmp_path / "table.txt").write_text("a\nb\n")
    monkeypatch.setattr(sys, "argv", ["script", "--table", str(tmp_path / "table.txt")])
    command_line.run(main)
    assert given == [Lines(["a", "b"])]
    monkeypatch.setattr(sys, "argv", ["script", "--table", "nowhere.txt"])
    with pytest.raises(SystemExit, match=r"error: nowhere\.txt: no such file"):
        command_line.run(main)


def test_several_can_be_none(called):
    found = called("--number", "3", "--settings", "{}", "--paths", "--files", "--model")
    assert (found["paths"], found["files"], found["model"]) == ([], {}, None)


def test_a_users_mistake_ends_the_program_with_one_line(monkeypatch):
    def main() -> None:
        raise InputError("table.csv: line 3: no")

    monkeypatch.setattr(sys, "argv", ["script"])
    with pytest.raises(SystemExit) as ended:
        command_line.run(main)
    assert ended.value.code == "error: table.csv: line 3: no"


@pytest.mark.parametrize("code", [None, 0, False])
def test_a_job_that_code_of_others_ends_is_not_done(monkeypatch, code):
    def main() -> None:
        sys.exit(code)

    monkeypatch.setattr(sys, "argv", ["script"])
    with pytest.raises(SystemExit) as ended:
        command_line.run(main)
    assert ended.value.code == "error: code of another package has called sys.exit, and the job is not done"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_is_full_or_read_only_ends_the_program_with_one_line(monkeypatch, number):
    def main() -> None:
        raise OSError(number, "no", "results/x.parquet")

    monkeypatch.setattr(sys, "argv", ["script"])
    with pytest.raises(SystemExit) as ended:
        command_line.run(main)
    assert ended.value.code == f"error: results/x.parquet: {os.strerror(number)}"


LEFT = """
import threading
from concurrent.futures import ThreadPoolExecutor
from rubric_order.base import command_line

def main():
    command_line.leave_threads()
    ThreadPoolExecutor().submit(threading.Event().wait)
    {}

main.__module__ = "rubric_order.jobs.judge_shard"
command_line.LEFT_SECONDS = 0.1
command_line.run(main)
"""


@pytest.mark.parametrize(("last", "status"), [("pass", 0), ("raise KeyError", 1)])
def test_a_program_ends_although_code_of_others_has_left_a_thread(root, last, status):
    """Python itself waits for the thread of an executor, which never ends."""
    environment = os.environ | {"PYTHONPATH": str(root / "workflow/scripts")}
    command = [sys.executable, "-c", LEFT.format(last)]
    ran = subprocess.run(command, env=environment, capture_output=True, timeout=300, check=False)
    assert ran.returncode == status
