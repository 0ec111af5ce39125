"""requirements/install.sh with packages' tools that only write down how they are called."""

import os
import subprocess
from pathlib import Path

import pytest

TORCH = "torch==2.13.0+cpu"
NOTE = 'echo "$(basename "$0") $* [$UV_FIND_LINKS] [$PIP_FIND_LINKS]" >> "$CALLS"\n'
# Python, and the Python of the environment that it makes. Installing uv.lock puts a uv there if `$FETCHED` is a file.
PYTHON = (
    "#!/bin/sh\n"
    + NOTE
    + """
case "$*" in
*-m\\ venv*) for folder; do :; done; mkdir -p "$folder/bin"; cp "$0" "$folder/bin/python" ;;
*uv.lock) [ -f "$FETCHED" ] && cp "$FETCHED" "$(dirname "$0")/uv" ;;
*"$PIP_LACKS"*) exit 1 ;;
esac
"""
)
UV = (
    "#!/bin/sh\n"
    + """case "$*" in *--help) echo "--torch-backend"; exit ;; esac\n"""
    + NOTE
    + """case "$*" in *"$UV_LACKS"*) exit 2 ;; esac\n"""
)
NOTHING = "nothing lacks"


@pytest.fixture
def install(root: Path, tmp_path: Path):
    """Run the script with a uv on PATH, one that pip can fetch, or none; return its result and the calls."""

    def run(*, uv: str = "on PATH", uv_lacks: str = NOTHING, pip_lacks: str = NOTHING, **environment: str):
        tools = tmp_path / "tools"
        tools.mkdir()
        for name, text in {"python3": PYTHON, "uv": UV}.items():
            path = tools / name
            path.write_text(text)
            path.chmod(0o755)
        if uv != "on PATH":
            (tools / "uv").rename(tmp_path / "uv")
        command = [root / "requirements/install.sh", "python3", tmp_path / "env", "./list.txt"]
        (tmp_path / "list.txt").write_text(f"numpy==2.4.6\n{TORCH}\n")
        told = {
            "PATH": f"{tools}:/usr/bin:/bin",
            "CALLS": str(tmp_path / "calls"),
            "FETCHED": str(tmp_path / "uv" if uv == "fetched" else tmp_path / "none"),
            "UV_LACKS": uv_lacks,
            "PIP_LACKS": pip_lacks,
        }
        done = subprocess.run(command, cwd=tmp_path, env=told | environment, capture_output=True, text=True)
        return done, (tmp_path / "calls").read_text().splitlines()

    return run


def installs(calls: list[str]) -> list[str]:
    """Installed things: the tool, and the list or the package."""
    lists = [call for call in calls if "--requirement" in call or call.split(" [")[0].endswith(TORCH)]
    return [f"{'pip' if 'python' in call.split()[0] else 'uv'} {call.split(' [')[0].split()[-1]}" for call in lists]


def test_uv_installs_the_list_where_it_finds_the_cpu_build_of_torch(install):
    done, calls = install(PIP_FIND_LINKS="/one /two")
    assert done.returncode == 0, done.stderr
    assert installs(calls) == [f"uv {TORCH}", f"uv {TORCH}", "uv ./list.lock"]
    assert not any("--torch-backend" in call for call in calls)
    assert {call.partition(" [")[2] for call in calls if call.startswith("uv")} == {"/one,/two] [/one /two]"}
    assert calls[-1].split(" [")[0].endswith("--no-deps --no-build-isolation --editable .")


def test_uv_is_sent_to_the_cpu_builds_where_the_index_has_none(install):
    done, calls = install(uv_lacks=f"--dry-run {TORCH}")
    assert done.returncode == 0, done.stderr
    assert installs(calls) == [f"uv {TORCH}", f"uv {TORCH}", "uv ./list.lock"]
    assert f"--torch-backend cpu {TORCH}" in "".join(calls)


def test_uv_is_fetched_with_pip(install):
    done, calls = install(uv="fetched", UV_FIND_LINKS="/one,/two")
    assert done.returncode == 0, done.stderr
    assert installs(calls) == ["pip ./uv.lock", f"uv {TORCH}", f"uv {TORCH}", "uv ./list.lock"]
    assert all(call.endswith("[/one,/two] [/one /two]") for call in calls)


def test_pip_remains_where_uv_is_not_to_be_had_and_asks_for_torch_first(install):
    done, calls = install(uv="none")
    assert done.returncode == 0, done.stderr
    assert installs(calls) == ["pip ./uv.lock", f"pip {TORCH}", "pip ./list.lock"]


def test_pip_remains_where_uv_fails(install):
    done, calls = install(uv_lacks="--requirement")
    assert done.returncode == 0, done.stderr
    assert installs(calls) == [f"uv {TORCH}", f"uv {TORCH}", "uv ./list.lock", f"pip {TORCH}", "pip ./list.lock"]
    assert done.stderr == "uv could not install ./list.lock; pip tries.\n"


def test_pip_that_finds_no_torch_stops_before_the_list_and_says_what_helps(install):
    done, calls = install(uv="none", pip_lacks=TORCH)
    assert done.returncode == 1
    assert installs(calls) == ["pip ./uv.lock", f"pip {TORCH}"]
    assert done.stderr == (
        f"error: pip finds no {TORCH}: install uv, or set PIP_FIND_LINKS to a folder that holds it\n"
    )


def test_what_is_installed_must_have_the_checksums_of_the_lock(install):
    _, calls = install(uv="none")
    locked = [call for call in calls if ".lock" in call]
    assert len(locked) == 2
    assert all("--require-hashes" in call for call in locked)


def test_a_list_that_cannot_be_installed_fails(install):
    done, _ = install(uv="none", pip_lacks="--requirement")
    assert done.returncode == 1


def test_the_script_can_be_run(root: Path):
    assert os.access(root / "requirements/install.sh", os.X_OK)
