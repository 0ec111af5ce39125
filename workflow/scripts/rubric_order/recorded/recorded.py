"""Judges without a model: answers that exist already, in files, become reads and responses like those of a live judge.

Files are JSON Lines (plain or gzip) or Parquet, one recorded answer a row. Which format a file has is told by its
fields; one file may hold several judges. Whatever a file says is data: it is checked, and nothing of it is run.
"""

import gzip
import hashlib
import json
import logging
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rubric_order.base.errors import InputError
from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.judging.store import SCHEMA
from rubric_order.planning.plan import COLUMNS as PLAN_COLUMNS
from rubric_order.prompts import orderings

log = logging.getLogger(__name__)

STRATEGY = "recorded"
SCALE = 5  # where neither config nor the records say how many scores there were
DUPLICATES = ("keep_and_report", "keep", "refuse")
UNKNOWN = ("refuse", "skip")
SUFFIXES = (".jsonl.gz", ".jsonl", ".parquet")

# What all formats are brought to. An item is named by its id, or by group, candidate and criterion; a comparison by
# group, criterion and the two candidates in the order in which they were shown.
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
    "options",
    "ordering",
    "ordering_index",
    "repeat",
    "response",
    "file",
    "line",
]
_IDENTITY = (
    *("format", "judge", "prompt_style", "benchmark", "item_id", "group_id", "candidate", "criterion"),
    *("shown_first", "shown_second", "ordering", "ordering_index"),
)


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


def _names(value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError("a list of names")
    return [_name(entry) for entry in value]


def _two_names(value: object) -> list[str]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("a list of two names")
    return [_name(entry) for entry in value]


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
    """How the records of one kind of file are written.

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
    first, second = reversed(record["pair"]) if record["toggled"] else record["pair"]
    return _article(record) | {"shown_first": first, "shown_second": second, "options": record["options"]}


def _article(record: dict) -> dict:
    kept = {name: record[name] for name in ("judge", "criterion", "response")}
    return kept | {"group_id": record["article_id"]}


def _pairwise(record: dict) -> dict:
    kept = {name: record[name] for name in ("benchmark", "judge", "options", "response")}
    shown = {"shown_first": record["answer_a"], "shown_second": record["answer_b"], "repeat": record["repetition"]}
    return kept | shown | {"group_id": record["question_id"], "criterion": record["task"]}


FORMATS: dict[str, _Format] = {
    "summeval_pairwise": _Format(
        marks=("article_id", "pair"),
        required={
            "judge": _name,
            "criterion": _name,
            "article_id": _name,
            "pair": _two_names,
            "toggled": _boolean,
            "options": _names,
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
            "options": _names,
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


# --- finding judges


def discover(folder: str | Path) -> dict[str, dict]:
    """The judges whose answers are recorded in a folder.

    Args:
        folder: every ``.jsonl``, ``.jsonl.gz`` and ``.parquet`` in it and below it is read; other files, and those
            whose name begins with a dot, are left alone.

    Returns:
        Settings by judge id, sorted: ``engine`` (``recorded``), ``model`` (the judge's name in the files),
        ``prompt_style`` (or None), ``n`` (number of scores or options), ``formats``, ``adapters`` (of the
        datasets that the answers are about; None for any) and ``files`` (sorted). A judge
        with two prompt styles is two judges.

    Raises:
        InputError: there are no such files; a file is broken or of no known format; a field is missing or wrong; two
            names give one id, or a name gives none.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    paths = sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES) and path.name[0] != ".")
    paths = [path for path in paths if path.is_file()]
    if not paths:
        raise InputError(f"{folder}: no recorded answers; expected files named *{', *'.join(SUFFIXES)}")
    found: dict[tuple[str, str | None], dict] = {}
    for path in paths:
        for record in _read(path):
            judge = found.setdefault(
                (record["judge"], record["prompt_style"]),
                {
                    "formats": set(),
                    "adapters": set(),
                    "files": {},
                    "ordering": set(),
                    "options": set(),
                    "place": f"{path}: line {record['line']}",
                },
            )
            judge["formats"].add(record["format"])
            judge["adapters"].add(adapter_of(record))
            judge["files"][str(path)] = None
            # Comparisons have options of their own, which say nothing about a scale.
            sized = "options" if record["format"] in COMPARISONS else "ordering"
            if record[sized]:
                judge[sized].add(len(record[sized]))
    judges: dict[str, dict] = {}
    for (name, style), entry in found.items():
        judge_id = id_of(name, style, entry["place"])
        if judge_id in judges:
            other = judges[judge_id]
            raise InputError(
                f"{entry['place']}: judge {_title(name, style)} would have the id {judge_id!r} of judge "
                f"{_title(other['model'], other['prompt_style'])}; rename one of them"
            )
        judges[judge_id] = {
            "engine": "recorded",
            "model": name,
            "prompt_style": style,
            "n": _size(entry),
            "formats": sorted(entry["formats"]),
            "adapters": None if None in entry["adapters"] else sorted(entry["adapters"]),
            "files": list(entry["files"]),
        }
    return dict(sorted(judges.items()))


