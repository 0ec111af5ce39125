"""Snakemake whose jobs need not import the library anew: ``python warm.py ARGUMENTS`` is ``snakemake ARGUMENTS``.

The jobs of a small run take a tenth of a second, and the imports before them ten times as long. Here a process that has
imported the library forks one for each job. It runs the job's own command: the entry script with its words, in the same
folder, with the log that the rule names. All else is Snakemake's, and what is no such command is run by the shell.
"""

import json
import multiprocessing
import os
import re
import runpy
import shlex
import subprocess
import sys
import threading
import types
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path

STARTS = threading.Lock()
WORDS = "TEST_WORDS"  # names a file for the words of each job, one line of JSON each
SCRIPTS = Path(__file__).parents[2] / "workflow/scripts"
COMMAND = re.compile(r"set -euo pipefail; +python (?P<words>.+) 2> >\(tee (?P<log>.+) >&2\)", re.DOTALL)
# What entry scripts import, and what the modules of results import: the library, without those that load engines.
IMPORTED = ["pandas", "pyarrow.parquet", "pyarrow.dataset", "scipy.stats", "matplotlib.pyplot", "jinja2", "tabulate"]
PACKAGES = ("analyses", "cards", "datasets", "methods", "pages", "parsing", "planning", "probes", "prompts", "recorded")
PACKAGES += ("scoring", "tables", "figures")


def modules() -> list[str]:
    """Modules that jobs may import, by name."""
    paths = (path for name in PACKAGES for path in (SCRIPTS / "rubric_order" / name).rglob("*.py"))
    ours = sorted(".".join(path.relative_to(SCRIPTS).with_suffix("").parts) for path in paths)
    return [*IMPORTED, *(name.removesuffix(".__init__") for name in ours), "prepared"]


def run(words: list[str], log: str, folder: str, asked: Connection) -> None:
    """Run an entry script in this process, which ends when it is asked how it went: until then it can be measured."""
    os.chdir(folder)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(descriptor, 2)
    sys.argv = words
    try:
        runpy.run_path(words[0], run_name="__main__")
    finally:
        asked.poll(None)


class Job:
    """The process of a command, as Snakemake handles one."""

    stdout = None

    def __init__(self, words: list[str], log: str) -> None:
        if WORDS in os.environ:
            with Path(os.environ[WORDS]).open("a") as file:
                file.write(json.dumps(words) + "\n")
        self.log = log
        asked, self.asks = CONTEXT.Pipe(duplex=False)
        self.process = CONTEXT.Process(target=run, args=(words, log, os.getcwd(), asked))
        with STARTS:
            self.process.start()
            # Starting a process asks all others for their exit status, which another thread may be reading.
            multiprocessing.process._children.discard(self.process)
        self.pid = self.process.pid

    def wait(self, timeout: float | None = None) -> int:
        self.asks.send(None)
        self.process.join(timeout)
        if self.process.exitcode:
            sys.stderr.write(Path(self.log).read_text())
        return self.process.exitcode

    def poll(self) -> int | None:
        return self.process.exitcode

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode


def start(command: str, *arguments: object, **options: object) -> Job | subprocess.Popen:
    """In the place of `subprocess.Popen`: the process of a shell command."""
    if isinstance(command, str) and (found := COMMAND.fullmatch(command.strip())):
        return Job(shlex.split(found["words"]), *shlex.split(found["log"]))
    return subprocess.Popen(command, *arguments, **options)


if __name__ == "__main__":
    sys.path.insert(0, str(SCRIPTS))
    CONTEXT = multiprocessing.get_context("forkserver")
    CONTEXT.set_forkserver_preload(modules())
    environment = dict(os.environ)
    path = [str(SCRIPTS), str(Path(__file__).parent), *filter(None, [environment.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    forkserver.ensure_running()
    os.environ.clear()
    os.environ.update(environment)
    from snakemake import cli

    # `snakemake.shell` is also the name of a class.
    sys.modules["snakemake.shell"].sp = types.SimpleNamespace(**{**vars(subprocess), "Popen": start})
    cli.main()
