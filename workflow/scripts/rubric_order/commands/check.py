"""``rubric-order check``: whether a run keeps within limits, as a status for a pipeline."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rubric_order import commands
from rubric_order.base.errors import InputError

NO_SUMMARY = 2  # what cannot be read cannot be told either


def check(
    summary: Annotated[
        Path,
        typer.Argument(help="results/summary.json, or what 'rubric-order audit --json' prints.", show_default=False),
    ],
    max_v: Annotated[float | None, typer.Option(min=0, max=1, help="Greatest Cramér's V.", show_default=False)] = None,
    max_points: Annotated[
        float | None,
        typer.Option(
            min=0, help="Greatest shift of the mean score by the usual ordering, either way.", show_default=False
        ),
    ] = None,
    max_log_odds: Annotated[
        float | None, typer.Option(min=0, help="Greatest preference for a position, either way.", show_default=False)
    ] = None,
    max_failed: Annotated[
        float | None, typer.Option(min=0, max=1, help="Greatest share of reads without a score.", show_default=False)
    ] = None,
    min_agreement: Annotated[
        float | None,
        typer.Option(
            min=-1, max=1, help="Least Pearson's r with human scores, of the mean of all reads.", show_default=False
        ),
    ] = None,
    min_groups: Annotated[
        int | None,
        typer.Option(min=1, help="Fewest groups of items; with fewer, nothing can be told.", show_default=False),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="Look at the cards of this judge alone.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what each limit says as a JSON list.")] = False,
) -> None:
    """Compare the cards of a run with limits.

    Status 0: passed, every interval lies inside its limit. 1: failed, one lies outside. 2: cannot tell, an interval
    reaches across a limit or is not known, a judge is saturated, groups are too few, or the summary cannot be read.

    Example: [green]rubric-order check results/summary.json --max-v 0.1 --max-points 0.2 --min-groups 30[/]
    """
    from rubric_order.cards import limits as rules

    limits = rules.Limits(max_v, max_points, max_log_odds, max_failed, min_agreement, min_groups)
    if limits == rules.Limits():
        options = "--max-v, --max-points, --max-log-odds, --max-failed, --min-agreement or --min-groups"
        raise typer.BadParameter(f"name a limit: {options}")
    findings = rules.check(_chosen(summary, judge), limits)
    status = rules.status(findings)
    if as_json:
        typer.echo(commands.as_json([finding._asdict() for finding in findings], indent=1))
    else:
        _print(findings, {value: word for word, value in rules.STATUS.items()}[status])
    raise typer.Exit(status)


def _chosen(summary: Path, judge: str | None) -> list[dict[str, Any]]:
    """The cards of one judge, or all."""
    from rubric_order.cards import summary as summaries

    try:
        cards = summaries.read(summary)
        chosen = [card for card in cards if judge in (None, card["judge"])]
        if not chosen:
            whose = f" of judge {judge!r:.60}" if judge else ""
            raise InputError(f"{summary}: no card{whose}; found {', '.join(card['judge'] for card in cards) or 'none'}")
    except InputError as error:
        error.status = NO_SUMMARY
        raise
    return chosen


def _print(findings: list[Any], outcome: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("card", "limit", "found", "outcome", box=None, padding=(0, 2, 0, 0))
    for finding in findings:
        table.add_row(
            *(commands.text(value) for value in (finding.card, finding.limit, finding.found, finding.outcome))
        )
    console = Console()
    console.print(table)
    console.print(commands.text(outcome, style="bold"))
