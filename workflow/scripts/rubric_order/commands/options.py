"""Options that commands which read files of reads share."""

from collections.abc import Mapping
from typing import Annotated

import typer

ColumnNames = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        help="Names that the file has for its columns, such as item=sample_id,score=grading.score; a path leads into"
        " nested JSON.",
        metavar="NAME=COLUMN,...",
        show_default=False,
    ),
]
ScaleOfScores = Annotated[
    str | None,
    typer.Option(
        "--scale",
        help="The score levels, lowest first: 5, 0-10, 1-5:0.5 or E,D,C,B,A. By default as the orderings list them.",
        metavar="LEVELS",
        show_default=False,
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
        show_default=False,
    ),
]


def columns(texts: list[str] | None) -> Mapping[str, str] | None:
    """Names of columns by ours; None where none are given."""
    if not texts:
        return None
    from rubric_order.library.columns import Columns

    return Columns.parse(texts).names
