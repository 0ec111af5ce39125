"""One job of a run as Python objects, to try a step in a notebook without Snakemake between an edit and its result."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubric_order.base import command_line, files
from rubric_order.base.errors import InputError, nearest

TARGETS = ("all", "render_summary", "describe_methods")
WRITES_SETTINGS = "RUBRIC_ORDER_WRITES_SETTINGS"  # if set, a dry run writes the files of settings
JOB = re.compile(
    r"^(?:local)?(?:rule|checkpoint) (?P<rule>\w+):$.*^    output: (?P<output>.+?)$.*^Shell command: (?P<command>.+)",
    re.DOTALL | re.MULTILINE,
)
COMMAND = re.compile(r"python (?P<words>.+?) 2> >\(tee ", re.DOTALL)


@dataclass(frozen=True)
class Job:
    """One job of a run.

    Attributes:
        folder: working directory, to which paths are relative.
        main: its function in ``jobs``, which writes the outputs.
        arguments: arguments of `main`, as Python objects.
    """

    rule: str
    folder: Path
    main: Callable[..., object]
    arguments: Mapping[str, Any]
    outputs: tuple[Path, ...]

    @property
    def inputs(self) -> Inputs:
        """Files that the job reads, by argument: tables as data frames, JSON as Python objects."""
        paths = {name: value for name, value in self.arguments.items() if name not in self._written()}
        return Inputs(self.folder, {name: value for name, value in paths.items() if _paths(value)})

    def run(self, into: str | Path | None = None, **arguments: Any) -> dict[str, Path]:
        """Call `main` with `arguments` in place of the job's, and return the path of each output; `into`: another
        folder for the outputs.
        """
        written = self._written()
        if into is not None:
            Path(into).mkdir(parents=True, exist_ok=True)
            written = {name: Path(into).resolve() / path.name for name, path in written.items()}
        with chdir(self.folder):
            self.main(**{**self.arguments, **written, **arguments})
        return {name: self.folder / path for name, path in written.items()}

    def _written(self) -> dict[str, Path]:
        """Arguments that are paths of outputs, with or without their suffix."""
        written = {*self.outputs, *(path.with_suffix("") for path in self.outputs)}
        return {name: value for name, value in self.arguments.items() if isinstance(value, Path) and value in written}


class Inputs(Mapping[str, Any]):
    """Inputs by argument, read when asked for; an argument of several files gives a list, one of named files a
    dictionary.
    """

    def __init__(self, folder: Path, paths: Mapping[str, Any]) -> None:
        self.folder, self.paths = folder, paths

    def __getitem__(self, name: str) -> Any:
        return self._read(self.paths[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def _read(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self._read(path) for name, path in value.items()}
        if isinstance(value, list):
            return [self._read(path) for path in value]
        path = self.folder / value
        if path.suffix == ".parquet":
            import pandas as pd  # takes long to import

            return pd.read_parquet(path)
        return files.read_json(path) if path.suffix == ".json" else path


def open_job(rule: str, config: Sequence[str | Path], *, output: str | None = None, project: str | Path = ".") -> Job:
    """Find a job of a run, by a dry run of Snakemake.

    Args:
        rule: name of a rule, such as ``estimate_statistic``.
        config: files of config, as ``--configfile`` takes them.
        output: file that the job writes, or the end of its path; None takes the rule's first job.
        project: folder of the project, which also holds its results.

    Raises:
        InputError: the run cannot be planned, or it has no such job.
    """
    folder = Path(project).resolve()
    planned = _planned(rule, config, folder)
    rules = dict.fromkeys(match["rule"] for match in planned)
    if rule not in rules:
        expected = f"expected one of {', '.join(rules)}{nearest(rule, rules)}"
        raise InputError(f"{rule!r:.60}: no job of the run is of this rule; {expected}")
    jobs = [(match["output"].split(", "), match["command"]) for match in planned if match["rule"] == rule]
    for outputs, command in jobs:
        if output is None or any(path.endswith(output) for path in outputs):
            return _job(rule, folder, command, outputs)
    every = [path for outputs, _ in jobs for path in outputs]
    raise InputError(f"{output!r:.200}: no job of rule {rule} writes it; expected one of {files.listed(every)}")


def _planned(rule: str, config: Sequence[str | Path], folder: Path) -> list[re.Match[str]]:
    """Jobs as Snakemake prints them in a dry run: all jobs of a rule, and the other jobs that would run."""
    command = [sys.executable, "-m", "snakemake", *TARGETS, "--dry-run", "--printshellcmds", "--nocolor", "--nolock"]
    command += ["--forcerun", rule, "--configfile", *(str(Path(path).resolve()) for path in config)]
    environment = {**os.environ, WRITES_SETTINGS: "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)  # noqa: S603
    if done.returncode:
        if f"No rule to produce {rule} " in done.stdout:
            rules = _rules(folder)
            expected = f"expected one of {', '.join(rules)}{nearest(rule, rules)}"
            raise InputError(f"{rule!r:.60}: no rule has this name; {expected}")
        _, _, reason = f"\n{done.stderr}".partition("\nerror: ")
        raise InputError(reason.strip() or done.stdout.strip() or done.stderr.strip())
    return [match for block in done.stdout.split("\n\n") if (match := JOB.search(block))]


def _rules(folder: Path) -> list[str]:
    texts = (path.read_text(encoding="utf-8") for path in sorted((folder / "workflow/rules").glob("*.smk")))
    return [name for text in texts for name in re.findall(r"^ *rule (\w+):", text, re.MULTILINE)]


def _job(rule: str, folder: Path, command: str, outputs: list[str]) -> Job:
    match = COMMAND.search(command)
    if match is None:
        raise InputError(f"{rule}: its jobs run no Python; expected another rule")
    entry, *words = shlex.split(match["words"])
    with chdir(folder):
        main = runpy.run_path(entry)[Path(entry).stem]
        arguments = vars(command_line.parser(main).parse_args(words))
    return Job(rule, folder, main, arguments, tuple(map(Path, outputs)))


def _paths(value: Any) -> bool:
    if isinstance(value, Mapping):
        value = list(value.values())
    return bool(value) and all(map(_paths, value)) if isinstance(value, list) else isinstance(value, Path)
