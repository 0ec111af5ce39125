"""Options that several commands share. Each has one definition, so it is the same in all commands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

ColumnNames = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        help="Names that the file has for its columns, such as item=sample_id,score=grading.score; a path leads into"
        " nested JSON.",
        metavar="NAME=COLUMN,...",
    ),
]
ScaleOfScores = Annotated[
    str | None,
    typer.Option(
        "--scale",
        help="The score levels, lowest first: 5, 0-10, 1-5:0.5 or E,D,C,B,A. By default as the orderings list them.",
        metavar="LEVELS",
    ),
]

Choices = Annotated[
    bool,
    typer.Option(
        "--choices", help="The orderings list candidates that are no score levels, and score is the one chosen."
    ),
]
LabelMap = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="Options that written labels of choices stand for: a place (A the first), tie, none, or a candidate.",
        metavar="LABEL=OPTION,...",
    ),
]
ApiKeyEnv = Annotated[str | None, typer.Option("--api-key-env", help="Name of the environment variable with the key.")]
KeyOverHttp = Annotated[bool, typer.Option("--key-over-http", help="Send the key over plain http to another machine.")]
GoOn = Annotated[
    bool, typer.Option("--go-on", help="Ask the others too if no score can be read from the first 20 answers.")
]
Instruction = Annotated[Path | None, typer.Option("--instruction", help="File with what the response answers.")]
Template = Annotated[
    str, typer.Option("--template", help="feedback, score, or the path of a Jinja file or of a YAML file of messages.")
]
NumberOfLevels = Annotated[int, typer.Option("--n", help="Number of score levels.")]
JudgeOfCards = Annotated[str | None, typer.Option("--judge", help="Look at the cards of this judge alone.")]

_LEVEL = typer.Option("--level", help="Description of a score, from score 1 on; give it once a score.")
Levels = Annotated[list[str], _LEVEL]
LevelsOrNone = Annotated[list[str] | None, _LEVEL]

_MODEL = typer.Option("--model", help="What the endpoint calls the model.")
Model = Annotated[str, _MODEL]
ModelOrNone = Annotated[str | None, _MODEL]


def columns(texts: list[str] | None) -> Mapping[str, str] | None:
    """Dictionary from our names of columns to the file's names; None if no names are given."""
    if not texts:
        return None
    from rubric_order.intake.columns import Columns

    return Columns.parse(texts).names