def add_judges(config: dict) -> None:
    """Put the judges of config's `recorded_dir` into it, and into each study whose one strategy is `recorded`.

    Args:
        config: with `recorded_dir` and `studies`; what else it says is unchecked.

    Raises:
        InputError: see `discover`.
    """
    judges = {}
    for judge_id, found in discover(config["recorded_dir"]).items():
        compares = set(found.pop("formats")) <= set(COMPARISONS)
        judges[judge_id] = found | {"compares": compares}
    config.setdefault("judges", {}).update(judges)
    for study in config["studies"].values():
        if isinstance(study, dict) and study.get("strategies") == [STRATEGY]:
            study["judges"] = [*study.get("judges", []), *judges]


def adapter_of(record: Mapping) -> str | None:
    """The adapter of the dataset that a record is about; None where it can be about any.

    Raises:
        InputError: it is about a benchmark that no adapter reads.
    """
    if record["format"] == "general":
        return None
    key = record["benchmark"] if record["format"] == "pairwise" else record["format"]
    if key not in ADAPTERS:
        known = ", ".join(name for name in ADAPTERS if name not in FORMATS)
        raise InputError(f"{_place(record)}: field 'benchmark': expected {known}, found {key!r:.60}")
    return ADAPTERS[key]


def about(records: pd.DataFrame, adapter: str) -> pd.DataFrame:
    """The records that are about a dataset of the given adapter."""
    return records[[adapter_of(record) in (None, adapter) for record in records.to_dict("records")]]


def _size(entry: Mapping) -> int:
    """The number of scores, or of options of a judge that only compares. Several scales: the largest."""
    sizes = entry["options"] if entry["formats"] <= set(COMPARISONS) else entry["ordering"]
    return max(sizes, default=SCALE)


def id_of(judge: str, prompt_style: str | None = None, where: str = "judge") -> str:
    """A judge's id: its name and prompt style in lower case, with ``_`` for each run of other characters.

    Raises:
        InputError: the name holds no letter a to z and no digit.
    """
    judge_id = re.sub("[^a-z0-9]+", "_", f"{judge}_{prompt_style or ''}".lower()).strip("_")
    if not re.search("[a-z0-9]", judge.lower()):
        raise InputError(f"{where}: field 'judge': expected a name with letters a to z or digits, found {judge!r:.60}")
    return judge_id


def _title(name: str, style: str | None) -> str:
    return f"{name!r}" if style is None else f"{name!r} with prompt style {style!r}"


# --- reading records


