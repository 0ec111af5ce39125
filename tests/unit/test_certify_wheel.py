"""`rubric-order certify` from the built wheel: what the package lacks of a clone, no card needs."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from endpoint import Call, Reply, completion, running
from factories import ROOT

# Python that imports as if some packages were not installed.
WITHOUT = """
import sys


class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = name in {absent!r} or name.partition(".")[0] in {absent!r}
        return None if hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)


if {platform!r} != sys.platform:
    import os
    import matplotlib.pyplot, openai, pandas, scipy.stats  # other packages are those of this system

    def none(event, arguments):
        if event == "open" and str(arguments[0]).startswith("/proc/"):
            raise FileNotFoundError(arguments[0])

    def stat(path, *others, of_linux=os.stat, **named):
        none("open", [path])
        return of_linux(path, *others, **named)

    sys.addaudithook(none)
    os.stat = stat
    if {platform!r} == "win32":
        import asyncio, fcntl, multiprocessing.connection, signal, types
        import matplotlib.backends.backend_svg, openpyxl, rich.console, rich.live, rich.progress, scipy.optimize, typer

        def locking(file, mode, size):
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

        sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
        for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios"):
            sys.modules[name] = None  # importing it is an error
        for module, names in ((os, ("fork", "getuid", "killpg", "setsid", "uname")), (signal, ("SIGHUP", "SIGKILL"))):
            for name in names:
                delattr(module, name)
    sys.platform = {platform!r}
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""
PROGRAM = ("-m", "rubric_order.commands.app", "certify")
ABSENT = ("snakemake", "vllm", "torch", "transformers")


def reply(call: Call) -> Reply:
    shown = re.findall(r"^Score ([0-9]+):", call.prompt, re.MULTILINE)
    return Reply(completion(f"So be it. [RESULT] {shown[0]}", model=call.body["model"]))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the package as its wheel installs it, and nothing else of the project."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("workflow/scripts", "resources"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    build = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    done = subprocess.run([*build, "--target", folder / "site", source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture
def certify(installed: Path, tmp_path: Path):
    """Run the program in a folder and a home that are empty, without some packages."""

    def run(
        *words: str, absent: tuple[str, ...] = ABSENT, program: tuple[str, ...] = PROGRAM, platform: str = sys.platform
    ) -> subprocess.CompletedProcess:
        hook = tmp_path / "hook"
        hook.mkdir(exist_ok=True)
        (hook / "sitecustomize.py").write_text(WITHOUT.format(absent=set(absent), platform=platform))
        (tmp_path / "home").mkdir(exist_ok=True)
        path = [hook, installed, sysconfig.get_path("purelib")]
        environment = {"PYTHONPATH": ":".join(map(str, path)), "HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            [sys.executable, "-P", *program, *words],
            cwd=tmp_path / "home",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
def test_the_package_alone_makes_a_card_and_a_page(certify, installed: Path, tmp_path: Path):
    there = certify(program=("-c", "import rubric_order; print(rubric_order.__file__)"))
    assert there.stdout.strip() == str(installed / "rubric_order/__init__.py")
    with running(reply) as endpoint:
        done = certify(endpoint.base_url, "--model", "m", "--groups", "1", "--json")
        assert done.returncode == 0, done.stderr
        assert len(endpoint.calls) == 40
    assert json.loads(done.stdout)[0]["n_reads"] == 40
    assert "<svg" not in (page := (tmp_path / "home/certify/judge_m/card.html").read_text())
    assert page.count("data:image/svg+xml;base64,") == 2


def test_a_package_that_is_missing_is_one_line(certify):
    done = certify("http://127.0.0.1:9/v1", "--model", "m", absent=(*ABSENT, "openai"))
    assert done.returncode == 1
    assert done.stderr == "error: package 'openai' is missing; expected pip install 'rubric-order[endpoint]'\n"


@pytest.mark.slow
def test_another_system_makes_a_card(certify, tmp_path: Path):
    """As far as Linux can play macOS, in the program and in the process of its calls: darwin, and no /proc."""
    with running(reply) as endpoint:
        words = [endpoint.base_url, "--model", "m", "--groups", "1", "--json"]
        done = certify(*words, platform="darwin", absent=(*ABSENT, "rubric_order.judging.devices"))
        assert done.returncode == 0, done.stderr
        assert json.loads(certify(*words, platform="darwin").stdout) == json.loads(done.stdout)
        assert len(endpoint.calls) == 40


@pytest.mark.slow
def test_certify_and_audit_ask_for_nothing_that_windows_lacks(certify, tmp_path: Path):
    """As far as Linux can play Windows: no fcntl, resource or pwd, no fork, no SIGKILL; locks are those of msvcrt."""
    with running(reply) as endpoint:
        words = [endpoint.base_url, "--model", "m", "--groups", "1", "--json"]
        absent = (*ABSENT, "rubric_order.judging.devices")
        done = certify(*words, platform="win32", absent=absent)
        assert done.returncode == 0, done.stderr
        assert len(endpoint.calls) == 40
    assert json.loads(done.stdout)[0]["n_reads"] == 40
    orders = ["1 2 3", "2 3 1", "3 1 2", "3 2 1", "1 3 2", "2 1 3"]
    rows = [f"{item},{order},{order[0] if item % 2 else 2}" for item in range(30) for order in orders]
    (tmp_path / "home/reads.csv").write_text("\n".join(["item,ordering,score", *rows]) + "\n")
    program = ("-m", "rubric_order.commands.app", "audit")
    audited = [
        certify("reads.csv", "--json", platform=name, program=program, absent=absent) for name in ("win32", "linux")
    ]
    assert [run.returncode for run in audited] == [0, 0], audited[0].stderr
    assert audited[0].stdout == audited[1].stdout
