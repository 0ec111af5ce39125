"""Programs that tests fork: they end, print, and find folder and environment as those that a shell starts."""

import os
import shutil
from pathlib import Path

import forks
import pytest

KEPT = {"PATH": os.environ["PATH"]}


@pytest.fixture
def script(tmp_path: Path):
    def run(code: str, *words: str, **environment: str):
        file = tmp_path / "program.py"
        file.write_text(f"import os, sys\n{code}\n")
        return forks.script([file, *words], tmp_path, KEPT | environment)

    return run


@pytest.mark.parametrize(
    ("code", "status", "printed"),
    [
        ("print('done', file=sys.stderr)", 0, "done\n"),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no such file')", 1, "no such file\n"),
        ("os.kill(os.getpid(), 9)", -9, ""),
    ],
)
def test_a_program_ends_as_it_does_alone(script, code, status, printed):
    run = script(code)
    assert (run.returncode, run.stderr) == (status, printed)


def test_an_error_is_printed_with_its_place(script):
    run = script("1 / 0")
    assert run.returncode == 1
    assert "program.py" in run.stderr
    assert run.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_a_program_has_its_own_words_folder_and_environment(script, tmp_path, monkeypatch):
    monkeypatch.setenv("OF_THE_TEST", "1")
    code = "print(sys.argv[1:], os.getcwd(), os.environ.get('MINE'), os.environ.get('OF_THE_TEST'), __name__)"
    assert script(code, "a b", "c", MINE="2").stdout == f"['a b', 'c'] {tmp_path} 2 None __main__\n"
    assert script("print(os.environ.get('MINE'))").stdout == "None\n"


def test_an_atexit_function_and_a_thread_come_to_their_end(script):
    code = (
        "import atexit, threading, time\n"
        "atexit.register(print, 'last')\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('first'))).start()"
    )
    assert script(code).stdout == "first\nlast\n"


def test_a_copy_is_unedited_until_a_script_changes(tmp_path):
    copy = tmp_path / "workflow/scripts"
    shutil.copytree(forks.SCRIPTS, copy)
    assert forks.is_unedited(tmp_path)
    module = copy / "rubric_order/catalogue.py"
    text = module.read_bytes()
    module.write_bytes(text + b"\n")
    assert not forks.is_unedited(tmp_path)
    shutil.copy2(forks.SCRIPTS / "rubric_order/catalogue.py", module)
    assert forks.is_unedited(tmp_path)
    (copy / "rubric_order/added.py").touch()
    assert not forks.is_unedited(tmp_path)


def test_a_library_that_was_edited_is_imported_anew(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    program = tmp_path / "program.py"
    program.write_text("import ours\nprint(ours.VALUE)\n")
    servers = []
    for value in (1, 22):
        (package / "ours.py").write_text(f"VALUE = {value}\n")
        run = forks.script([program], tmp_path, KEPT | {"PYTHONPATH": str(package)})
        assert run.stdout == f"{value}\n"
        servers.append(forks.SERVERS[forks.LIBRARY, str(package)].address)
    assert servers[0] != servers[1]


@pytest.mark.parametrize(
    ("command", "is_forked"),
    [
        ("python a.py --x 'costs $HOME; rm' 2> >(tee a.log >&2)", True),
        ("""python a.py --x 'the judge'"'"'s $HOME' 2> >(tee a.log >&2)""", True),
        ("python a.py --x $HOME 2> >(tee a.log >&2)", False),
        ("python a.py --x *.py 2> >(tee a.log >&2)", False),
        ("python a.py; rm x 2> >(tee a.log >&2)", False),
        ("python a.py 2> >(tee 'a b.log' >&2)", True),
        ("python a.py > out 2> >(tee a.log >&2)", False),
        ("wget a", False),
    ],
)
def test_a_command_that_needs_a_shell_gets_one(monkeypatch, command, is_forked):
    started = []
    monkeypatch.setattr(forks, "_Job", lambda *_: started.append("forked"))
    monkeypatch.setattr(forks.subprocess, "Popen", lambda *_, **__: started.append("shell"))
    forks._start(f"set -euo pipefail;  {command}", env={})
    assert started == ["forked" if is_forked else "shell"]
