"""Datasets: one `Adapter` per form of files, one form of the table of items, and what must hold for every dataset."""

# Checks of a config import this module, so slow imports are inside the functions that need them.
from __future__ import annotations

import dataclasses
import functools
import inspect
import logging
import re
import sys
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rubric_order.base.errors import InputError
from rubric_order.base.plugins import Plugins
from rubric_order.contracts.items import PAIRS, RUBRICS

if TYPE_CHECKING:
    import pandas as pd

    from rubric_order.datasets.rubrics import Rubric

CHANGES = ("Unicode form", "line ends", "surrounding space")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
PREFERENCES = ("a", "b", "tie")

log = logging.getLogger(__name__)
_changed: dict[str, set[str]] = {change: set() for change in CHANGES}  # texts before the change, since `prepare` began


@dataclass
class Item:
    """One text judged under one criterion.

    Attributes:
        where: file and row that it was read from, for error messages; not stored.
        item_id: unique in the dataset.
        group_id: id of what competing candidates share (a prompt, an article, a story).
        candidate: the system or model that wrote the response.
        rubric: rubric by which the text is scored; None if the adapter found none.
        human_scores: one score per human rater.
        reference_labels: golden scores that came from other judges, such as GPT-4.
        category: kind of task, as the dataset has it; None if the dataset has none.
        turns: texts of each turn, if the text is a conversation. Instruction, response and reference then hold all
            turns as one text.
    """

    where: str
    item_id: str
    group_id: str
    candidate: str
    instruction: str
    response: str
    rubric: Rubric | None
    reference: str | None = None
    human_scores: list[float] = field(default_factory=list)
    reference_labels: list[float] = field(default_factory=list)
    category: str | None = None
    turns: list[Turn] | None = None


@dataclass
class Turn:
    """A turn of a conversation.

    Attributes:
        user: the question.
        assistant: the answer; empty if the candidate said nothing.
        reference: the reference answer; None without one.
    """

    user: str
    assistant: str
    reference: str | None = None


@dataclass
class Pair:
    """Two items that are compared.

    Attributes:
        where: file and row that it was read from, for error messages; not stored.
        pair_id: unique in the dataset.
        group_id: the group of both items.
        item_a, item_b: ids of the items.
        preference: the item that people prefer: ``a``, ``b`` or ``tie``; None if it is not known.
        criterion: criterion by which the items are compared.
        category: kind of task, as in `Item`.
    """

    where: str
    pair_id: str
    group_id: str
    item_a: str
    item_b: str
    preference: str | None = None
    criterion: str = "overall"
    category: str | None = None


def instructions(task: object, adapter: str) -> Callable[[str], str]:
    """Make a function that puts a text into a sentence about the task of the writer.

    Args:
        task: the sentence, from the adapter's option ``task``; the text replaces ``{}``.

    Raises:
        InputError: the sentence is not a text with one ``{}``.

    >>> instructions("Tell a story about {}.", "mine")("a fox")
    'Tell a story about a fox.'
    """
    if not isinstance(task, str) or task.count("{}") != 1:
        raise InputError(f"adapter {adapter!r}: option 'task': expected a text with one {{}}, found {task!r:.60}")
    return functools.partial(task.replace, "{}")


class Adapter(ABC):
    """Reader of one form of files.

    Attributes:
        files: names of the files that it needs. Config gives the address of each file under this name.
    """

    files: tuple[str, ...]

    @abstractmethod
    def read(self, *args: Any, **files_and_options: Any) -> Iterator[Item | Pair]:
        """Yield an `Item`, with its rubric, for each text and criterion.

        If texts are compared, yield also a `Pair` for each two items. Such items need no rubric.

        Args:
            args: none; every argument is given by its name.
            files_and_options: path of each of `files`, and the further files and options that config gives. Arguments
                that the signature of a subclass does not have are refused. Argument `dataset` is the dataset's id.

        Raises:
            InputError: a file does not have the form. The message has file, place, found value and expected value.
        """


REGISTRY: Plugins[Adapter] = Plugins("rubric_order.datasets", Adapter)


@dataclass
class Tables:
    """A dataset as tables: one row per item, per rubric that items use, and per pair of items."""

    items: pd.DataFrame
    rubrics: pd.DataFrame
    pairs: pd.DataFrame


