"""``rubric-order compare``: two judges, prompts or settings, compared on the items that both have read."""

from pathlib import Path
from typing import Annotated

import typer

from rubric_order import commands
from rubric_order.base.errors import printable
from rubric_order.commands import options


def compare(
    one: Annotated[Path, typer.Argument(help="Reads of one judge, or of both; a file as of audit.")],
    other: Annotated[Path | None, typer.Argument(help="Reads of the other judge.")] = None,
    columns: options.ColumnNames = None,
    scale: options.ScaleOfScores = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
    page: Annotated[Path | None, typer.Option(help="Write a page too, with the cards of both: FILE.html.")] = None,
) -> None:
    """Say whether the order of the score levels affects two judges differently.

    Position preference and the effect of the usual ordering are compared on the items that both judges have read, in
    pairs, with intervals. To compare two runs of one judge, give two files.

    Examples: [green]rubric-order compare old_prompt.csv new_prompt.csv --page comparison.html[/],
    [green]rubric-order compare results/scores/STUDY/DATASET/{one,other}.parquet --json[/]
    """
    from rubric_order.library import comparison

    names = options.columns(columns)
    result = comparison.compare(one, other, columns=names, scale=scale)
    if page:
        from rubric_order.base import files
        from rubric_order.library import results

        cards = [card for side in (one, other) if side for card in results.bias_card(side, columns=names, scale=scale)]
        files.write_text(comparison.page(result, cards), page)
    if as_json:
        typer.echo(commands.as_json(result.to_dict(), indent=1))
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    console.print(commands.text(f"{result.one} and {result.other}: {result.verdict}", style="bold"))
    for sentence in result.reasons:
        console.print(commands.text(f"• {sentence}"))
    heads = (
        "quantity",
        "read from",
        *(escape(printable(name)) for name in (result.one, result.other)),
        "difference",
        "p (Holm)",
    )
    console.print(commands.table((difference.words for difference in result.differences), *heads))
    console.print(commands.text(f"{result.n_items:,} items in {result.n_groups:,} groups that both have read."))
