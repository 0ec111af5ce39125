"""Your own texts: a table with one item per row, as CSV, JSON Lines or Parquet.

A rubric is in the columns of its row, or in a YAML file to which rows refer. ``docs/custom_data.md`` lists the columns.
"""

import dataclasses
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubric_order.base import files, records
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, clean
from rubric_order.datasets.rubrics import MAX_LEVELS, Rubric, check_levels, lowest_of, read_rubrics

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}
REQUIRED = ("item_id", "instruction", "response")
WHOLE = (*REQUIRED, "group_id", "candidate", "criterion", "rubric_id", "question")  # filled in all rows, or absent
NAMING = ("rubric_id", "criterion")  # either column says which rubric of a file is meant
ONLY = "overall"  # id of the rubric in a file with one rubric without an id
SPARSE = ("reference", "category")
LEVELS = tuple(f"level_{level}" for level in range(MAX_LEVELS + 1))
RATER = re.compile(r"human_score_[1-9][0-9]{0,2}")
KNOWN = (*WHOLE, *SPARSE, "human_score", "human_scores", "human_score_1, ...", f"{LEVELS[0]} ... {LEVELS[-1]}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass
class Table:
    """The columns that at least one row has, and for each row its place in the file and its values by column."""

    path: Path
    columns: list[str]
    rows: list[tuple[str, dict[str, Any]]]


class Custom(Adapter):
    files = ("items",)

    def read(
        self, items: Path, rubrics: Path | None = None, format: str | None = None, every_rubric: bool = False
    ) -> Iterator[Item]:
        """Items of a table; `rubrics` is a YAML file, and with `every_rubric` each row is judged under each of its
        rubrics.
        """
        table = read_table(items, format)
        check_columns(table)
        raters = rater_columns(table)
        scales = None if rubrics is None else read_scales(rubrics)
        if every_rubric:
            table = cross_rubrics(table, scales, raters)
        check_rubric_source(table, rubrics, scales)
        groups: dict[str, str] = {}
        candidates: dict[tuple[str, str], str] = {}
        own_rubrics: dict[tuple[Any, ...], str] = {}
        for where, row in table.rows:
            text = texts(row, table.columns, where)
            item_id, instruction, response = (text[name] for name in REQUIRED)
            group_id = text.get("group_id") or groups.setdefault(instruction, item_id)
            candidate = text.get("candidate") or candidates.setdefault((group_id, response), item_id)
            if scales is None:
                criterion = text.get("criterion", "overall")
                levels, lowest = own_levels(row, where)
                rubric_id = text.get("rubric_id") or own_rubrics.setdefault(
                    (criterion, text["question"], levels, lowest), item_id
                )
                rubric = Rubric(rubric_id, criterion, text["question"], levels, lowest=lowest)
            else:
                column = next((name for name in NAMING if name in table.columns), None)
                named = next(iter(scales)) if column is None else text[column]
                if named not in scales:
                    listed = files.listed(scales)
                    raise InputError(f"{where}: field {column!r}: no rubric {named!r:.60} in {rubrics}; found {listed}")
                criterion = text.get("criterion", named)
                rubric = dataclasses.replace(scales[named], rubric_id=named, criterion=criterion)
            yield Item(
                where=where,
                item_id=item_id,
                group_id=group_id,
                candidate=candidate,
                instruction=instruction,
                response=response,
                rubric=rubric,
                reference=text.get("reference"),
                human_scores=human_scores(row, raters, where),
                category=text.get("category"),
            )


def read_table(path: Path, format: str | None) -> Table:
    if format is None:
        format = FORMATS.get(Path(path).suffix.lower())
        if format is None:
            raise InputError(f"{path}: expected a file that ends in {', '.join(FORMATS)}, or option 'format'")
    if not isinstance(format, str) or format not in FORMATS.values():
        raise InputError(
            f"adapter 'custom': option 'format': expected {', '.join(FORMATS.values())}, found {format!r:.60}"
        )
    rows = [*records.records(path, f".{format}")]
    if not rows:
        raise InputError(f"{path}: no rows")
    columns = dict.fromkeys(name for row in rows for name in row.fields)
    return Table(path, [*columns], [(row.where, row.fields) for row in rows])


def check_columns(table: Table) -> None:
    """Check that every required column is there, and that no column is unknown."""
    for name in table.columns:
        if name not in (*WHOLE, *SPARSE, *LEVELS, "human_score", "human_scores") and not RATER.fullmatch(name):
            raise InputError(f"{table.path}: unknown column {name!r:.60}; known: {', '.join(KNOWN)}")
    for name in REQUIRED:
        if name not in table.columns:
            raise InputError(f"{table.path}: column {name!r} is missing; found {files.listed(table.columns)}")


def rater_columns(table: Table) -> list[str]:
    """The columns with human scores: one column with a score or with a list, or one column per rater."""
    raters = sorted((name for name in table.columns if RATER.fullmatch(name)), key=lambda name: int(name[12:]))
    for number, name in enumerate(raters, start=1):
        if name != f"human_score_{number}":
            raise InputError(f"{table.path}: column 'human_score_{number}' is missing; found {name!r}")
    ways = [*raters[:1], *(name for name in ("human_score", "human_scores") if name in table.columns)]
    if len(ways) > 1:
        raise InputError(f"{table.path}: human scores stand in {ways[0]!r} and in {ways[1]!r}; expected one of them")
    return raters or ways


def cross_rubrics(table: Table, scales: Mapping[str, Rubric] | None, raters: Sequence[str]) -> Table:
    """A table with one row for each pair of a row and a rubric."""
    if scales is None:
        raise InputError(f"{table.path}: option 'every_rubric' needs a file of rubrics, which config names 'rubrics'")
    for name in (name for name in ("rubric_id", "criterion", *raters) if name in table.columns):
        raise InputError(f"{table.path}: column {name!r} is of one rubric, and option 'every_rubric' takes all of them")
    first: dict[tuple[Any, ...], object] = {}
    rows = []
    for where, row in table.rows:
        item_id, instruction = row.get("item_id"), str(row.get("instruction"))
        if not isinstance(item_id, str) or not item_id.strip():
            raise InputError(f"{where}: field 'item_id': expected text, found {item_id!r:.60}")
        group = row.get("group_id") or first.setdefault((instruction,), item_id)
        candidate = row.get("candidate") or first.setdefault((group, str(row.get("response"))), item_id)
        shared = {**row, "group_id": group, "candidate": candidate}
        rows += [(where, {**shared, "item_id": f"{item_id}-{name}", "rubric_id": name}) for name in scales]
    return Table(table.path, list(dict.fromkeys([*table.columns, "group_id", "candidate", "rubric_id"])), rows)


def check_rubric_source(table: Table, rubrics: Path | None, scales: Collection[str] | None) -> None:
    """Check that rubrics are either in columns or in a file to which rows refer."""
    rubric_columns = [name for name in ("question", *LEVELS) if name in table.columns]
    if rubrics is None:
        for name in ("question", "level_1", *(["level_2"] if "level_0" not in rubric_columns else [])):
            if name not in rubric_columns:
                raise InputError(
                    f"{table.path}: column {name!r} is missing; a rubric stands in columns question, level_1, level_2"
                    ", ..., or in a file that config names 'rubrics'"
                )
    elif rubric_columns:
        raise InputError(
            f"{table.path}: column {rubric_columns[0]!r}: rubrics stand in {rubrics} already; expected one of them"
        )
    elif not {*NAMING} & {*table.columns} and len(scales or ()) != 1:
        raise InputError(
            f"{table.path}: column 'rubric_id' or 'criterion' is missing; it says which rubric of {rubrics} is meant"
        )


def texts(row: dict[str, Any], columns: list[str], where: str) -> dict[str, str]:
    """The cells that hold text, checked. Empty cells of ``SPARSE`` columns are left out."""
    cells = {}
    for name in columns:
        value = row.get(name)
        if name in WHOLE:
            value = "" if value is None else value  # so that the message about an empty cell is the same in all formats
        elif name not in SPARSE or _is_empty(value):
            continue
        cells[name] = clean(value, f"{where}: field {name!r}")
    return cells


def own_levels(row: dict[str, Any], where: str) -> tuple[tuple[str, ...], int]:
    """Descriptions of the levels in a row, and the lowest score. Empty cells after the last level are ignored."""
    levels = {level: row.get(name) for level, name in enumerate(LEVELS) if not _is_empty(row.get(name))}
    for level, value in levels.items():
        clean(value, f"{where}: field 'level_{level}'")
    return check_levels(levels, f"{where}: fields 'level_1', ..."), lowest_of(levels)


def human_scores(row: dict[str, Any], columns: list[str], where: str) -> list[float]:
    """Scores of the raters, without empty cells. Only the last cells of a row may be empty."""
    scores = []
    empty = None
    for name in columns:
        value = row.get(name)
        if _is_empty(value):
            empty = empty or name
            continue
        field = f"{where}: field {name!r}"
        if empty:  # the place in the list identifies the rater
            raise InputError(
                f"{where}: field {empty!r}: expected a number before {name!r}, found nothing; where any of the raters"
                " can be missing, give their scores as a list, human_scores"
            )
        if name != "human_scores":
            scores.append(number(value, field))
            continue
        message = f"expected a list such as [3, 4], found {value!r:.60}"
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise InputError(f"{field}: {message}") from None
        if not isinstance(value, list) or any(isinstance(score, list | dict) for score in value):
            raise InputError(f"{field}: {message}")
        scores += [number(score, field) for score in value]
    return scores


def number(value: object, where: str) -> float:
    """A finite number, which a CSV cell may hold as text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = repr(value)
    else:
        text = value.strip() if isinstance(value, str) else ""
    if not NUMBER.fullmatch(text) or abs(float(text)) == float("inf"):
        raise InputError(f"{where}: expected a number, found {value!r:.60}")
    return float(text)


def read_scales(path: Path) -> dict[str, Rubric]:
    """Rubrics by id, from a list as in ``resources/rubrics/hanna.yaml``, a mapping from id to rubric, or one rubric."""
    entries = files.read_yaml(path)
    if isinstance(entries, dict) and set(entries) == {"question", "levels"}:
        entries = {ONLY: entries}
    if isinstance(entries, list):
        return read_rubrics(path, "custom")
    if not isinstance(entries, dict) or not entries:
        raise InputError(f"{path}: expected a list of rubrics or a mapping of them, found {entries!r:.60}")
    scales = {}
    for key, entry in entries.items():
        where = f"{path}: rubric {key!r:.60}"
        if not isinstance(key, str):
            raise InputError(f"{where}: expected text as id, found {key!r:.60}; put it in quotes")
        if not isinstance(entry, dict) or set(entry) != {"question", "levels"}:
            fields = files.listed(map(str, entry)) if isinstance(entry, dict) else repr(entry)
            raise InputError(f"{where}: expected fields question, levels; found {fields:.60}")
        question = clean(entry["question"], f"{where}: question")
        key = clean(key, where)
        levels = check_levels(entry["levels"], f"{where}: levels")
        scales[key] = Rubric(key, key, question, levels, lowest=lowest_of(entry["levels"]))
    return scales


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
