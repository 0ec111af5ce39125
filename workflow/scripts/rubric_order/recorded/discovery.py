"""The judges whose answers are recorded in a folder: finding them, and adding them to a config."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from rubric_order.base.errors import InputError
from rubric_order.recorded import formats

STRATEGY = "recorded"
SCALE = 5  # where the records do not say how many scores there were


def discover(folder: str | Path) -> dict[str, dict]:
    """The judges whose answers are recorded in a folder.

    Args:
        folder: every ``.jsonl``, ``.jsonl.gz`` and ``.parquet`` in it and below it is read; other files, and those
            whose name begins with a dot, are left alone.

    Returns:
        Settings by judge id, sorted: ``engine`` (``recorded``), ``model`` (the judge's name in the files), ``label``,
        ``prompt_style`` (or None), ``n`` (number of scores or options), ``compares`` (whether every answer compares two
        texts), ``adapters`` (of the datasets that the answers are about; None for any) and ``files`` (sorted). A judge
        with two prompt styles is two judges.

    Raises:
        InputError: there are no such files; a file is broken or of no known format; a field is missing or wrong; two
            names give one id, or a name gives none.
    """
    judges: dict[str, dict] = {}
    for (name, style), seen in _seen_in(_files_of(Path(folder))).items():
        judge_id = id_of(name, style, seen.place)
        if judge_id in judges:
            other = judges[judge_id]
            raise InputError(
                f"{seen.place}: judge {title(name, style)} would have the id {judge_id!r} of judge "
                f"{title(other['model'], other['prompt_style'])}; rename one of them"
            )
        compares = seen.formats <= set(formats.COMPARISONS)
        judges[judge_id] = {
            "engine": "recorded",
            "model": name,
            "label": name if style is None else f"{name} ({style})",
            "prompt_style": style,
            "n": max(seen.options if compares else seen.scores, default=SCALE),  # of several scales the largest
            "compares": compares,
            "adapters": None if None in seen.adapters else sorted(seen.adapters),
            "files": list(seen.files),
        }
    return dict(sorted(judges.items()))


@dataclass
class _Seen:
    """What the files hold of one judge.

    Attributes:
        place: of its first answer.
        formats, adapters: of its answers.
        files: paths, as keys in their order.
        scores, options: how many scores its orderings have, and how many options its comparisons.
    """

    place: str
    formats: set[str] = field(default_factory=set)
    adapters: set[str | None] = field(default_factory=set)
    files: dict[str, None] = field(default_factory=dict)
    scores: set[int] = field(default_factory=set)
    options: set[int] = field(default_factory=set)


def _files_of(folder: Path) -> list[Path]:
    """The files with recorded answers in a folder and below it, sorted."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    named = (path for path in folder.rglob("*") if path.name.endswith(formats.SUFFIXES) and path.name[0] != ".")
    paths = sorted(path for path in named if path.is_file())
    if not paths:
        raise InputError(f"{folder}: no recorded answers; expected files named *{', *'.join(formats.SUFFIXES)}")
    return paths


def _seen_in(paths: list[Path]) -> dict[tuple[str, str | None], _Seen]:
    """What the files hold of each judge, by its name and prompt style."""
    found: dict[tuple[str, str | None], _Seen] = {}
    for path in paths:
        for record in formats.read(path):
            seen = found.setdefault((record["judge"], record["prompt_style"]), _Seen(formats.place(record)))
            seen.formats.add(record["format"])
            seen.adapters.add(formats.adapter_of(record))
            seen.files[str(path)] = None
            # Comparisons have options of their own, which say nothing about a scale.
            compares = record["format"] in formats.COMPARISONS
            shown = record["options"] if compares else record["ordering"]
            if shown:
                (seen.options if compares else seen.scores).add(len(shown))
    return found


def add_judges(config: dict) -> None:
    """Put the judges of config's `recorded_dir` into it, and into each study whose one strategy is `recorded`.

    Args:
        config: with `recorded_dir` and `studies`; what else it says is unchecked.

    Raises:
        InputError: see `discover`.
    """
    judges = discover(config["recorded_dir"])
    config.setdefault("judges", {}).update(judges)
    for study in config["studies"].values():
        if isinstance(study, dict) and study.get("strategies") == [STRATEGY]:
            study["judges"] = [*study.get("judges", []), *judges]


def id_of(judge: str, prompt_style: str | None = None, where: str = "judge") -> str:
    """A judge's id: its name and prompt style in lower case, with ``_`` for each run of other characters.

    Raises:
        InputError: the name holds no letter a to z and no digit.
    """
    judge_id = re.sub("[^a-z0-9]+", "_", f"{judge}_{prompt_style or ''}".lower()).strip("_")
    if not re.search("[a-z0-9]", judge.lower()):
        raise InputError(f"{where}: field 'judge': expected a name with letters a to z or digits, found {judge!r:.60}")
    return judge_id


def title(name: str, style: str | None) -> str:
    """How messages call a judge."""
    return f"{name!r}" if style is None else f"{name!r} with prompt style {style!r}"
