"""``rubric-order audit``: a bias card for each judge, from a file of reads."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rubric_order import commands
from rubric_order.commands import options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rubric_order.cards.card import Card
    from rubric_order.library.choice_cards import ChoiceCard


def audit(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, JSON Lines, JSON or Parquet, or any of them packed by gzip; one row per read, with columns "
            "item, ordering (the score at each position, such as '1 2 3 4 5') and score (empty where there is none), "
            "and where they are known judge, group, p_1 to p_n (probability of each score) and human_score."
        ),
    ],
    columns: options.ColumnNames = None,
    scale: options.ScaleOfScores = None,
    choices: options.Choices = False,
    labels: options.LabelMap = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list with one object per judge, also where there is one judge.")
    ] = False,
    page: Annotated[Path | None, typer.Option(help="Write a page too, one file to open or send: FILE.html.")] = None,
    margin_points: Annotated[
        float, typer.Option(min=0.001, help="A smaller shift of the mean score counts as none.")
    ] = 0.1,
    margin_log_odds: Annotated[
        float, typer.Option(min=0.001, help="A smaller preference for a position counts as none.")
    ] = 0.2,
) -> None:
    """Print a bias card for each judge: whether the order of the score levels moves the judge's scores.

    The verdict is biased, biased by its option probabilities, equivalent (to a judge without bias, within the margins)
    or cannot tell, with reasons.
    The status is 0 for every verdict, and 1 if the file cannot be read.

    Examples: [green]rubric-order audit reads.csv[/], [green]rubric-order audit reads.parquet --json > cards.json[/],
    [green]rubric-order audit log.jsonl --columns item=sample_id,ordering=shown,score=grading.score --scale 0-10[/]
    """
    from rubric_order.intake.choices import Labels
    from rubric_order.library import audits

    audited = audits.audit(
        file,
        columns=options.columns(columns),
        scale=scale,
        nominal=choices,
        labels=Labels.parse(labels) if labels else None,
        margin_points=margin_points,
        margin_log_odds=margin_log_odds,
    )
    if page:
        from rubric_order.base import files

        used: dict[str, object] = {"columns": options.columns(columns), "scale": scale, "map": labels}
        used |= {"margin_log_odds": margin_log_odds} | ({"margin_points": margin_points} if audited.cards else {})
        files.write_text(audits.page(audited, file, used), page)
    if as_json:
        typer.echo("[\n" + ",\n".join(commands.as_json(card.to_dict()) for card in audited.all) + "\n]")
        return
    print_cards(audited.all)


def print_cards(cards: "Iterable[Card | ChoiceCard]") -> None:
    """Print cards to the terminal. `certify` and `relog` print their cards here too."""
    from rich.console import Console
    from rich.panel import Panel

    from rubric_order.cards import headline
    from rubric_order.cards.card import facts as card_facts
    from rubric_order.library import choice_cards
    from rubric_order.library.choice_cards import ChoiceCard

    console = Console()
    for card in cards:
        if not isinstance(card, ChoiceCard):
            word, advice, reasons = card.verdict.word, card.verdict.advice, [*card.verdict.reasons]
            head, rows = headline.headline(card.evidence, card.verdict).sentence, card_facts(card.evidence)
        else:
            word, advice, (head, *reasons) = card.verdict, card.advice, card.reasons
            rows = choice_cards.facts(card.evidence)
        console.print(Panel(commands.text(f"{card.judge}: {word}", style="bold"), expand=False))
        console.print(commands.text(head, style="bold"))
        console.print(commands.text(f"→ {advice}"))
        for sentence in reasons:
            console.print(commands.text(f"• {sentence}"))
        for sentence in card.notes:
            console.print(commands.text(f"• {sentence}", style="dim"))
        console.print(commands.table(rows))
        console.print()
