"""``rubric-order probe``: one text, read by one endpoint with one rubric in several orderings."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rubric_order import commands
from rubric_order.commands import options

if TYPE_CHECKING:
    from rich.table import Table

    from rubric_order.library.probe import Read


def probe(
    response: Annotated[Path, typer.Argument(help="File with the text to be judged.")],
    base_url: Annotated[str, typer.Option(help="Address of an OpenAI-compatible endpoint, ending in /v1.")],
    model: options.Model,
    rubric: Annotated[Path | None, typer.Option(help="YAML file with question and levels; or give --level.")] = None,
    level: options.LevelsOrNone = None,
    question: Annotated[str, typer.Option(help="The criterion, with --level.")] = "",
    instruction: options.Instruction = None,
    template: options.Template = "feedback",
    strategy: Annotated[str, typer.Option(help="balanced (2n orderings) or all (n! orderings).")] = "balanced",
    api_key_env: options.ApiKeyEnv = None,
    key_over_http: options.KeyOverHttp = False,
    go_on: options.GoOn = False,
    temperature: Annotated[float, typer.Option(min=0)] = 0,
    max_tokens: Annotated[int, typer.Option(min=1)] = 1024,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list with one object per order.")] = False,
) -> None:
    """Read one text in several orders of its rubric, and print the score in each order as the answers come.

    One text shows what can happen. Only a study tells whether a judge is biased, see audit. The status is 1 if no
    answer gives a score.

    Example: [green]rubric-order probe reply.txt --rubric rubric.yaml --base-url http://localhost:8000/v1 --model m[/]
    """
    from rubric_order.base import files
    from rubric_order.base.errors import InputError
    from rubric_order.library import probe as library

    if (rubric is None) == (not level):
        raise InputError("rubric: expected --rubric FILE, or --level once a score")
    wording = library.read_rubric(rubric) if rubric else library.Wording(question, level or [])
    reads = library.probe(
        files.read_text(response),
        levels=wording.levels,
        lowest=wording.lowest,
        question=wording.question,
        instruction=files.read_text(instruction) if instruction else "",
        base_url=base_url,
        model=model,
        template=template,
        strategy=strategy,
        temperature=temperature,
        max_tokens=max_tokens,
        api_key_env=api_key_env,
        key_over_http=key_over_http,
        go_on=go_on,
    )
    finished = _json(reads) if as_json else _live(reads)
    raise typer.Exit(0 if any(answer.score is not None for answer in finished) else 1)


def _json(reads: "Iterable[Read]") -> "list[Read]":
    in_order = sorted(reads, key=lambda answer: answer.ordering)
    typer.echo(commands.as_json([answer._asdict() | {"position": answer.position} for answer in in_order], indent=1))
    return in_order


def _live(reads: "Iterable[Read]") -> "list[Read]":
    """Print a table that grows with each answer, and then the effect of the order on this text."""
    from rich.console import Console
    from rich.live import Live

    console = Console()
    so_far: list[Read] = []
    with Live(_table(so_far), console=console, refresh_per_second=4) as live:
        for answer in reads:
            so_far.append(answer)
            live.update(_table(so_far))
    for sentence in sentences(so_far):
        console.print(commands.text(sentence))
    return so_far


def _table(reads: "Iterable[Read]") -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table("order", "score", "position", "", box=None, padding=(0, 2, 0, 0))
    for answer in sorted(reads, key=lambda answer: answer.ordering):
        line = Text()
        for score in answer.ordering:
            line.append(f"{score} ", style="reverse bold" if score == answer.score else "")
        said = "" if answer.score is not None else f"no score: {answer.reason}"
        table.add_row(
            line,
            Text("" if answer.score is None else str(answer.score)),
            Text(str(answer.position or "")),
            commands.text(said, style="dim"),
        )
    return table


def sentences(reads: "Sequence[Read]") -> list[str]:
    scored = [answer for answer in reads if answer.score is not None]
    if not scored:
        return [f"None of {len(reads)} answers gives a score."]
    scores, places = [one.score for one in scored if one.score is not None], [one.position for one in scored]
    lowest, highest, mean = min(scores), max(scores), sum(scores) / len(scores)
    range_ = f"from {lowest} to {highest}, {mean:.2f} on average" if lowest < highest else f"each gives {lowest}"
    said = f"{len(scored)} of {len(reads)} orderings give a score: {range_}."
    counts = {place: places.count(place) for place in range(1, len(scored[0].ordering) + 1)}
    positions = ", ".join(f"{count} at position {place}" for place, count in counts.items())
    return [
        said,
        f"What was chosen stood {positions}.",
        "One text is an example, not a finding: a study takes 20 groups or more.",
    ]
