"""``rubric-order orderings``, ``render`` and ``parse``: parts of a study, for use in other programs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rubric_order import commands
from rubric_order.commands import options


def orderings(
    strategy: Annotated[str, typer.Argument(help="balanced, random, all, ...")] = "balanced",
    n: options.NumberOfLevels = 5,
    budget: Annotated[
        int | None, typer.Option(help="Orderings of random, fixed and repeated_rotations; by default 2n.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of random.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of lists.")] = False,
) -> None:
    """Print the orderings in which an item is read, one per line: the score at each position.

    Example: [green]rubric-order orderings balanced --n 5[/]
    """
    import rubric_order as ro

    rows = ro.orderings(strategy, n, budget=budget, seed=seed).tolist()
    typer.echo(json.dumps(rows) if as_json else "\n".join(" ".join(map(str, row)) for row in rows))


def render(
    response: Annotated[Path, typer.Argument(help="File with the text to be judged.")],
    level: options.Levels,
    ordering: Annotated[str, typer.Option(help="The score at each position; by default 1 2 3 ...")] = "",
    instruction: options.Instruction = None,
    question: Annotated[str, typer.Option(help="The criterion.")] = "",
    template: options.Template = "feedback",
) -> None:
    """Print the prompt of one read. A prompt of several messages is printed as JSON.

    Example: [green]rubric-order render reply.txt --level bad --level fair --level good --ordering "3 1 2"[/]
    """
    import rubric_order as ro
    from rubric_order.base import files
    from rubric_order.intake.score_tables import permutation

    order = permutation(ordering) if ordering else list(range(1, len(level) + 1))
    if order is None:
        raise ro.InputError(f"--ordering: expected each score from 1 to {len(level)} once, found {ordering!r:.60}")
    prompt = ro.render(
        files.read_text(response),
        levels=level,
        ordering=order,
        instruction=files.read_text(instruction) if instruction else "",
        question=question,
        template=template,
    )
    text = prompt if isinstance(prompt, str) else json.dumps(prompt, indent=1, ensure_ascii=False)
    typer.echo(commands.escape_output(text), color=True)  # keep escape codes


def parse(
    answer: Annotated[Path, typer.Argument(help="File with a judge's answer; - is standard input.", allow_dash=True)],
    n: options.NumberOfLevels = 5,
    lowest: Annotated[int, typer.Option(help="The lowest score, 0 or 1.")] = 1,
    criterion: Annotated[str, typer.Option(help="Its id in the study, by which a field of JSON may be called.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the score, or the reason, as a JSON object.")] = False,
) -> None:
    """Print the score that a study reads in an answer. Without a score, print the reason, with status 1.

    Example: [green]echo "Feedback: fine. [RESULT] 4" | rubric-order parse -[/]
    """
    import sys

    import rubric_order as ro
    from rubric_order.base import files

    try:
        text = sys.stdin.buffer.read().decode("utf-8") if str(answer) == "-" else files.read_text(answer)
    except UnicodeDecodeError as error:
        raise ro.InputError(f"standard input: expected UTF-8, found byte 0x{error.object[error.start]:02x}") from None
    choice = ro.parse(text, n, lowest=lowest, criterion=criterion)
    if as_json:
        score = None if choice.label is None else int(choice.label)
        typer.echo(json.dumps({"score": score, "reason": choice.reason, "pattern": choice.pattern}))
    else:
        typer.echo(choice.label or f"no score: {choice.reason}")
    raise typer.Exit(0 if choice.label else 1)
