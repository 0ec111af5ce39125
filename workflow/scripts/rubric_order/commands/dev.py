"""``rubric-order dev rule``: one job of a study, opened as Python objects at a prompt."""

from __future__ import annotations

import code
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rubric_order.run.jobs import Job

app = typer.Typer(no_args_is_help=True, help="Look into a run, step by step.")


@app.callback()
def common() -> None:
    """Look into a run, step by step."""


@app.command("rule")
def rule(
    name: Annotated[str, typer.Argument(help="Rule, such as estimate_statistic.")],
    config: Annotated[list[Path], typer.Argument(help="Config of the study; later files go over earlier ones.")],
    output: Annotated[
        str | None, typer.Option(help="File that the job writes, or the end of its path; by default the first job's.")
    ] = None,
    project: Annotated[Path, typer.Option(help="Folder of the project; results are there too.")] = Path(),
    show: Annotated[bool, typer.Option("--show", help="Print what the job takes, and stop.")] = False,
) -> None:
    """Open one job at a Python prompt: [green]inputs[/] as tables, [green]arguments[/], and function [green]main[/].

    [green]job.run("trial")[/] calls [green]main[/] and writes its outputs into folder [green]trial[/]. Results are not
    changed.

    Example: [green]rubric-order dev rule estimate_statistic config/demo.yaml --output decisiveness.parquet[/]
    """
    from rubric_order.run import jobs  # reads all settings

    job = jobs.open_job(name, config, output=output, project=project)
    typer.echo(described(job))
    if not show:
        _prompt({"job": job, "inputs": job.inputs, "arguments": dict(job.arguments), "main": job.main})


def described(job: Job) -> str:
    """A job as lines of text: its rule and outputs, then each argument with the form of its tables."""
    lines = [f"{job.rule} -> {', '.join(map(str, job.outputs))}"]
    for name, value in job.arguments.items():
        lines.append(f"  {name} = {_short(value)}{_form(job, name)}")
    return "\n".join(lines)


def _form(job: Job, name: str) -> str:
    """Numbers of rows and columns of an argument's table, or the number of its tables."""
    try:
        value = job.inputs.get(name)
    except FileNotFoundError:
        return "  (not made yet)"
    tables: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    flat = [table for part in tables for table in (part if isinstance(part, list) else [part])]
    forms = [f"{table.shape[0]} rows x {table.shape[1]} columns" for table in flat if hasattr(table, "shape")]
    return f"  ({forms[0] if len(forms) == 1 else f'{len(forms)} tables'})" if forms else ""


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, Path) else repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _prompt(names: dict[str, Any]) -> None:
    """Open a prompt of IPython if it is installed, else of Python."""
    banner = "Names: job, inputs, arguments, main. Try job.run('trial')."
    try:
        from IPython import start_ipython
    except ImportError:
        code.interact(banner, local=names, exitmsg="")
    else:
        print(banner)
        start_ipython(argv=["--no-banner"], user_ns=names)
