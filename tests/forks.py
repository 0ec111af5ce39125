"""Python programs that need not import anew: `run` forks them from a process that has imported what they need.

A run of Snakemake in a test, and each of its jobs, work for a tenth of a second, and import for ten times as long. So a
test process has two servers. One has imported Snakemake, and no code of the project: each run reads its own copy of the
project. The other one has imported the library. It is for programs of code that the test has not edited: jobs of a run,
each with its own words, folder, environment and log, as the shell would start it.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import re
import runpy
import selectors
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

SCRIPTS = Path(__file__).parents[1] / "workflow/scripts"
SNAKEMAKE, LIBRARY = "snakemake", "library"  # the two servers
JOBS = "TEST_JOBS"  # names the socket of the server of jobs; without it the shell starts them
WORDS = "TEST_WORDS"  # names a file for the words of each job, one line of JSON each
COMMAND = re.compile(r"set -euo pipefail; +python (?P<words>.+) 2> >\(tee (?P<log>.+) >&2\)", re.DOTALL)
# Words with such a character outside quotes are left to the shell, which does more with them than to part them. A quote
# in quotes is written as '"'"'.
QUOTED, SHELL = re.compile(r"'[^']*'|\"'\""), re.compile(r"[$`;&|<>()*?\[\]{}~#!\"\\\n]")
# What entry scripts import, and what the modules of results import: the library, without those that load engines.
IMPORTED = ("pandas", "pyarrow.parquet", "pyarrow.dataset", "scipy.stats", "matplotlib.pyplot", "jinja2", "tabulate")
PACKAGES = ("analyses", "cards", "datasets", "methods", "pages", "parsing", "planning", "probes", "prompts", "recorded")
PACKAGES += ("scoring", "tables", "figures", "extras/one_read/agreement", "extras/papers")
NUMBER = struct.Struct("q")


# In a test: a server is started when it is needed, and ends with the process that started it.


def environment() -> dict[str, str]:
    """The environment of this process, without our variables."""
    return {key: value for key, value in os.environ.items() if not key.startswith("RUBRIC_ORDER")}


def snakemake(
    arguments: Iterable[object], folder: Path, environment: Mapping[str, str], *, forked_jobs: bool
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake to its end.

    Args:
        forked_jobs: whether its jobs run the library of this project, which the test has not edited.
    """
    environment = dict(environment)
    if forked_jobs:
        environment[JOBS] = _server(LIBRARY, environment.get("PYTHONPATH", ""))
    return run(_server(SNAKEMAKE, ""), [*map(str, arguments)], folder, environment)