def read_records(
    paths: str | Path | Iterable[str | Path],
    *,
    judge: str | None = None,
    prompt_style: str | None = None,
    duplicates: str = "keep_and_report",
) -> pd.DataFrame:
    """Recorded answers of one judge in the common form.

    Args:
        paths: files, read in the given order.
        judge: the judge's name in the files (`model` of its settings); None for all judges.
        prompt_style: as in its settings; where `judge` is given, None means answers without a prompt style.
        duplicates: what to do with records of one item, ordering and repeat: they become repeats 0, 1, ... in the order
            of the files, with (`keep_and_report`) or without (`keep`) a warning, or are an error (`refuse`).

    Returns:
        One row a record with `COLUMNS`; what a format does not have is None. `item_id` is None where the file names
        group, candidate and criterion instead; `plan_recorded` looks it up. `request_id` is a hash of all but the
        place: judge, what was judged, ordering, repeat and answer.

    Raises:
        InputError: see `discover`; there is no record of the judge; or duplicates are refused.
    """
    _check_option("duplicates", duplicates, DUPLICATES)
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    records = [
        record
        for path in files
        for record in _read(path)
        if judge is None or (record["judge"], record["prompt_style"]) == (judge, prompt_style)
    ]
    if not records:
        wanted = "" if judge is None else f" of judge {_title(judge, prompt_style)}"
        raise InputError(f"{', '.join(map(str, files)) or 'no files'}: no recorded answer{wanted}")
    _number_duplicates(records, duplicates)
    for record in records:
        content = [record[name] for name in (*_IDENTITY, "repeat", "response")]
        record["request_id"] = hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()
    return pd.DataFrame({name: pd.Series([r[name] for r in records], dtype=_dtype(name)) for name in COLUMNS})


def _dtype(column: str) -> object:
    return {"repeat": "int64", "line": "int64", "ordering_index": "Int64"}.get(column, object)


def _number_duplicates(records: list[dict], duplicates: str) -> None:
    """Give each record of an item and ordering a repeat of its own."""
    groups: dict[str, list[dict]] = {}
    for record in records:
        groups.setdefault(json.dumps([record[name] for name in _IDENTITY]), []).append(record)
    repeated = 0
    for group in groups.values():
        extra = len(group) - len({record["repeat"] for record in group})
        if not extra:
            continue  # repeats as recorded, even if they do not begin at 0
        if duplicates == "refuse":
            seen: dict[int, dict] = {}
            for record in group:
                if record["repeat"] in seen:
                    found = f"{_describe(record)}, repeat {record['repeat']}"
                    raise InputError(
                        f"{_place(record)}: {found}, is already recorded at {_place(seen[record['repeat']])}"
                    )
                seen[record["repeat"]] = record
        repeated += extra
        for repeat, record in enumerate(sorted(group, key=lambda record: record["repeat"])):
            record["repeat"] = repeat
    if repeated and duplicates == "keep_and_report":
        log.warning(
            "%d of %d records repeat an earlier one's item and ordering; kept as repeats", repeated, len(records)
        )


def _place(record: Mapping) -> str:
    return f"{record['file']}: line {record['line']}"


def _describe(record: Mapping) -> str:
    """What a record is about, for messages."""
    if isinstance(record["item_id"], str):
        return f"item {record['item_id']!r}"
    names = ("benchmark", "group_id", "candidate", "criterion", "shown_first", "shown_second")
    return ", ".join(f"{name} {record[name]!r}" for name in names if isinstance(record[name], str))


def _read(path: Path) -> Iterator[dict]:
    """Checked records of one file in the common form, without `request_id`."""
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
        record = dict.fromkeys(COLUMNS) | {"repeat": 0} | FORMATS[kind].common(_check(row, kind, where))
        yield record | {"format": kind, "judge": record["judge"] or stem, "file": str(path), "line": line}
    if kind is None:
        raise InputError(f"{path}: line 1: expected a recorded answer, found nothing")


def _recognise(row: dict, where: str) -> str:
    for name, known in FORMATS.items():
        if all(mark in row for mark in known.marks):
            return name
    expected = "; ".join(f"{', '.join(known.required)} ({name})" for name, known in FORMATS.items())
    raise InputError(
        f"{where}: no known format of recorded answers: found fields {', '.join(row)}; expected {expected}"
    )


