"""The formats of recorded answers: what their fields may hold, and how a file is read into one common form.

Files are JSON Lines (plain or gzip) or Parquet, one recorded answer a row. Which format a file has is told by its
fields; one file may hold several judges. Whatever a file says is data: it is checked, and nothing of it is run.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rubric_order.base.errors import InputError

SUFFIXES = (".jsonl.gz", ".jsonl", ".parquet")

# What all formats are brought to. An item is named by its id, or by group, candidate and criterion; a comparison by
# group, criterion and the two candidates in the order in which they were shown; of these also the task, what several
# groups share (`source_id`), and the human scores of both, in that order.
COLUMNS = [
    "request_id",
    "format",
    "judge",
    "prompt_style",
    "benchmark",
    "item_id",
    "group_id",
    "candidate",
    "criterion",
    "shown_first",
    "shown_second",
    "task",
    "source_id",
    "human_scores",
    "options",
    "ordering",
    "ordering_index",
    "repeat",
    "response",
    "file",
    "line",
]


# --- what a field may hold: the value as it is kept, or ValueError with what was expected


def _text(value: object) -> str:
    """Text that a file can hold, perhaps none."""
    if not isinstance(value, str):
        raise ValueError("text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("text without half of a surrogate pair") from None
    return value


def _name(value: object) -> str:
    if not _text(value).strip():
        raise ValueError("a name")
    return value


def _count(value: object) -> int:
    # Parquet files written from pandas hold whole numbers as floats where some are missing.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a whole number from 0")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    return float(value)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _two_names(value: object) -> list[str]:
    if not isinstance(value, list) or len(value) != 2 or value[0] == value[1]:
        raise ValueError("a list of two names")
    return [_name(entry) for entry in value]


def _options(value: object) -> list[str]:
    expected = "two or three different capital letters, the last of three for a tie"
    if not isinstance(value, list) or len(value) not in (2, 3) or len({*map(str, value)}) != len(value):
        raise ValueError(expected)
    if not all(isinstance(entry, str) and re.fullmatch("[A-Z]", entry) for entry in value):
        raise ValueError(expected)
    return value


def _ordering(value: object) -> list[int]:
    expected = "a list that holds each of 1 to n once, n from 2 to 9"
    if not isinstance(value, list) or not 2 <= len(value) <= 9:
        raise ValueError(expected)
    try:
        shown = [_count(entry) for entry in value]
    except ValueError:
        raise ValueError(expected) from None
    if sorted(shown) != list(range(1, len(shown) + 1)):
        raise ValueError(expected)
    return shown


# --- formats


@dataclass(frozen=True)
class _Format:
    """Form in which the records of one kind of file are written.

    Attributes:
        marks: fields that no other format has together.
        required, optional: what each field may hold. A null is the same as no field.
        common: from checked fields to the common form.
    """

    marks: tuple[str, ...]
    required: Mapping[str, Callable]
    common: Callable[[dict], dict]
    optional: Mapping[str, Callable] = field(default_factory=dict)


def _general(record: dict) -> dict:
    return record


def _summeval(record: dict) -> dict:
    return _article(record) | {"prompt_style": record["prompt_style"], "candidate": record["system"]}


def _summeval_pairwise(record: dict) -> dict:
    shown = [(record["pair"][k], record[f"human_score_{k + 1}"]) for k in ((1, 0) if record["toggled"] else (0, 1))]
    (first, second), human_scores = zip(*shown, strict=True)
    kept = {"shown_first": first, "shown_second": second, "human_scores": list(human_scores)}
    source = {"benchmark": SUMMEVAL, "task": record["criterion"], "source_id": record["article_id"]}
    return _article(record) | kept | source | {"options": record["options"]}


def _article(record: dict) -> dict:
    kept = {name: record[name] for name in ("judge", "criterion", "response")}
    return kept | {"group_id": record["article_id"]}


def _pairwise(record: dict) -> dict:
    if record["answer_a"] == record["answer_b"]:
        raise InputError(
            f"field 'answer_b': expected another one than answer_a, found {record['answer_b']!r:.60} twice"
        )
    kept = {name: record[name] for name in ("benchmark", "judge", "options", "response")}
    shown = {"shown_first": record["answer_a"], "shown_second": record["answer_b"], "repeat": record["repetition"]}
    task, group = record["task"], record["question_id"]
    # DevBench: the task follows the project in a question's id, and part of the project is left in the recorded task.
    document = _DOCUMENT.search(task) if record["benchmark"] == "DevBench" else None
    task = document[0] if document else task
    source = group.removesuffix(f"_{task}") or group
    return kept | shown | {"group_id": group, "criterion": task, "task": task, "source_id": source}


_DOCUMENT = re.compile(r"(?:uml_class|uml_sequence|architecture_design)-.+", re.IGNORECASE)
SUMMEVAL = "SummEval"  # how the comparisons of its summaries call it


FORMATS: dict[str, _Format] = {
    "summeval_pairwise": _Format(
        marks=("article_id", "pair"),
        required={
            "judge": _name,
            "criterion": _name,
            "article_id": _name,
            "pair": _two_names,
            "toggled": _boolean,
            "options": _options,
            "human_score_1": _number,
            "human_score_2": _number,
            "response": _text,
        },
        common=_summeval_pairwise,
    ),
    "summeval": _Format(
        marks=("article_id", "system"),
        required={
            "judge": _name,
            "prompt_style": _name,
            "system": _name,
            "criterion": _name,
            "article_id": _name,
            "response": _text,
        },
        common=_summeval,
    ),
    "pairwise": _Format(
        marks=("answer_a", "answer_b"),
        required={
            "benchmark": _name,
            "judge": _name,
            "task": _name,
            "question_id": _name,
            "answer_a": _name,
            "answer_b": _name,
            "options": _options,
            "repetition": _count,
            "response": _text,
        },
        common=_pairwise,
    ),
    "general": _Format(
        marks=("item_id",),
        required={"item_id": _name, "response": _text},
        optional={
            "ordering": _ordering,
            "ordering_index": _count,
            "repeat": _count,
            "judge": _name,
            "prompt_style": _name,
        },
        common=_general,
    ),
}
COMPARISONS = ("pairwise", "summeval_pairwise")
# The adapter of the dataset that answers are about, by their format or benchmark; general records can be about any.
ADAPTERS = {
    "summeval": "summeval",
    "summeval_pairwise": "summeval",
    "MTBench": "mtbench_pairs",
    "DevBench": "devbench_pairs",
}


def adapter_of(record: Mapping) -> str | None:
    """The adapter of the dataset that a record is about; None where it can be about any.

    Raises:
        InputError: it is about a benchmark that no adapter reads.
    """
    if record["format"] == "general":
        return None
    key = record["benchmark"] if record["format"] == "pairwise" else record["format"]
    if key not in ADAPTERS:
        expected = ", ".join(name for name in ADAPTERS if name not in FORMATS)
        raise InputError(f"{place(record)}: field 'benchmark': expected {expected}, found {key!r:.60}")
    return ADAPTERS[key]


def place(record: Mapping) -> str:
    return f"{record['file']}: line {record['line']}"


def describe(record: Mapping) -> str:
    """Description of what a record is about, for messages."""
    if isinstance(record["item_id"], str):
        return f"item {record['item_id']!r}"
    fields = ("benchmark", "group_id", "candidate", "criterion", "shown_first", "shown_second")
    return ", ".join(f"{name} {record[name]!r}" for name in fields if isinstance(record[name], str))


def read(path: Path) -> Iterator[dict]:
    """Checked records of one file in the common form, without `request_id`.

    Raises:
        InputError: the file is not there, is broken or of no known format, or holds nothing; or a field is missing or
            wrong.
    """
    rows = _parquet_rows(path) if path.name.endswith(".parquet") else _json_rows(path)
    stem = next((path.name.removesuffix(suffix) for suffix in SUFFIXES if path.name.endswith(suffix)), path.stem)
    kind = None
    for line, row in rows:
        where = f"{path}: line {line}"
        if not isinstance(row, dict):
            raise InputError(f"{where}: expected an object with named fields, found {row!r:.60}")
        row = {name: value for name, value in row.items() if value is not None}
        if kind is None:
            kind = _recognise(row, where)
        try:
            common = FORMATS[kind].common(_check(row, kind))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        record = dict.fromkeys(COLUMNS) | {"repeat": 0} | common
        yield record | {"format": kind, "judge": record["judge"] or stem, "file": str(path), "line": line}
    if kind is None:
        raise InputError(f"{path}: line 1: expected a recorded answer, found nothing")


def _recognise(row: dict, where: str) -> str:
    for name, form in FORMATS.items():
        if all(mark in row for mark in form.marks):
            return name
    expected = "; ".join(f"{', '.join(form.required)} ({name})" for name, form in FORMATS.items())
    raise InputError(
        f"{where}: no known format of recorded answers: found fields {', '.join(row)}; expected {expected}"
    )


def _check(row: dict, kind: str) -> dict:
    form = FORMATS[kind]
    kept = {}
    for name, check in (form.required | form.optional).items():
        if name in row:
            try:
                kept[name] = check(row[name])
            except ValueError as error:
                raise InputError(f"field {name!r}: expected {error}, found {row[name]!r:.60}") from None
        elif name in form.required:
            raise InputError(f"field {name!r} is missing; format {kind!r} has {', '.join(form.required)}")
    return kept


def _json_rows(path: Path) -> Iterator[tuple[int, object]]:
    line = 0
    try:
        with gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb") as file:
            for line, raw in enumerate(file, start=1):
                try:
                    text = raw.decode("utf-8-sig" if line == 1 else "utf-8").rstrip()
                    if text:
                        yield line, json.loads(text)
                except UnicodeDecodeError as error:
                    byte = f"0x{error.object[error.start]:02x}"
                    raise InputError(f"{path}: line {line}: expected UTF-8, found byte {byte}") from None
                except json.JSONDecodeError as error:
                    raise InputError(
                        f"{path}: line {line}, column {error.colno}: malformed JSON: {error.msg}"
                    ) from None
                except (ValueError, RecursionError) as error:  # a number of thousands of digits; nested too deeply
                    raise InputError(f"{path}: line {line}: malformed JSON: {error}") from None
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: line {line + 1}: broken gzip file: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: line {line + 1}: cannot be read: {error.strerror or error}") from None


def _parquet_rows(path: Path) -> Iterator[tuple[int, object]]:
    """Rows, numbered from 1, as a line of a text file is."""
    import pyarrow as pa  # slow to import; judges are looked for before any rule runs
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(path).to_pylist()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {' '.join(str(error).split()):.200}") from None
    return enumerate(rows, start=1)
