"""FLASK (Ye et al. 2024, github.com/kaistAI/FLASK): an item is one model's output under one skill that it requires.

Rubrics of the twelve skills are ours. Instructions 1701 to 1740 have no published outputs and are left out.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item
from rubric_order.datasets.rubrics import Rubric, read_rubrics

FIELDS = {"instruction": str, "answer": str, "skill": list, "domain": list}
UNLABELLED = "-1"  # published value of a domain or difficulty without a label

log = logging.getLogger(__name__)


class Flask(Adapter):
    files = ("evaluation", "rubrics")

    def read(self, evaluation: Path, rubrics: Path, **outputs: Path) -> Iterator[Item]:
        """One item per instruction, model and skill; `outputs` has the file of each model's outputs."""
        if not outputs:
            raise InputError("adapter 'flask': expected at least one file of outputs, such as 'chatgpt', found none")
        wrong = [name for name, path in outputs.items() if not isinstance(path, str | Path)]
        if wrong:
            raise InputError(
                f"adapter 'flask': {wrong[0]!r}: expected a file of outputs, found {outputs[wrong[0]]!r:.60}"
            )
        scale = read_rubrics(rubrics, "flask")
        instructions = read_instructions(evaluation, scale, rubrics)
        texts = {candidate: read_outputs(path) for candidate, path in outputs.items()}
        for candidate, answers in texts.items():
            unknown = sorted(answers.keys() - instructions.keys())
            if unknown:
                raise InputError(
                    f"{outputs[candidate]}: question_id {unknown[0]}: {evaluation} has no instruction of it"
                )
        # The last instructions have no outputs. A gap anywhere else is an error.
        last = max(max(answers, default=0) for answers in texts.values())
        log.info(
            "%s: %d of %d instructions left out: they come after the last with outputs, idx %d",
            evaluation, sum(idx > last for idx in instructions), len(instructions), last,
        )  # fmt: skip
        for idx, record in instructions.items():
            if idx > last:
                continue
            for candidate, answers in texts.items():
                where = f"{outputs[candidate]}: question_id {idx}"
                if idx not in answers:
                    raise InputError(f"{where}: no output; other files or later instructions have one")
                for skill in map(skill_id, record["skill"]):
                    yield Item(
                        where=where,
                        item_id=f"{idx:04d}-{candidate}-{skill}",
                        group_id=f"{idx:04d}",
                        candidate=candidate,
                        instruction=record["instruction"],
                        response=answers[idx],
                        reference=record["answer"],
                        rubric=scale[skill],
                        category=f"{', '.join(labels(record['domain']))} / {labels([record['difficulty']])[0]}",
                    )


def read_instructions(path: Path, scale: dict[str, Rubric], rubrics: Path) -> dict[int, dict[str, Any]]:
    """Dictionary from ``idx`` to the instruction, in ascending order. All of their skills have rubrics."""
    instructions: dict[int, dict[str, Any]] = {}
    for where, record in files.json_records(path):
        idx = _number(record, "idx", where)
        files.check_fields(record, FIELDS, where)
        for name in ("instruction", "answer"):
            if not record[name].strip():
                raise InputError(f"{where}: field {name!r}: expected text, found {record[name]!r:.60}")
        for name in ("skill", "domain"):
            values = record[name]
            if not values or not all(isinstance(value, str) and value.strip() for value in values):
                raise InputError(f"{where}: field {name!r}: expected a list of names, found {values!r:.60}")
            if len(set(values)) < len(values):
                raise InputError(f"{where}: field {name!r}: expected different names, found {values!r:.60}")
        unknown = [skill for skill in record["skill"] if skill_id(skill) not in scale]
        if unknown:
            raise InputError(f"{where}: field 'skill': {rubrics} has no rubric for {unknown[0]!r:.60}")
        difficulty = record.get("difficulty")
        if difficulty != int(UNLABELLED) and not (isinstance(difficulty, str) and difficulty.strip()):
            expected = f"text or {UNLABELLED}"
            raise InputError(f"{where}: field 'difficulty': expected {expected}, found {difficulty!r:.60}")
        if idx in instructions:
            raise InputError(f"{where}: idx {idx} stands on an earlier line too; expected once")
        instructions[idx] = record
    return dict(sorted(instructions.items()))


def read_outputs(path: Path) -> dict[int, str]:
    """Dictionary from ``question_id`` to a model's output."""
    outputs: dict[int, str] = {}
    for where, record in files.json_records(path):
        idx = _number(record, "question_id", where)
        files.check_fields(record, {"text": str}, where)
        if idx in outputs:
            raise InputError(f"{where}: question_id {idx} stands on an earlier line too; expected once")
        outputs[idx] = record["text"]
    if not outputs:
        raise InputError(f"{path}: no outputs; expected one per line")
    return outputs


def skill_id(skill: str) -> str:
    """Id of a skill's rubric: ``Logical Robustness`` is ``logical_robustness``."""
    return "_".join(skill.lower().split())


def labels(values: list[Any]) -> list[str]:
    """Domains or difficulties as published; ``unlabelled`` if there is none."""
    return [str(value) for value in values if str(value) != UNLABELLED] or ["unlabelled"]


def _number(record: dict[str, Any], name: str, where: str) -> int:
    value = record.get(name)
    if type(value) is not int or value < 1:
        raise InputError(f"{where}: field {name!r}: expected a whole number from 1, found {value!r:.60}")
    return value