def _check(row: dict, kind: str, where: str) -> dict:
    known = FORMATS[kind]
    kept = {}
    for name, check in (known.required | known.optional).items():
        if name in row:
            try:
                kept[name] = check(row[name])
            except ValueError as error:
                raise InputError(f"{where}: field {name!r}: expected {error}, found {row[name]!r:.60}") from None
        elif name in known.required:
            raise InputError(f"{where}: field {name!r} is missing; format {kind!r} has {', '.join(known.required)}")
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
                    found = f"0x{error.object[error.start]:02x}"
                    raise InputError(f"{path}: line {line}: expected UTF-8, found byte {found}") from None
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
    try:
        rows = pq.read_table(path).to_pylist()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {' '.join(str(error).split()):.200}") from None
    return enumerate(rows, start=1)


# --- from records to reads and responses


def plan_recorded(
    items: pd.DataFrame,
    records: pd.DataFrame,
    *,
    study: str,
    judge_id: str,
    n: int = SCALE,
    unknown: str = "refuse",
) -> pd.DataFrame:
    """The reads that recorded answers stand for, as `plan.plan_reads` lays them out.

    Args:
        items: the items of one dataset.
        records: see `read_records`; of one judge.
        study, judge_id: keys of the reads.
        n: number of scores, for records without an ordering. Those with an `ordering_index` only have that row
            (from 0) of `orderings.balanced`; those without either the canonical ordering.
        unknown: whether a record of no item of the dataset is an error (`refuse`) or left out and counted in the log
            (`skip`).

    Returns:
        One row a record, sorted by scale, by the order of the items and by the order of the records. The strategy is
        ``recorded``. Items without a record have no row; the log says how many they are.

    Raises:
        InputError: a record is of no item, an ordering index has no ordering, only some of the records compare two
            answers, or no record is left.
    """
    _check_option("unknown", unknown, UNKNOWN)
    compares = records["format"].isin(COMPARISONS)
    if compares.any():
        if not compares.all():
            first = records[compares].iloc[0]
            raise InputError(
                f"{_place(first)}: format {first['format']!r} compares two answers, other records score single ones; "
                "give them prompt styles, so that they are two judges"
            )
        return _plan_comparisons(records, study=study, judge_id=judge_id, dataset=str(items["dataset"].iloc[0]))
    known = records.assign(item_id=_item_ids(items, records))
    absent = known["item_id"].isna()
    if absent.any():
        first = records[absent.to_numpy()].iloc[0]
        message = f"{_describe(first)} is not among the items of dataset {_dataset(items)}"
        if unknown == "refuse":
            raise InputError(f"{_place(first)}: {message}")
        log.warning("%d of %d records left out; the first: %s: %s", absent.sum(), len(records), _place(first), message)
        known = known[~absent]
    if known.empty:
        raise InputError(f"judge {judge_id}: no recorded answer is of an item of dataset {_dataset(items)}")
    unread = len(items) - known["item_id"].nunique()
    if unread:
        log.warning("judge %s: %d of %d items have no recorded answer", judge_id, unread, len(items))

    reads = known[["item_id", "repeat", "request_id"]].copy()
    reads["ordering"] = pd.Series([_shown(record, n) for record in known.to_dict("records")], known.index, dtype=object)
    reads["n"] = reads["ordering"].map(len).astype("int64")
    reads["place"] = reads["item_id"].map({item_id: place for place, item_id in enumerate(items["item_id"])})
    reads = reads.sort_values(["n", "place"], kind="stable")
    reads["read_index"] = reads.groupby(["n", "item_id"]).cumcount().astype("int64")
    keys = items[["dataset", "item_id", "group_id", "candidate", "criterion", "human_score"]]
    reads = reads.merge(keys, on="item_id", validate="many_to_one")
    reads["study"], reads["judge"], reads["probe"], reads["strategy"] = study, judge_id, "score_order", STRATEGY
    reads["request_id"] = reads["request_id"].astype("str")
    return reads.assign(profile=DEFAULT_PROFILE)[PLAN_COLUMNS]