def script(words: Iterable[object], folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a Python file, the first of the words, to its end. It finds the library imported."""
    address = _server(LIBRARY, environment.get("PYTHONPATH", ""))
    return run(address, [*map(str, words)], folder, environment)


def run(
    address: str, words: list[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and read what it prints."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = Fork(address, words, str(folder), environment, (stdout.fileno(), stderr.fileno()))
        try:
            returncode = process.wait()
        except BaseException:
            os.kill(process.pid, signal.SIGKILL)
            raise
        printed = []
        for file in (stdout, stderr):
            file.seek(0)
            printed.append(file.read().decode())
    return subprocess.CompletedProcess(words, returncode, *printed)


def spare_garbage() -> None:
    """Look for garbage seldom from now on, and never in what is here: it stays, and forked programs share it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def is_unedited(project: Path) -> bool:
    """Tell whether the scripts of a copy of the project are those of the project, by their sizes and times."""
    return _stamps(project / "workflow/scripts") == _stamps(SCRIPTS)


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of each file of a folder; not of what Python and Snakemake keep beside them."""
    stamps = {}
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = os.path.join(parent, name)
            stamp = os.stat(path)
            stamps[os.path.relpath(path, folder)] = (stamp.st_size, stamp.st_mtime_ns)
    return stamps


class _Server(NamedTuple):
    """A server that runs.

    Attributes:
        address: of its socket.
        stamps: of the files that it may have imported, as they were before it started.
        process: its process, which ends when nothing refers to it any more.
    """

    address: str
    stamps: list[dict[str, tuple[int, int]]]
    process: subprocess.Popen


SERVERS: dict[tuple[str, str], _Server] = {}


def _server(kind: str, path: str) -> str:
    """Address of the socket of a server, which is started if there is none, or if what it has imported was edited.

    Args:
        path: further folders of packages, as of ``PYTHONPATH``.
    """
    folders = [SCRIPTS, *map(Path, filter(None, path.split(os.pathsep)))] if kind == LIBRARY else []
    stamps = [_stamps(folder) for folder in folders]
    if (kind, path) not in SERVERS or SERVERS[kind, path].stamps != stamps:
        SERVERS[kind, path] = _started(kind, path, stamps)
    return SERVERS[kind, path].address


def _started(kind: str, path: str, stamps: list[dict[str, tuple[int, int]]]) -> _Server:
    address = str(Path(tempfile.mkdtemp(prefix="forks"), "socket"))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(SCRIPTS), path]))}
    if kind == SNAKEMAKE:
        environment.pop("PYTHONPATH")
    # It ends when its input does, however this process ends.
    server = subprocess.Popen(
        [sys.executable, __file__, kind, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return _Server(address, stamps, server)


class Fork:
    """A program that a server has forked, as Snakemake handles the process of a shell command.

    It ends when it is asked how it went: until then it can be measured.
    """

    stdout = None

    def __init__(
        self, address: str, words: list[str], folder: str, environment: Mapping[str, str], outputs: tuple[int, int]
    ) -> None:
        self.returncode: int | None = None
        self._waiting = threading.Lock()
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(address)
        request = json.dumps({"words": words, "folder": folder, "environment": dict(environment)}).encode()
        socket.send_fds(self._server, [NUMBER.pack(len(request))], outputs)
        self._server.sendall(request)
        (self.pid,) = NUMBER.unpack(_exactly(self._server, NUMBER.size))

    def wait(self, timeout: float | None = None) -> int:
        with self._waiting:
            if self.returncode is None:
                self._server.settimeout(timeout)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has been killed
                    self._server.sendall(b".")
                (self.returncode,) = NUMBER.unpack(_exactly(self._server, NUMBER.size))
                self._server.close()
        return self.returncode

    def poll(self) -> int | None:
        return self.returncode


def _exactly(connection: socket.socket, size: int) -> bytes:
    """The next bytes, as many as `size`."""
    parts = []
    while size:
        part = connection.recv(size)
        if not part:
            raise EOFError("the server that forks programs has ended")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


# In a server.


def _imports(kind: str) -> list[str]:
    """Modules that programs of a server import, by name."""
    if kind == SNAKEMAKE:
        return ["snakemake.cli", "pydantic", "yaml"]
    paths = (path for name in PACKAGES for path in (SCRIPTS / "rubric_order" / name).rglob("*.py"))
    ours = sorted(".".join(path.relative_to(SCRIPTS).with_suffix("").parts) for path in paths)
    return [*IMPORTED, *(name.removesuffix(".__init__") for name in ours)]


def _prepare(kind: str) -> None:
    """Import modules, find the entry points of all packages, and compile the patterns of answers on usual scales."""
    for name in _imports(kind):
        __import__(name)
    if kind == LIBRARY:
        from rubric_order import probes
        from rubric_order.parsing import one_score

        for probe in probes.names():
            probes.load(probe)
        one_score.parse_score("So the overall score is 4 out of 5.", "12345")
    spare_garbage()


def _serve(address: str) -> tuple[dict[str, Any], socket.socket]:
    """Fork a process for each request. Returns in such a process alone: the request, and the connection it came by."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    ended, woken = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(ended, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the process that started it
    asking: dict[int, socket.socket] = {}
    selector = selectors.DefaultSelector()
    for source in (listener, sys.stdin, ended):
        selector.register(source, selectors.EVENT_READ)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        ready = {key.fileobj for key, _ in selector.select()}
        if ended in ready:
            os.read(ended, 4096)
            _tell_ends(asking)
        if sys.stdin in ready:  # nothing is written to it, so that it has ended
            for pid in asking:
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(Path(address).parent, ignore_errors=True)
            os._exit(0)
        if listener in ready:
            connection, _ = listener.accept()
            try:
                request, outputs = _request(connection)
            except (OSError, EOFError, ValueError, struct.error):  # whoever asked has gone
                connection.close()
                continue
            pid = os.fork()
            if pid:
                asking[pid] = connection
                with contextlib.suppress(OSError):
                    connection.sendall(NUMBER.pack(pid))
                for output in outputs:
                    os.close(output)
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            selector.close()
            listener.close()
            for other in (*asking.values(), *map(_Descriptor, (ended, woken))):
                other.close()
            for place, output in enumerate(outputs, start=1):
                os.dup2(output, place)
                os.close(output)
            with open(os.devnull) as nothing:
                os.dup2(nothing.fileno(), 0)
            return request, connection


class _Descriptor(int):
    def close(self) -> None:
        os.close(self)


def _request(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    connection.settimeout(10)
    size, outputs, _, _ = socket.recv_fds(connection, NUMBER.size, 2)
    request = json.loads(_exactly(connection, *NUMBER.unpack(size)))
    connection.settimeout(None)
    return request, list(outputs)


def _tell_ends(asking: dict[int, socket.socket]) -> None:
    """Send the exit status of each process that has ended to whoever waits for it."""
    while asking:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        with asking.pop(pid) as connection, contextlib.suppress(OSError):
            connection.sendall(NUMBER.pack(os.waitstatus_to_exitcode(status)))


# In a program that was forked.


def _main(kind: str, request: dict[str, Any]) -> None:
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    words = request["words"]
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    here = os.getcwd() if kind == SNAKEMAKE else str(Path(words[0]).parent)
    sys.path[:] = dict.fromkeys([here, *filter(None, path), *sys.path[1:]])
    if kind == SNAKEMAKE:
        from snakemake import cli

        sys.argv = ["snakemake", *words]
        if JOBS in os.environ:  # `snakemake.shell` is also the name of a class
            sys.modules["snakemake.shell"].sp = types.SimpleNamespace(**{**vars(subprocess), "Popen": _start})
        cli.main()
    else:
        import numpy as np

        np.random.seed()  # noqa: NPY002 (a program that draws without a seed is to be found)
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


def _start(command: str, *arguments: Any, env: Mapping[str, str], **options: Any) -> Fork | subprocess.Popen:
    """In the place of `subprocess.Popen`: the process of a shell command."""
    job = COMMAND.fullmatch(command.strip()) if isinstance(command, str) else None
    if job and not any(SHELL.search(QUOTED.sub("", text)) for text in job.groups()):
        words, (log,) = shlex.split(job["words"]), shlex.split(job["log"])
        if WORDS in os.environ:
            with Path(os.environ[WORDS]).open("a") as file:
                file.write(json.dumps(words) + "\n")
        return _Job(words, log, env)
    if job and WORDS in os.environ:
        raise ValueError(f"no words are kept of a command that needs a shell: {command}")
    return subprocess.Popen(command, *arguments, env=env, **options)


class _Job(Fork):
    """A job that writes its log, which is printed too where it fails."""

    def __init__(self, words: list[str], log: str, environment: Mapping[str, str]) -> None:
        self.log = Path(log)
        with self.log.open("w") as file:
            super().__init__(os.environ[JOBS], words, os.getcwd(), environment, (1, file.fileno()))

    def wait(self, timeout: float | None = None) -> int:
        returncode = super().wait(timeout)
        if returncode:
            sys.stderr.write(self.log.read_text())
        return returncode


def _end(program: Any, connection: socket.socket) -> None:
    """Run a program, wait until somebody asks how it went, and end this process as Python would."""
    code: object = 0
    own = os.getpid()
    try:
        program()
    except SystemExit as ended:
        code = ended.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if os.getpid() == own:  # else a process that the program forked
        with contextlib.suppress(OSError):
            connection.recv(1)
    os._exit(int(code or 0))


if __name__ == "__main__":
    kind, address = sys.argv[1:]
    _prepare(kind)
    request, connection = _serve(address)
    _end(lambda: _main(kind, request), connection)
