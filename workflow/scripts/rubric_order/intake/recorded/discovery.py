"""The judges whose answers are recorded in a folder: finding them, and adding them to a config."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.intake.recorded import formats

STRATEGY = "recorded"
COMPARES = "pair_order"  # the probe of answers that compare two texts
LISTS = "list_order"  # the probe of answers that compare more texts
COMPARING = (COMPARES, LISTS)
SCALE = 5  # number of scores, where the records do not give it
MAX_FILES = 100_000  # most files in a folder with recorded answers and below it


def discover(folder: str | Path) -> dict[str, dict[str, Any]]:
    """Settings of the judges whose answers are recorded in the files of a folder, and below it, by sorted id.

    A judge with two prompt styles is two; `adapters` is None where answers can be about any dataset.
    """
    judges: dict[str, dict[str, Any]] = {}
    for (name, style), seen in _seen_in(_files_of(Path(folder))).items():
        judge_id = id_of(name, style, seen.place)
        if judge_id in judges:
            other = judges[judge_id]
            raise InputError(
                f"{seen.place}: judge {title(name, style)} would have the id {judge_id!r} of judge "
                f"{title(other['model'], other['prompt_style'])}; rename one of them"
            )
        judges[judge_id] = {
            "engine": "recorded",
            "model": name,
            "label": name if style is None else f"{name} ({style})",
            "prompt_style": style,
            "n": max(seen.scores, default=SCALE),  # the largest of several scales
            "compares": all(map(formats.compares, seen.formats)),
            "adapters": None if None in seen.adapters else sorted(seen.adapters),
            "files": list(seen.files),
        }
    return dict(sorted(judges.items()))


@dataclass
class _Seen:
    """Contents of the files for one judge: its first answer's place, formats, adapters, files and numbers of scores."""

    place: str
    formats: set[str] = field(default_factory=set)
    adapters: set[str | None] = field(default_factory=set)
    files: dict[str, None] = field(default_factory=dict)
    scores: set[int] = field(default_factory=set)


def _files_of(folder: Path) -> list[Path]:
    """The files with recorded answers in a folder and below it, sorted."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    seen, paths = 0, []
    for place, _, file_names in os.walk(folder):
        paths += [Path(place, name) for name in file_names if name.endswith(formats.SUFFIXES) and name[0] != "."]
        if (seen := seen + len(file_names)) > MAX_FILES:
            raise InputError(f"{folder}: more than {MAX_FILES:,} files; expected a folder with recorded answers alone")
    paths = sorted(path for path in paths if path.is_file())
    if not paths:
        raise InputError(f"{folder}: no recorded answers; expected files named *{', *'.join(formats.SUFFIXES)}")
    return paths


def _seen_in(paths: list[Path]) -> dict[tuple[str, str | None], _Seen]:
    """Dictionary from a judge (its name and prompt style) to the contents of its files."""
    by_judge: dict[tuple[str, str | None], _Seen] = {}
    for path in paths:
        for record in formats.read(path):
            seen = by_judge.setdefault((record["judge"], record["prompt_style"]), _Seen(formats.place(record)))
            seen.formats.add(record["format"])
            seen.adapters.add(formats.adapter_of(record))
            seen.files[str(path)] = None
            if record["ordering"]:
                seen.scores.add(len(record["ordering"]))
    return by_judge


def add_judges(config: dict[str, Any]) -> None:
    """Add the judges of config's `recorded_dir`, unchecked, to config and to the studies whose only strategy is
    `recorded`.

    A study whose probe is in `COMPARING` gets the judges that compare texts. Other studies get the judges that score.
    """
    folder = config["recorded_dir"]
    judges = discover(folder)
    if isinstance(config.setdefault("judges", {}), dict):
        config["judges"].update(judges)
    blocks = (study for study in config["studies"].values() if isinstance(study, dict))
    studies = [study for study in blocks if study.get("strategies") == [STRATEGY]]
    joined = False
    for study in studies:
        compares = study.get("probe") in COMPARING
        named = [name for name, judge in judges.items() if judge["compares"] == compares]
        if isinstance(study.setdefault("judges", []), list):
            study["judges"] = [*study["judges"], *named]
        joined |= bool(named)
    if studies and not joined:
        present, wanted = ("score one text", "compare two") if compares else ("compare two texts", "score one")
        raise InputError(
            f"{folder}: the recorded answers {present} each; the studies of strategy {STRATEGY!r} {wanted};"
            " expected a study whose probe fits the answers"
        )


def id_of(judge: str, prompt_style: str | None = None, where: str = "judge") -> str:
    """A judge's id: its name and prompt style in lower case, with ``_`` for each run of other characters."""
    judge_id = re.sub("[^a-z0-9]+", "_", f"{judge}_{prompt_style or ''}".lower()).strip("_")
    if not re.search("[a-z0-9]", judge.lower()):
        raise InputError(f"{where}: field 'judge': expected a name with letters a to z or digits, found {judge!r:.60}")
    return judge_id


def title(name: str, style: str | None) -> str:
    """Name by which messages call a judge."""
    return f"{name!r}" if style is None else f"{name!r} with prompt style {style!r}"
