"""History of a gate: a file beside the baseline, with one line for each check of a run against it.

Lines are added, never rewritten, under the file's lock (`base.locks.only_writer`).
"""

import datetime
import hashlib
import itertools
import json
import os
import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.cards.record import CardRecord

REMEDY = "restore the file, or take that line out, so that its run no longer counts"
ENDING = ".history.jsonl"  # replaces the ending of the baseline's file


class Seen(BaseModel):
    """One card of one run: its anchors, and labels of the quantities for which the gate failed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    judge: str
    anchors: dict[str, Any]
    failed: list[str] = Field(default_factory=list)


class Run(BaseModel):
    """One check of a run: a line of the file. A later line of this name replaces its cards, unless they have a change.

    `baseline`: digest of what it was compared with; `cards`: by name of the baseline's card.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["rubric-order run 1"] = "rubric-order run 1"
    run: str = Field(min_length=1)
    time: str
    baseline: str
    cards: dict[str, Seen]


def beside(baseline: Path) -> Path:
    """File of the history of a baseline."""
    return baseline.with_name(re.sub(r"\.json$", "", baseline.name) + ENDING)


def digest(cards: Iterable[CardRecord]) -> str:
    """Digest of a baseline, made from the anchors of its cards."""
    content = json.dumps([card.get("anchors") for card in cards], sort_keys=True)
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def read(path: Path, baseline: str) -> list[Run]:
    """Runs of a history, oldest first, all of the baseline with this `digest`; empty if there is no file."""
    if not path.exists():
        return []
    runs = []
    try:
        lines = files.read_json_lines(path)
    except InputError as error:
        raise InputError(f"{error}; {REMEDY}") from None
    for number, content in lines:
        try:
            run = Run.model_validate(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = "/".join(map(str, first["loc"])) or "the whole"
            raise InputError(f"{path}: line {number}: {place:.100}: {first['msg']:.200}; {REMEDY}") from None
        if run.baseline != baseline:
            raise InputError(
                f"{path}: line {number}: field 'baseline': {run.baseline:.40} is another baseline than this one "
                f"({baseline}); expected runs of this one. To begin anew, move the file away: "
                f"mv {shlex.quote(str(path))} {shlex.quote(f'{path}.old')}"
            )
        runs.append(run)
    return runs


def accept(summary: Path, baseline: Path, path: Path) -> list[Path]:
    """Make a summary the baseline, and return the copies of the old one and its history, which have the time in their
    names.

    The history is moved last: a check meanwhile finds one of another baseline, and refuses it.
    """
    time = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    copies = []
    content = summary.read_bytes()
    if baseline.exists():
        copies.append(baseline.with_name(f"{baseline.stem}.{time}{baseline.suffix}"))
        _copy(baseline.read_bytes(), copies[-1])
    _copy(content, baseline)
    if path.exists():
        copies.append(path.with_name(f"{path.name}.{time}"))
        path.rename(copies[-1])
    return copies


def _copy(content: bytes, path: Path) -> None:
    with files.atomic(path) as temporary:
        temporary.write_bytes(content)


def attempt(run: str, names: Collection[str]) -> str:
    """Name of a further attempt of a run, the first that is not among `names`.

    >>> attempt("n3", {"n3", "n3 (attempt 2)"})
    'n3 (attempt 3)'
    """
    return next(name for name in (f"{run} (attempt {k})" for k in itertools.count(2)) if name not in names)


def is_attempt(name: str, run: str | None) -> bool:
    """True if `name` is the name of a run, or of a further attempt of this run."""
    return run is not None and re.fullmatch(rf"{re.escape(run)}( \(attempt \d+\))?", name) is not None


def cards(runs: Iterable[Run], name: str, *, without: str | None = None) -> list[Seen]:
    """A card of each run, the last one where a run was checked again, oldest first; `without` names a run to
    leave out.
    """
    by_run: dict[str, Seen] = {}
    for past in runs:
        if name in past.cards and past.run != without:
            by_run.pop(past.run, None)
            by_run[past.run] = past.cards[name]
    return list(by_run.values())


def append(run: Run, path: Path) -> None:
    """Add a line to a history."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab+") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        missing = b"\n" if file.read(1) not in (b"", b"\n") else b""
        file.write(missing + run.model_dump_json().encode() + b"\n")
        file.flush()
        os.fsync(file)