def _plan_comparisons(records: pd.DataFrame, *, study: str, judge_id: str, dataset: str) -> pd.DataFrame:
    """Answers that compare two texts as reads: their `score` is the place of the option that they choose.

    They have no human score here, so they are parsed and their failures counted, and that is all.
    """
    names = ["group_id", "criterion", "shown_first", "shown_second"]
    pair = records[names].astype(str).agg(" ".join, axis=1)
    reads = pd.DataFrame(
        {
            "study": study,
            "judge": judge_id,
            "profile": DEFAULT_PROFILE,
            "dataset": dataset,
            "item_id": pair.to_numpy(),
            "group_id": records["group_id"].to_numpy(),
            "candidate": records["shown_first"].to_numpy(),
            "criterion": records["criterion"].to_numpy(),
            "human_score": float("nan"),
            "probe": "pair_order",
            "strategy": STRATEGY,
            "n": records["options"].map(len).to_numpy(dtype="int64"),
            "read_index": records.groupby(pair).cumcount().to_numpy(dtype="int64"),
            "ordering": [list(range(1, len(options) + 1)) for options in records["options"]],
            "repeat": records["repeat"].to_numpy(),
            "request_id": records["request_id"].astype("str").to_numpy(),
        }
    )
    return reads.sort_values(["n", "item_id", "read_index"], kind="stable").reset_index(drop=True)


def _item_ids(items: pd.DataFrame, records: pd.DataFrame) -> list[str | None]:
    """The item of each record, None where it is of none; candidates and criteria match in any case."""
    ids = set(items["item_id"])
    by_key: dict[tuple, str] = {}
    for item_id, *key in zip(items["item_id"], *(items[name] for name in _KEY), strict=True):
        by_key.setdefault(_folded(key), item_id)
    twice = len(items) - len(by_key)
    found = []
    for record in records.to_dict("records"):
        if isinstance(record["item_id"], str):
            found.append(record["item_id"] if record["item_id"] in ids else None)
            continue
        if twice:
            raise InputError(
                f"{_place(record)}: names an item by group, candidate and criterion, which {twice} items of dataset "
                f"{_dataset(items)} share with another"
            )
        found.append(by_key.get(_folded([record[name] for name in _KEY])))
    return found


_KEY = ("group_id", "candidate", "criterion")


def _folded(key: list[str]) -> tuple[str, str, str]:
    group, candidate, criterion = key
    return group, candidate.lower(), criterion.lower()


def _shown(record: dict, n: int) -> list[int]:
    """The ordering in which a record's options were shown."""
    if pd.api.types.is_list_like(record["ordering"]):
        return [int(score) for score in record["ordering"]]
    if pd.isna(record["ordering_index"]):
        return list(range(1, n + 1))
    rows = orderings.balanced(n)
    if record["ordering_index"] >= len(rows):
        raise InputError(
            f"{_place(record)}: field 'ordering_index': expected 0 to {len(rows) - 1} for {n} options, "
            f"found {record['ordering_index']}"
        )
    return rows[record["ordering_index"]].tolist()


def _dataset(items: pd.DataFrame) -> str:
    return repr(items["dataset"].iloc[0]) if len(items) else "without items"


def responses_of(records: pd.DataFrame) -> pd.DataFrame:
    """Recorded answers as a table of responses with the columns and types of `store.SCHEMA`.

    `engine` names the file, without its folder, and the line. What a live judge also reports is null.
    """
    places = zip(records["file"], records["line"], strict=True)
    table = pa.Table.from_pydict(
        {
            **{name: [None] * len(records) for name in SCHEMA.names},
            "request_id": records["request_id"].tolist(),
            "text": records["response"].tolist(),
            "engine": [
                json.dumps({"engine": "recorded", "file": Path(file).name, "line": int(line)}, sort_keys=True)
                for file, line in places
            ],
        },
        schema=SCHEMA,
    )
    return table.to_pandas()


def _check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"option {name!r}: expected {', '.join(known)}, found {value!r:.60}")
