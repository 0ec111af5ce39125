"""The formats of recorded answers (JSON Lines or Parquet, recognised by their fields), read into one common form.

One file may hold several judges. Its content is data: it is checked, and nothing in it is run.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rubric_order.base import records
from rubric_order.base.errors import InputError
from rubric_order.base.plugins import Plugins

SUFFIXES = (".jsonl.gz", ".jsonl", ".parquet")

# Columns of the common form. An item is named by its id, or by group, candidate and criterion. A comparison is named by
# group, criterion and the candidates in the order in which they were shown. (If there are more than two, `shown` has
# all, and the first two are in their own columns too.) A comparison also has the task, the source that several groups
# share (`source_id`), and the human scores and lengths of its candidates, in the order shown. `written` is the text of
# the judge, where `response` comes from a map or a parsed winner instead.
COLUMNS = [
    *("request_id", "format", "judge", "prompt_style", "benchmark", "item_id", "group_id", "candidate", "criterion"),
    *("shown_first", "shown_second", "shown", "task", "source_id", "human_scores", "options", "written", "lengths"),
    *("ordering", "ordering_index", "repeat", "response", "file", "line"),
]


Check = Callable[[Any], object]  # returns the value of a field to keep, or raises ValueError with the expected value


class Importer(ABC):
    """Reader of records of one format.

    Attributes:
        marks: fields by which a record of the format is known; no other format has all of them.
        required: dictionary from each required field to a function that checks its value, such as those of `fields`. A
            null counts as a missing field.
        optional: dictionary from each optional field to such a function. All other fields are left out.
        compares: True if an answer compares two texts or more, False if it scores one.
        takes_labels: True if field `options` may be a map from written labels to options.
    """

    marks: tuple[str, ...]
    required: Mapping[str, Check]
    optional: Mapping[str, Check] = MappingProxyType({})
    compares: bool = False
    takes_labels: bool = False

    def fits(self, record: Mapping[str, Any]) -> bool:
        """True for a record of the format, which may have errors.

        Args:
            record: fields of the record, unchecked, without those that are null.
        """
        return all(mark in record for mark in self.marks)

    @abstractmethod
    def common(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The common form of a record: the values of those `COLUMNS` that the record has.

        If `judge` is missing, the judge is named like the file. `request_id`, `format`, `file` and `line` are added
        later.

        Args:
            record: fields of the record, as their checks return them.

        Raises:
            InputError: fields contradict each other; the message names no place.
        """

    def adapter(self, record: Mapping[str, Any]) -> str | None:
        """Name of the adapter of the dataset that a record is about; None where it can be about any.

        Args:
            record: the record in the common form.

        Raises:
            InputError: the record is about a dataset that no adapter reads; the message names no place.
        """
        return None


REGISTRY: Plugins[Importer] = Plugins("rubric_order.importers", Importer)


@functools.cache
def importers() -> dict[str, Importer]:
    """Dictionary from format to importer, with the most marks first. The first importer that fits reads a file."""
    loaded = {name: REGISTRY.load(name)() for name in REGISTRY.names()}
    return dict(sorted(loaded.items(), key=lambda named: -len(named[1].marks)))


def compares(kind: str) -> bool:
    """True if a record of a format compares texts."""
    return importers()[kind].compares


def adapter_of(record: Mapping[str, Any]) -> str | None:
    """The adapter of the dataset that a record is about; None where it can be about any."""
    try:
        return importers()[record["format"]].adapter(record)
    except InputError as error:
        raise InputError(f"{place(record)}: {error}") from None


def place(record: Mapping[str, Any]) -> str:
    return f"{record['file']}: line {record['line']}"


def describe(record: Mapping[str, Any]) -> str:
    """Description of what a record is about, for messages."""
    if isinstance(record["item_id"], str):
        return f"item {record['item_id']!r}"
    fields = ("benchmark", "group_id", "candidate", "criterion", "shown_first", "shown_second")
    return ", ".join(f"{name} {record[name]!r}" for name in fields if isinstance(record[name], str))


def read(path: Path, labels: Mapping[str, str] | None = None) -> Iterator[dict[str, Any]]:
    """Checked records of one file in the common form, without `request_id`; `labels` is for those without a map."""
    stem = next((path.name.removesuffix(suffix) for suffix in SUFFIXES if path.name.endswith(suffix)), path.stem)
    kind, empty = "", dict.fromkeys(COLUMNS)
    for where, line, fields in records.records(path, records.suffix_of(path)):
        row = {name: value for name, value in fields.items() if value is not None}
        if not kind:
            kind = _recognise(row, where)
            importer = importers()[kind]
            checks = [*{**importer.required, **importer.optional}.items()]
        if labels and importer.takes_labels and not isinstance(row.get("options"), dict):
            row = row | {"options": dict(labels)}
        try:
            common = importer.common(_check(row, kind, importer, checks))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        record = {**empty, "repeat": 0, **common}
        yield record | {"format": kind, "judge": record["judge"] or stem, "file": str(path), "line": line}
    if not kind:
        raise InputError(f"{path}: line 1: expected a recorded answer, found nothing")


def _recognise(row: Mapping[str, Any], where: str) -> str:
    for name, importer in importers().items():
        if importer.fits(row):
            return name
    expected = "; ".join(f"{', '.join(importer.required)} ({name})" for name, importer in importers().items())
    raise InputError(
        f"{where}: no known format of recorded answers: found fields {', '.join(row)}; expected {expected}"
    )


def _check(
    row: Mapping[str, Any], kind: str, importer: Importer, checks: Sequence[tuple[str, Check]]
) -> dict[str, object]:
    values = {}
    for name, check in checks:
        if name in row:
            try:
                values[name] = check(row[name])
            except ValueError as error:
                raise InputError(f"field {name!r}: expected {error}, found {row[name]!r:.60}") from None
        elif name in importer.required:
            raise InputError(f"field {name!r} is missing; format {kind!r} has {', '.join(importer.required)}")
    return values
