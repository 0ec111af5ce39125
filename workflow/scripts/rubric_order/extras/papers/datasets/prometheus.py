"""MT-Bench, Vicuna-Bench, FLASK and Feedback Bench of Kim et al. (2024), github.com/prometheus-eval/prometheus-eval.

Records are whole prompts, cut at their headings: the first from the front, the last from the back, as texts have some
too.
"""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, clean
from rubric_order.datasets.rubrics import Rubric, check_levels

FIELDS = {"idx": int, "response_source": str, "instruction": str, "gpt4_score": list}
GROUPED = ("idx", "instruction")

INSTRUCTION = "###The instruction to evaluate:"
RESPONSE = "###Response to evaluate:"
REFERENCE = "###Reference Answer (Score 5):"
RUBRIC = "###Score Rubrics:"
FEEDBACK = "###Feedback:"
LEVEL = re.compile(r"^Score ([0-9]{1,3}): ?(.*)$")


class Prometheus(Adapter):
    files = ("records",)

    def read(self, records: Path, *, group_by: str = "idx") -> Iterator[Item]:
        """One item per record; `group_by` says what is a prompt: the record's number (``idx``) or its ``instruction``.

        With ``instruction``, items with one rubric have one criterion; groups and criteria are numbered as in the file.
        """
        if group_by not in GROUPED:
            raise InputError(f"option 'group_by': expected {' or '.join(GROUPED)}, found {group_by!r:.60}")
        fields = FIELDS if group_by == "idx" else {"instruction": str}
        groups: dict[str, str] = {}
        rubrics: dict[str, Rubric] = {}
        candidates: dict[tuple[str, str], str] = {}
        for where, record in files.listed_records(records):
            files.check_fields(record, fields, where)
            for name in ("gpt4_score", "human_score"):
                if not isinstance(record.get(name, []), list):
                    raise InputError(f"{where}: field {name!r}: expected list, found {record[name]!r:.60}")
            prompt = clean(record["instruction"], f"{where}: field 'instruction'")
            instruction, response, reference, section = split_prompt(
                prompt, f"{where}: field 'instruction'", reference=group_by == "idx" or REFERENCE in prompt
            )
            if group_by == "idx":
                group, candidate = f"{record['idx']:03d}", record["response_source"]
                rubric, end = parse_rubric(section, group, f"{where}: score rubrics"), ""
            else:
                group = groups.setdefault(instruction, f"{len(groups):03d}")
                rubric = rubrics.setdefault(section, _numbered(section, len(rubrics) + 1, f"{where}: score rubrics"))
                by_text = candidates.setdefault((group, response), f"response_{len(candidates) + 1}")
                candidate, end = record.get("response_source") or by_text, f"-{rubric.criterion}"
            yield Item(
                where=where,
                item_id=f"{group}-{candidate}{end}",
                group_id=group,
                candidate=candidate,
                instruction=instruction,
                response=response,
                reference=reference,
                rubric=rubric,
                human_scores=record.get("human_score", []),
                reference_labels=record.get("gpt4_score", []) + _label(record, where),
                category=record.get("category"),
            )


def _label(record: dict[str, Any], where: str) -> list[float]:
    if (score := record.get("orig_score")) is None:
        return []
    try:
        return [float(score)]
    except (TypeError, ValueError):
        raise InputError(f"{where}: field 'orig_score': expected a number, found {score!r:.60}") from None


def _numbered(section: str, number: int, where: str) -> Rubric:
    rubric = parse_rubric(section, f"criterion_{number}", where)
    return dataclasses.replace(rubric, criterion=rubric.rubric_id)


def split_prompt(prompt: str, where: str, *, reference: bool = True) -> tuple[str, str, str | None, str]:
    """Instruction, response, reference answer and rubric sections of a Prometheus prompt."""
    _, found_instruction, rest = prompt.partition(INSTRUCTION)
    rest, found_feedback, _ = rest.rpartition(FEEDBACK)
    rest, found_rubric, rubric = rest.rpartition(RUBRIC)
    answer: str | None = None
    found_reference = REFERENCE
    if reference:
        rest, found_reference, answer = rest.rpartition(REFERENCE)
    instruction, found_response, response = rest.partition(RESPONSE)
    for heading, present in (
        (INSTRUCTION, found_instruction),
        (FEEDBACK, found_feedback),
        (RUBRIC, found_rubric),
        (REFERENCE, found_reference),
        (RESPONSE, found_response),
    ):
        if not present:
            raise InputError(f"{where}: section {heading!r} not found where it was expected")
    return instruction.strip(), response.strip(), answer and answer.strip(), rubric.strip()


def parse_rubric(section: str, group: str, where: str) -> Rubric:
    """A rubric from its section: the question in brackets, then one line per level."""
    question, *lines = section.split("\n")
    if not (question.startswith("[") and question.endswith("]")):
        raise InputError(f"{where}: expected a question in brackets, found {question!r:.60}")
    levels: dict[int, str] = {}
    for line in lines:
        match = LEVEL.match(line)
        if match is None:
            raise InputError(f"{where}: expected 'Score N: description', found {line!r:.60}")
        if int(match[1]) in levels:
            raise InputError(f"{where}: score {match[1]} stands twice")
        levels[int(match[1])] = match[2]
    return Rubric(group, "overall", question[1:-1].strip(), check_levels(levels, where))
