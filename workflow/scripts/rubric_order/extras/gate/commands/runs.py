"""``rubric-order runs``: several runs side by side, and the history of each judge over the runs."""

from pathlib import Path
from typing import Annotated

import typer

from rubric_order import commands
from rubric_order.commands import options


def runs(
    summaries: Annotated[
        list[Path],
        typer.Argument(
            help="Summaries, such as 'rubric-order audit --json' prints them, or folders of runs; oldest first."
        ),
    ],
    judge: options.JudgeOfCards = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list with one object a card.")] = False,
    page: Annotated[
        Path | None, typer.Option(help="Write a page too, with a drawing for each judge: FILE.html.")
    ] = None,
) -> None:
    """List runs with the verdict, the shift in points, the scores that change, and the agreement of each card.

    Runs of one card are listed together. If the first and the last run have read the same items, the change of the mean
    score between them is printed.

    Examples: [green]rubric-order runs monday.json tuesday.json --page runs.html[/],
    [green]rubric-order runs studies/*/ --judge gpt_5 --json[/]
    """
    from rubric_order.extras.gate import runs as side_by_side

    histories = side_by_side.histories(side_by_side.read(summaries, judge))
    if page is not None:
        from rubric_order.base import files

        files.write_text(side_by_side.page(histories), page)
    if as_json:
        typer.echo(commands.as_json(side_by_side.content(histories), indent=1))
        return
    from rich.console import Console

    from rubric_order.cards import row

    console = Console()
    for history in histories:
        console.print(commands.text(history.name, style="bold"))
        rows = ((run.run, *(cell.text for cell in row.cells(run.card))) for run in history.runs)
        console.print(commands.table(rows, "run", *row.LABELS))
        if history.change:
            console.print(commands.text(f"From the first to the last: {history.change}."))
        console.print()
