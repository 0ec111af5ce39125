"""``rubric-order compare``: two judges, prompts or settings, on the items that both have read."""

import json
from pathlib import Path
from typing import Annotated

import typer


def compare(
    one: Annotated[
        Path, typer.Argument(help="Reads of one judge, or of both; a file as of audit.", show_default=False)
    ],
    other: Annotated[Path | None, typer.Argument(help="Reads of the other judge.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
    page: Annotated[
        Path | None, typer.Option(help="Write a page too, with the cards of both: FILE.html.", show_default=False)
    ] = None,
) -> None:
    """Say whether two judges differ in what the order of the score levels does to them.

    Position preference and the effect of the usual ordering are compared on the items that both have read, in pairs,
    with intervals. Two runs of one judge are two files.

    Examples: [green]rubric-order compare old_prompt.csv new_prompt.csv --page comparison.html[/],
    [green]rubric-order compare results/scores/STUDY/DATASET/{one,other}.parquet --json[/]
    """
    from rubric_order.library import comparison

    found = comparison.compare(one, other)
    if page:
        from rubric_order.base import files
        from rubric_order.library import results

        cards = [card for side in (one, other) if side for card in results.bias_card(side)]
        files.write_text(comparison.page(found, cards), page)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text(f"{found.one} and {found.other}: {found.verdict}", style="bold"))
    for sentence in found.reasons:
        console.print(Text(f"• {sentence}"))
    heads = ("quantity", "read from", *map(escape, (found.one, found.other)), "difference", "p (Holm)")
    table = Table(*heads, box=None, padding=(0, 2, 0, 0))
    for each in found.differences:
        table.add_row(*map(Text, each.words))
    console.print(table)
    console.print(Text(f"{found.n_items:,} items in {found.n_groups:,} groups that both have read."))
