"""``rubric-order plan`` and ``status``: the cost of a study, and its progress."""

import csv
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from rubric_order import commands
from rubric_order.base.errors import InputError, printable
from rubric_order.base.keys import EVERY
from rubric_order.settings import reading

Config = Annotated[list[Path], typer.Argument(help="Config of the study; later files go over earlier ones.")]
Project = Annotated[Path, typer.Option(help="Folder of the project, with its Snakefile; results are there too.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON list with one object per row.")]


def plan(config: Config, project: Project = Path(), as_json: AsJson = False) -> None:
    """Say what judging will take: reads, requests, tokens, hours and money. No judge is asked.

    The command plans the study with Snakemake, like [green]make plan-cost[/].
    If reference answers are missing, it says how many requests they take.

    Example: [green]rubric-order plan config/demo.yaml[/]
    """
    _report("plan_cost", config, project, as_json)


def status(config: Config, project: Project = Path(), as_json: AsJson = False) -> None:
    """Say how far the judges are, even while they run, and which batches are open. Nothing is started.

    Example: [green]rubric-order status config/demo.yaml --json[/]
    """
    _report("judge_status", config, project, as_json)


def _report(rule: str, config: list[Path], project: Path, as_json: bool) -> None:
    """Run a rule that reports. Print its output, or the tables that it writes as JSON."""
    if not (project / "Snakefile").is_file():
        raise InputError(f"{project / 'Snakefile'}: no such file; expected --project FOLDER, a copy of rubric-order")
    for path in config:
        if not path.is_file():
            raise InputError(f"{path}: no such file; expected a config")
    command = [sys.executable, "-m", "snakemake", rule, "--cores", "all", "--quiet", "all"]
    # A status makes no files, so it needs no lock during a run. A plan makes files, so it needs the lock.
    command += ["--nolock"] if rule == "judge_status" else []
    command += ["--configfile", *(str(path.resolve()) for path in config)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        if "No module named snakemake" in done.stderr:
            raise InputError("Snakemake is not installed here; expected the environment of the project (make env)")
        # The message begins after "error: " and may have several lines.
        _, _, said = f"\n{done.stderr}".partition("\nerror: ")
        raise InputError(said.strip() or done.stderr.strip() or done.stdout.strip())
    if not as_json:
        typer.echo(printable(done.stdout.rstrip("\n")))
        return
    results = next((block["output"] for block in map(reading.read, reversed(config)) if "output" in block), "results")
    rows = _rows(project / f"{results}/status/{rule}.csv")
    if rule == "judge_status":
        batches = _rows(project / f"{results}/status/open_batches.csv")
        for row in rows:
            if row["study"] == EVERY:
                row["batches"] = [batch for batch in batches if batch["judge"] == row["judge"]]
    typer.echo(commands.as_json(rows, indent=1))


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _value(value) for name, value in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None