@dataclass
class Entries:
    """Entries that an adapter yields, and the files that it reads."""

    entries: Iterator[Item | Pair]
    paths: list[Path]

    def __iter__(self) -> Iterator[Item | Pair]:
        return iter(self.entries)


def read(adapter: str, files: dict[str, Path], options: dict[str, Any] | None = None, *, dataset: str = "") -> Entries:
    """Items and pairs as a dataset's adapter reads them, unchecked; `files` has paths under the names that config gives
    them.
    """
    reader = REGISTRY.load(adapter)()
    missing = [name for name in reader.files if name not in files]
    if missing:
        raise InputError(
            f"adapter {adapter!r} needs files {', '.join(reader.files)}; config does not name {missing[0]!r}"
        )
    arguments = files | (options or {})
    signature = inspect.signature(reader.read)
    if "dataset" in signature.parameters:
        arguments["dataset"] = dataset
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise InputError(f"adapter {adapter!r}: {error}; check the dataset's files and options") from None
    return Entries(reader.read(**arguments), list(files.values()))


def prepare(dataset: str, entries: Iterable[Item | Pair], *, limit: int | None = None) -> Tables:
    """Check items and pairs, and put them into tables. Log the number of texts that `clean` changed.

    Only the first `limit` groups are kept; None for all.
    """
    for texts in _changed.values():
        texts.clear()
    items: list[Item] = []
    pairs: list[Pair] = []
    for entry in entries:  # this loop also runs the adapters, which clean texts too
        _clean_ids(entry)
        if isinstance(entry, Pair):
            pairs.append(entry)
        else:
            items.append(entry)
    if not items:
        origin = f" in {', '.join(map(str, entries.paths))}" if isinstance(entries, Entries) else ""
        raise InputError(f"dataset {dataset}: no items{origin}")
    item_table, rubric_table = _prepare_items(dataset, items, limit=limit, paired=bool(pairs))
    pair_table = _prepare_pairs(dataset, pairs, items, set(item_table["item_id"]))
    if any(_changed.values()):
        counts = (f"{len(texts)} by {change}" for change, texts in _changed.items())
        log.info("%s: texts changed: %s", dataset, ", ".join(counts))
    return Tables(item_table, rubric_table, pair_table)


def _clean_ids(entry: Item | Pair) -> None:
    """Clean ids and other short texts that identify or group an entry, before entries are compared."""
    ids: tuple[str, ...] = ("item_id", "group_id", "candidate")
    if isinstance(entry, Pair):
        ids = ("pair_id", "group_id", "item_a", "item_b", "criterion")
    for name in ids:
        setattr(entry, name, clean(getattr(entry, name), f"{entry.where}: field {name!r}"))
    if entry.category is not None:
        entry.category = clean(entry.category, f"{entry.where}: field 'category'")


def _prepare_pairs(dataset: str, pairs: list[Pair], items: list[Item], kept: set[str]) -> pd.DataFrame:
    """The table of pairs. A pair is kept if both of its items are kept."""
    import pandas as pd

    item_ids = {item.item_id for item in items}
    seen: dict[str, str] = {}
    rows = []
    for pair in pairs:
        if pair.pair_id in seen:
            raise InputError(f"{pair.where}: pair id {pair.pair_id!r:.60} is already used by {seen[pair.pair_id]}")
        seen[pair.pair_id] = pair.where
        for item_id in (pair.item_a, pair.item_b):
            if item_id not in item_ids:
                raise InputError(
                    f"{pair.where}: pair {pair.pair_id!r:.60} names item {item_id!r:.60}, which is not there"
                )
        if pair.preference not in (None, *PREFERENCES):
            expected = ", ".join(PREFERENCES)
            raise InputError(f"{pair.where}: field 'preference': expected {expected}, found {pair.preference!r:.60}")
        if {pair.item_a, pair.item_b} <= kept:
            rows.append({"dataset": dataset} | {name: getattr(pair, name) for name in PAIRS.names[1:]})
    return pd.DataFrame(rows, columns=PAIRS.names, dtype=object)


