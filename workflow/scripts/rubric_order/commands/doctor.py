"""``rubric-order doctor``: the form of a file, the checks that it supports, and reasons why others cannot run."""

from pathlib import Path
from typing import Annotated

import typer

from rubric_order import commands
from rubric_order.commands import options


def doctor(
    file: Annotated[Path, typer.Argument(help="A file as of audit, or a log.")],
    columns: options.ColumnNames = None,
    scale: options.ScaleOfScores = None,
    choices: options.Choices = False,
    labels: options.LabelMap = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list with one object per judge.")] = False,
) -> None:
    """Say what form a file has, which checks of a bias card it supports, and why other checks cannot run.

    Nothing is estimated. The status is 0, or 1 if the file cannot be read.

    Examples: [green]rubric-order doctor reads.csv[/], [green]rubric-order doctor gpt-4_pair.jsonl --json[/]
    """
    from rubric_order.intake.choices import Labels
    from rubric_order.library import doctor as diagnoses

    results = diagnoses.diagnose(
        file,
        columns=options.columns(columns),
        scale=scale,
        nominal=choices,
        labels=Labels.parse(labels) if labels else None,
    )
    if as_json:
        typer.echo(commands.as_json([diagnosis.to_dict() for diagnosis in results], indent=1))
        return
    from rich.console import Console

    console = Console()
    for diagnosis in results:
        title = f"{diagnosis.judge}: {diagnosis.form}" if diagnosis.judge else diagnosis.form
        console.print(commands.text(title, style="bold"))
        for name, value in diagnosis.facts:
            console.print(commands.text(f"{name}: {value}"))
        for note in diagnosis.notes:
            console.print(commands.text(f"• {note}", style="dim"))
        marks = {True: commands.text("yes", style="green"), False: commands.text("no", style="red")}
        console.print(commands.table((marks[check.runs], check.name, check.why) for check in diagnosis.checks))
        console.print()
