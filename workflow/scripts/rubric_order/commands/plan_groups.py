"""``rubric-order plan-groups``: the number of groups of items that a bias card needs."""

from pathlib import Path
from typing import Annotated

import typer

from rubric_order import commands


def plan_groups(
    context: typer.Context,
    reads: Annotated[Path | None, typer.Argument(help="Reads of a pilot; a file as of audit.")] = None,
    levels: Annotated[int | None, typer.Option(help="Number of score levels.")] = None,
    pairs_differ: Annotated[
        float | None, typer.Option(help="Share of the pairs of reads of an item that have different scores.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Option probabilities are known, and answers are drawn from them.")
    ] = False,
    temperature_known: Annotated[
        bool,
        typer.Option(
            "--temperature-known",
            help="Scores and probabilities are of one answer, as of a judge that a study or certify asks.",
        ),
    ] = False,
    orderings: Annotated[
        int | None,
        typer.Option(
            help="Number of orderings in which each item is read: the number of levels or, with more than two levels,"
            " twice that number. Default: as in strategy balanced."
        ),
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="Reads in each ordering. Default: 1.")] = None,
    items_per_group: Annotated[float | None, typer.Option(help="Mean number of items in a group. Default: 1.")] = None,
    within_group: Annotated[
        float | None, typer.Option(help="Correlation within groups of what the order does to items. Default: 0.")
    ] = None,
    prompt_noise: Annotated[
        float | None,
        typer.Option(
            help="What each prompt of an item adds to a score's log-probability, standard deviation. Default: 0.2."
        ),
    ] = None,
    effect: Annotated[float, typer.Option(help="Preference for one position to find, in log-odds.")] = 0.2,
    effect_points: Annotated[
        float, typer.Option(help="Shift of the mean score by the usual ordering to find, in points.")
    ] = 0.1,
    power: Annotated[float, typer.Option(help="Share of such studies that are to find it.")] = 0.8,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, one object per judge.")] = False,
) -> None:
    """Say how many groups of items a bias card needs to call a judge biased, or equivalent to a judge without bias.

    The numbers for biased assume that the judge has the given effects. The number for equivalent assumes that it has no
    bias. All numbers follow from reads of a pilot, or from your expectations of a judge. The preference for a position
    is its log-odds minus the mean of all positions. The margins of equivalence are the margins of audit.

    Examples: [green]rubric-order plan-groups --levels 5 --pairs-differ 0.3 --repeats 2[/],
    [green]rubric-order plan-groups pilot.csv --effect 0.3[/]
    """
    from rubric_order.library import planning

    expected = {name: context.params[name] for name in planning.EXPECTED}
    settings = {name: value for name, value in expected.items() if value is not None and value is not False}
    sought = {"effect": effect, "effect_points": effect_points, "power": power}
    plans = planning.plan_pilot(reads, settings, **sought) if reads else [planning.plan_judge(settings, **sought)]
    if as_json:
        typer.echo("[\n" + ",\n".join(commands.as_json(plan.to_dict()) for plan in plans) + "\n]")
        return
    from rich.console import Console

    console = Console()
    for plan in plans:
        console.print(commands.text(plan.title, style="bold"))
        console.print(commands.table(plan.rows, "finding", "groups", "reads"))
        for note in plan.notes:
            console.print(commands.text(f"• {note}"))
        console.print()
