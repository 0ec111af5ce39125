"""Calls of a judge from logs, whose formats are recognised by their content."""

import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rubric_order.base import files
from rubric_order.base.errors import InputError, nearest
from rubric_order.extras.logs.intake import inspect_logs, openai_lines, promptfoo
from rubric_order.extras.logs.intake.calls import Call, parsed, writable

SETTINGS = ("base_url", "sampling", "max_tokens_name", "extra_body")  # the same for all calls of a judge in a study
TEXTS = ("sample", "grader", "candidate", "score", "text", "instruction", "reference")
FORMATS = "a log of Inspect (.eval or .json), results of promptfoo (.json), or JSON Lines of chat completions"
CONTENTS = ((inspect_logs.is_log, inspect_logs.read_content), (promptfoo.is_log, promptfoo.read_content))


def read(paths: Sequence[str | Path]) -> list[Call]:
    """Calls of all judges in some logs, in their order; files of JSON Lines are joined by ``custom_id``."""
    calls: list[Call] = []
    lines = []
    for path in map(Path, paths):
        files.check_regular(path)
        if zipfile.is_zipfile(path):
            calls += _some(list(inspect_logs.read_archive(path)), path)
            continue
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            lines.append((path, files.read_json_lines(path)))
            continue
        content = parsed(files.read_text(path), str(path))
        read_content = next((reader for is_log, reader in CONTENTS if is_log(content)), None)
        if read_content is None:
            keys = files.listed(map(str, content)) if isinstance(content, dict) else type(content).__name__
            raise InputError(f"{path}: expected {FORMATS}, found {keys:.100}")
        calls += _some([*read_content(content, path)], path)
    if lines:
        calls += openai_lines.read_lines(lines)
    if not calls:
        raise InputError(f"{', '.join(map(str, paths))}: expected {FORMATS}, found nothing")
    for call in calls:
        for name in TEXTS:
            if (text := getattr(call, name)) is not None:
                writable(text, f"{call.where}: {name}")
        if call.answer is not None:
            writable(call.answer.text, f"{call.where}: answer")
    return calls


def _some(calls: list[Call], path: Path) -> list[Call]:
    if not calls:
        raise InputError(
            f"{path}: no score keeps its judge's prompt; expected scores/NAME/metadata/grading (Inspect) or"
            f" metadata/{promptfoo.PROMPT} (promptfoo)"
        )
    return calls


def select_judge(calls: Sequence[Call], *, grader: str | None = None, judge: str | None = None) -> list[Call]:
    """Calls of one grader and one judge (`Asked.name`) under the same settings; None where there is only one."""
    chosen = _named(calls, [call.grader for call in calls], grader, "scorer")
    chosen = _named(chosen, [call.asked.name for call in chosen], judge, "judge")
    first = chosen[0].asked
    other = next((call for call in chosen if call.asked != first), None)
    if other is not None:
        part = next(name for name in SETTINGS if getattr(first, name) != getattr(other.asked, name))
        raise InputError(
            f"{other.where}: field {part!r}: expected {getattr(first, part)}, as at {chosen[0].where}; found"
            f" {getattr(other.asked, part)}"
        )
    return chosen


def _named(calls: Sequence[Call], names: Sequence[str], wanted: str | None, option: str) -> list[Call]:
    """Calls with the wanted name, or all calls if `wanted` is None."""
    counts = Counter(names)
    if wanted is None and len(counts) > 1:
        listed = ", ".join(f"{name} ({number})" for name, number in counts.most_common())
        raise InputError(f"--{option}: the log has several; expected one of {listed}")
    if wanted is not None and wanted not in counts:
        raise InputError(f"--{option}: expected {', '.join(counts)}, found {wanted!r:.60}{nearest(wanted, counts)}")
    return [call for call, name in zip(calls, names, strict=True) if wanted in (None, name)]