def _prepare_items(
    dataset: str, items: list[Item], *, limit: int | None, paired: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    import pandas as pd

    item_rows: list[dict[str, Any]] = []
    rubrics: dict[str, Rubric] = {}
    rubric_rows: dict[str, dict[str, Any]] = {}
    seen: dict[str, str] = {}
    groups: set[str] = set()
    for item in items:
        if limit is not None and item.group_id not in groups and len(groups) == limit:
            continue
        groups.add(item.group_id)
        if item.item_id in seen:
            raise InputError(f"{item.where}: item id {item.item_id!r:.60} is already used by {seen[item.item_id]}")
        seen[item.item_id] = item.where
        if item.rubric is None:
            if not paired:
                raise InputError(f"{item.where}: item {item.item_id!r:.60} has no rubric")
            item_rows.append(_row(dataset, item))
            continue
        if rubrics.setdefault(item.rubric.rubric_id, item.rubric) != item.rubric:
            raise InputError(
                f"{item.where}: rubric {item.rubric.rubric_id!r:.60} differs from an earlier one of that id"
            )
        if item.rubric.rubric_id not in rubric_rows:
            rubric_rows[item.rubric.rubric_id] = _rubric_row(item.rubric, f"{item.where}: rubric")
        item_rows.append(_row(dataset, item))
    if not item_rows:
        raise InputError(f"dataset {dataset}: no items")
    return pd.DataFrame(item_rows), pd.DataFrame(list(rubric_rows.values()), columns=RUBRICS.names)


def _row(dataset: str, item: Item) -> dict[str, Any]:
    instruction = clean(item.instruction, f"{item.where}: field 'instruction'")
    response = clean(item.response, f"{item.where}: field 'response'")
    reference = None if item.reference is None else clean(item.reference, f"{item.where}: field 'reference'")
    scores = _numbers(item.human_scores, f"{item.where}: field 'human_scores'")
    return {
        "dataset": dataset,
        "item_id": item.item_id,
        "group_id": item.group_id,
        "candidate": item.candidate,
        "criterion": item.rubric.criterion if item.rubric else "overall",
        "rubric_id": item.rubric.rubric_id if item.rubric else None,
        "category": item.category,
        "instruction": instruction,
        "response": response,
        "reference": reference,
        "human_scores": scores,
        "human_score": sum(scores) / len(scores) if scores else float("nan"),
        "reference_labels": _numbers(item.reference_labels, f"{item.where}: field 'reference_labels'"),
        "turns": None if item.turns is None else [dataclasses.asdict(turn) for turn in item.turns],
    }


def _numbers(values: list[Any], where: str) -> list[float]:
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) <= sys.float_info.max:  # NaN and infinite values too
            raise InputError(f"{where}: expected numbers, found {value!r:.60}")
    return [float(value) for value in values]


def _rubric_row(rubric: Rubric, where: str) -> dict[str, Any]:
    question = clean(rubric.question, f"{where}: question")
    name = rubric.name or rubric.criterion.replace("_", " ").capitalize()
    return {
        "rubric_id": rubric.rubric_id,
        "criterion": rubric.criterion,
        "name": clean(name, f"{where}: name"),
        "short": question if rubric.short is None else clean(rubric.short, f"{where}: short"),
        "question": question,
        "levels": [clean(text, f"{where}: level {level}") for level, text in enumerate(rubric.levels, start=1)],
        "lowest": rubric.lowest,
    }


def clean(text: object, where: str) -> str:
    """A text in Unicode form NFC, with plain line ends and without blank space around it.

    Raises:
        InputError: it is not text, is empty, holds a control character other than newline and tab, or holds an
            unpaired surrogate, which UTF-8 cannot encode.
    """
    if not isinstance(text, str):
        raise InputError(f"{where}: expected text, found {text!r:.60}")
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    composed = unicodedata.normalize("NFC", plain)
    cleaned = composed.strip()
    if not cleaned:
        raise InputError(f"{where}: expected text, found nothing")
    if control := CONTROL.search(cleaned):
        description = f"control character {control[0]!r} at offset {control.start()}"
        raise InputError(f"{where}: expected text, found {description}")
    for change, before, after in zip(CHANGES, (plain, text, composed), (composed, plain, cleaned), strict=True):
        if before != after:
            _changed[change].add(text)
    return cleaned
