"""Rubrics: a criterion and one description per score level."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rubric_order.base import files
from rubric_order.base.errors import InputError, UnfitError

MAX_LEVELS = 11  # 0 to 10


@dataclass(frozen=True)
class Rubric:
    """Wording and scale of one criterion: descriptions of `levels`, the lowest first, which has the score `lowest` (0
    or 1).

    `name` and `short` stand in a prompt for several criteria; by default the criterion's id and the question.
    """

    rubric_id: str
    criterion: str
    question: str
    levels: tuple[str, ...]
    name: str | None = None
    short: str | None = None
    lowest: int = 1


def check_levels(levels: object, where: str) -> tuple[str, ...]:
    """Descriptions in ascending order, from a mapping from level to description. The lowest level is 0 or 1."""
    if not isinstance(levels, dict) or len(levels) < 2:
        raise InputError(f"{where}: expected a mapping of at least 2 levels to descriptions, found {levels!r:.80}")
    lowest = lowest_of(levels)
    most = MAX_LEVELS - 1 + lowest
    unknown = [level for level in levels if type(level) is not int or not lowest <= level <= most]
    if unknown:
        raise InputError(
            f"{where}: {unknown[0]!r:.60} is not a level; expected whole numbers from 0 or 1 to at most {most}"
        )
    top = max(levels)
    for level in range(lowest, top + 1):
        if level not in levels:
            raise InputError(f"{where}: level {level} is missing; found {sorted(levels)}, expected {lowest} to {top}")
        if not isinstance(levels[level], str) or not levels[level].strip():
            raise InputError(f"{where}: level {level} has no description; found {levels[level]!r:.60}")
    descriptions = tuple(" ".join(levels[level].split()) for level in range(lowest, top + 1))
    if len(set(descriptions)) < len(descriptions):
        raise InputError(f"{where}: two levels have the same description")
    return descriptions


def lowest_of(levels: Mapping[Any, object]) -> int:
    """Score of the lowest level in a mapping from level to description: 0 or 1."""
    return 0 if any(type(level) is int and level == 0 for level in levels) else 1


def at_scale(levels: tuple[str, ...], n: int) -> tuple[str, ...]:
    """Descriptions of an n-level scale: evenly spaced levels of a finer scale, both ends included.

    Source: Xu et al. (2026), Section 5.4 (levels 1,9 / 1,5,9 / 1,3,5,7,9 of nine).
    """
    if not 2 <= n <= len(levels) or (len(levels) - 1) % (n - 1):
        raise UnfitError(f"a rubric with {len(levels)} levels has no {n} evenly spaced ones")
    return tuple(levels[i] for i in np.linspace(0, len(levels) - 1, n).astype(int))


def read_rubrics(path: str | Path, prefix: str) -> dict[str, Rubric]:
    """Rubrics by criterion, from a YAML list as in ``resources/rubrics/hanna.yaml``; `prefix` begins their ids."""
    entries = files.read_yaml(path)
    if not isinstance(entries, list):
        raise InputError(f"{path}: expected a list of rubrics, found {type(entries).__name__}")
    rubrics = {}
    for number, entry in enumerate(entries, start=1):
        where = f"{path}: rubric {number}"
        for field in ("id", "name", "question", "levels"):
            if not isinstance(entry, dict) or field not in entry:
                raise InputError(f"{where}: field {field!r} is missing")
        for field in ("id", "name", "question", *({"short"} & set(entry))):
            if not isinstance(entry[field], str) or not entry[field].strip():
                raise InputError(f"{where}: field {field!r}: expected text, found {entry[field]!r:.60}")
        criterion = entry["id"]
        if criterion in rubrics:
            raise InputError(f"{where}: id {criterion!r:.60} is already used by an earlier rubric")
        levels = check_levels(entry["levels"], f"{where} ({files.listed([criterion])}): levels")
        name, question = entry["name"].strip(), entry["question"].strip()
        short = entry["short"].strip() if "short" in entry else None
        lowest = lowest_of(entry["levels"])
        rubrics[criterion] = Rubric(f"{prefix}_{criterion}", criterion, question, levels, name, short, lowest)
    return rubrics
