"""``rubric-order advise``: the numbers of groups, items, orderings and repeats that a further study needs."""

from pathlib import Path
from typing import Annotated

import typer

from rubric_order import commands
from rubric_order.commands import options


def advise(
    file: Annotated[Path, typer.Argument(help="Reads of a pilot; a file as of audit.")],
    goal: Annotated[
        str,
        typer.Option(
            help="r, mean, preference (half-widths of intervals), ranked (share of pairs), equivalent (share of"
            " studies), bias or shift (smallest that 80% of studies find)."
        ),
    ],
    target: Annotated[float | None, typer.Option(help="Value that is to be reached.")] = None,
    budget: Annotated[float | None, typer.Option(help="Most calls; most money with --price.")] = None,
    price: Annotated[float | None, typer.Option(help="Price of one call.")] = None,
    readout: Annotated[
        str | None, typer.Option(help="hard (written scores) or soft (expected ones). Default: both.")
    ] = None,
    columns: options.ColumnNames = None,
    scale: options.ScaleOfScores = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object per option.")] = False,
) -> None:
    """Say how many groups, items, orderings and repeats a further study needs for a goal, from the reads of a pilot.

    Options are listed with the best first: with a target, the cheapest that reaches it; with a budget alone, the most
    precise; with neither, the one with the fewest calls. Below them, the best option is printed as a block of config.

    Examples: [green]rubric-order advise pilot.csv --goal r --target 0.05[/],
    [green]rubric-order advise pilot.csv --goal mean --budget 20 --price 0.004[/]
    """
    from rubric_order.extras.one_read.library import advice
    from rubric_order.intake import scales

    advised = advice.advise(
        file,
        goal=goal,
        target=target,
        budget=budget,
        price=price,
        readout=readout,
        columns=options.columns(columns),
        scale=scales.parse(scale) if scale else None,
    )
    if as_json:
        typer.echo("[\n" + ",\n".join(commands.as_json(option) for option in advised.to_dicts()) + "\n]")
        return
    from rich.console import Console

    console = Console()
    console.print(commands.text(advised.title, style="bold"))
    for name, lines in advised.lines().items():
        console.print(commands.text(name))
        console.print(commands.table(lines, *advice.HEADS))
    for note in advised.notes:
        console.print(commands.text(f"\u2022 {note}"))
    console.print()
    console.print(commands.text(advised.config()), soft_wrap=True)
