"""Answers of many models in a spreadsheet: a row a question, a column a model
(github.com/Slimshilin/Position-Bias-Analyzer).

Each answer is an item, and the baseline's answer, always `item_a`, is paired with every other (Shi et al. 2025).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl

from rubric_order.base.errors import InputError
from rubric_order.datasets import Item, Pair, clean

CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")  # characters that XML lacks, such as _x000D_ for a carriage return
EXCEL_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


@dataclass
class Row:
    """A row of a sheet: its place for messages, and its cells by the titles of their columns; None if empty."""

    place: str
    cells: dict[str, object]

    def where(self, column: str) -> str:
        return f"{self.place}, column {column!r}"

    def text(self, column: str) -> str:
        """Text of a cell, which must not be empty."""
        text = self.optional(column)
        if text is None:
            raise InputError(f"{self.where(column)}: expected text, found an empty cell")
        return text

    def optional(self, column: str) -> str | None:
        """Text of a cell, with plain line ends and no blank space around it; None if the cell is empty."""
        value = self.cells[column]
        if value is None:
            return None
        if type(value) is int:
            value = str(value)
        elif isinstance(value, float):
            value = f"{value:.15g}"  # a cell that shows 42 may hold 42.0
        if not isinstance(value, str) or value in EXCEL_ERRORS:
            raise InputError(f"{self.where(column)}: expected text, found {value!r:.60}")
        text = CONTROL.sub(lambda match: chr(int(match[1], 16)), value)
        return clean(text, self.where(column)) if text.strip() else None


def read_rows(path: Path, columns: tuple[str, ...]) -> list[Row]:
    """Rows of a workbook's first sheet below its row of titles, without empty rows."""
    titles, *values = _read_cells(path) or [()]
    for column, title in enumerate(titles, start=1):
        if title is None and any(column <= len(row) and row[column - 1] is not None for row in values):
            raise InputError(f"{path}: column {column} has no title")
        if title is not None and titles.index(title) < column - 1:
            raise InputError(f"{path}: column {title!r:.60} stands twice")
    for name in columns:
        if name not in titles:
            raise InputError(f"{path}: column {name!r} is missing; found {', '.join(map(str, titles)):.200}")
    rows = []
    for number, row in enumerate(values, start=2):
        padded = [*row, *[None] * (len(titles) - len(row))]
        if any(value is not None for value in padded[len(titles) :]):
            raise InputError(f"{path}: row {number}: expected {len(titles)} cells, found {len(padded)}")
        if any(value is not None for value in padded):
            cells = dict(zip(titles, padded, strict=False))
            rows.append(Row(f"{path}: row {number}", cells))
    if not rows:
        raise InputError(f"{path}: no rows")
    return rows


def _read_cells(path: Path) -> list[tuple[Any, ...]]:
    try:
        with open(path, "rb") as file:
            workbook = openpyxl.load_workbook(file, read_only=True, data_only=True)
            return list(workbook.worksheets[0].iter_rows(values_only=True))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # for a damaged workbook, openpyxl passes on all errors of zip and XML readers
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: not a readable .xlsx workbook: {reason:.100}") from None


def models(path: Path, row: Row, prefix: str, baseline: str) -> list[str]:
    """Models that have a column ``<prefix><model>``, under their published names and in the order of the sheet."""
    model_names = [
        title.removeprefix(prefix) for title in row.cells if isinstance(title, str) and title.startswith(prefix)
    ]
    if baseline not in model_names:
        raise InputError(
            f"{path}: no answers of the baseline {baseline!r}; found {', '.join(model_names) or 'none':.200}"
        )
    if len(model_names) < 2:
        raise InputError(f"{path}: expected answers of other models than the baseline {baseline!r}, found none")
    return model_names


def add_pairs(answers: list[Item], baseline: str) -> Iterator[Item | Pair]:
    """The answers to one question, and pairs of the baseline's answer with each other answer."""
    yield from answers
    (first,) = [answer for answer in answers if answer.candidate == baseline]
    for other in answers:
        if other is not first:
            yield Pair(
                where=other.where,
                pair_id=f"{first.group_id}-{baseline}-{other.candidate}",
                group_id=first.group_id,
                item_a=first.item_id,
                item_b=other.item_id,
                criterion=first.rubric.criterion if first.rubric else "overall",
                category=first.category,
            )
