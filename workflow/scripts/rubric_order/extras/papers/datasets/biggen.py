"""BiGGen Bench (Kim et al. 2024, github.com/prometheus-eval/prometheus-eval): instances with their own rubric and
reference.

The published responses are all "Hello World!". The 70 multilingual instances are left out, as in Li et al.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, clean
from rubric_order.datasets.rubrics import Rubric, check_levels

FIELDS = {
    "capability": str,
    "task": str,
    "instance_idx": int,
    "input": str,
    "reference_answer": str,
    "score_rubric": dict,
    "response": str,
}
JUDGED = ("response", "reference_answer")
LEFT_OUT = "multilingual"
COMMANDS = {"\binom": "\\binom", "\frac": "\\frac", "\times": "\\times"}  # damaged form, with one character for two
N_LEVELS = 5

log = logging.getLogger(__name__)


class BiGGenBench(Adapter):
    files = ("records",)

    def read(self, records: Path, *, judged: str = "response", **others: Path) -> Iterator[Item]:
        """One item per instance and file; `judged` names the field with the text to judge.

        With ``reference_answer``, the candidate is ``reference``, and the prompt shows no reference: it is the text to
        judge.
        """
        if judged not in JUDGED:
            raise InputError(f"option 'judged': expected {' or '.join(JUDGED)}, found {judged!r:.60}")
        for path in (records, *others.values()):
            yield from _items(path, judged)


def _items(records: Path, judged: str) -> Iterator[Item]:
    instances = read_records(records)
    usable = {key: record for key, record in instances.items() if record["capability"] != LEFT_OUT}
    log.info("%s: %d of %d instances left out: %s", records, len(instances) - len(usable), len(instances), LEFT_OUT)
    if len(usable) > 1 and len({record[judged] for record in usable.values()}) == 1:
        same = next(iter(usable.values()))[judged]
        log.warning(
            "%s: all %d texts to judge are %.60r: a placeholder, no model's answers", records, len(usable), same
        )
    mended = {key: mend(record) for key, record in usable.items()}
    n_mended = sum(mended[key] != usable[key] for key in usable)
    log.info("%s: lost backslashes of formulas put back in %d instances", records, n_mended)
    for key, record in mended.items():
        where = f"{records}: instance {key!r}"
        by_model = judged == "response"
        candidate = (record.get("response_model_name") or "sample") if by_model else "reference"
        yield Item(
            where=where,
            item_id=f"{key}-{candidate}",
            group_id=key,
            candidate=candidate,
            instruction=instruction(record, where),
            response=record[judged],
            reference=record["reference_answer"] if by_model else None,
            rubric=parse_rubric(record["score_rubric"], key, f"{where}: field 'score_rubric'"),
            human_scores=human_scores(record.get("human_score", []), f"{where}: field 'human_score'"),
            category=record["capability"],
        )


def human_scores(given: Any, where: str) -> list[float]:
    """Scores that people gave a response, from a number or a list of numbers. The published sample has none."""
    scores = given if isinstance(given, list) else [given]
    for score in scores:
        if not isinstance(score, int | float) or isinstance(score, bool):
            raise InputError(f"{where}: expected a number or a list of numbers, found {given!r:.60}")
    return scores


def read_records(path: Path) -> dict[str, dict[str, Any]]:
    """Dictionary from an instance's id to its record with the fields of ``FIELDS``, in the order of the file."""
    instances = files.read_json(path)
    if not isinstance(instances, dict):
        raise InputError(f"{path}: expected a mapping of instance ids to records, found {type(instances).__name__}")
    for key, record in instances.items():
        where = f"{path}: instance {key!r}"
        files.check_fields(files.check_mapping(record, where), FIELDS, where)
        for name in ("system_prompt", "response_model_name"):
            if not isinstance(record.get(name), str | None):
                raise InputError(f"{where}: field {name!r}: expected str or nothing, found {record[name]!r:.60}")
        expected = f"{record['capability']}_{record['task']}_{record['instance_idx']}"
        if key != expected:
            raise InputError(f"{where}: expected id {expected!r}, from capability, task and instance_idx")
    return instances


def mend(content: Any) -> Any:
    """A record with the lost backslashes of ``COMMANDS`` put back in its texts. Other control characters stay."""
    if isinstance(content, dict):
        return {key: mend(value) for key, value in content.items()}
    if isinstance(content, str):
        for lost, command in COMMANDS.items():
            content = content.replace(lost, command)
    return content


def instruction(record: dict[str, Any], where: str) -> str:
    """Text that the model was given: the system prompt, if any, and then the input."""
    if not record["input"].strip():
        raise InputError(f"{where}: field 'input': expected text, found {record['input']!r:.60}")
    parts = [(record.get("system_prompt") or "").strip(), record["input"].strip()]
    return "\n\n".join(part for part in parts if part)


def parse_rubric(entry: dict[str, Any], key: str, where: str) -> Rubric:
    """A rubric from the field of its question, ``criteria``, and fields ``score1_description`` to ``score5_...``."""
    fields = [f"score{level}_description" for level in range(1, N_LEVELS + 1)]
    files.check_fields(entry, dict.fromkeys(("criteria", *fields), str), where)
    unknown = sorted(set(entry) - {"criteria", *fields})
    if unknown:
        raise InputError(f"{where}: found {unknown[0]!r}; expected criteria and {N_LEVELS} descriptions only")
    texts = {name: clean(entry[name], f"{where}: field {name!r}") for name in fields}
    levels = check_levels({level: texts[name] for level, name in enumerate(fields, start=1)}, where)
    return Rubric(key, "overall", entry["criteria"].strip(), levels)
