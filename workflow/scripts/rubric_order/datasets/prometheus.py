"""MT-Bench and Vicuna-Bench as prometheus-eval publishes them: whole Prometheus prompts with GPT-4's scores.

A record's prompt is cut at its section headings. A heading can occur inside the texts too, so the first sections are
found from the front and the last ones from the back.

Source: Kim et al. (2024), github.com/prometheus-eval/prometheus-eval, ``eval/benchmark/data``.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Item, clean
from rubric_order.datasets.rubrics import Rubric, check_levels

FILES = ("records",)

INSTRUCTION = "###The instruction to evaluate:"
RESPONSE = "###Response to evaluate:"
REFERENCE = "###Reference Answer (Score 5):"
RUBRIC = "###Score Rubrics:"
FEEDBACK = "###Feedback:"
LEVEL = re.compile(r"^Score ([0-9]{1,3}): ?(.*)$")


def read(records: Path) -> Iterator[Item]:
    entries = files.read_json(records)
    if not isinstance(entries, list):
        raise InputError(f"{records}: expected a list of records, found {type(entries).__name__}")
    for number, record in enumerate(entries, start=1):
        where = f"{records}: record {number}"
        for name, kind in {"idx": int, "response_source": str, "instruction": str, "gpt4_score": list}.items():
            if not isinstance(record, dict) or type(record.get(name)) is not kind:
                found = record.get(name) if isinstance(record, dict) else record
                raise InputError(f"{where}: field {name!r}: expected {kind.__name__}, found {found!r:.60}")
        prompt = clean(record["instruction"], f"{where}: field 'instruction'")
        instruction, response, reference, rubric = split_prompt(prompt, f"{where}: field 'instruction'")
        group = f"{record['idx']:03d}"
        yield Item(
            where=where,
            item_id=f"{group}-{record['response_source']}",
            group_id=group,
            candidate=record["response_source"],
            instruction=instruction,
            response=response,
            reference=reference,
            rubric=parse_rubric(rubric, group, f"{where}: score rubrics"),
            reference_labels=record["gpt4_score"],
            category=record.get("category"),
        )


def split_prompt(prompt: str, where: str, *, reference: bool = True) -> tuple[str, str, str | None, str]:
    """Instruction, response, reference answer and rubric sections of a Prometheus prompt.

    Without `reference`, the prompt has no such section, and that heading is text like any other.

    Raises:
        InputError: a heading is missing or stands in another order.
    """
    _, found, rest = prompt.partition(INSTRUCTION)
    rest, found_feedback, _ = rest.rpartition(FEEDBACK)
    rest, found_rubric, rubric = rest.rpartition(RUBRIC)
    answer, found_reference = None, True
    if reference:
        rest, found_reference, answer = rest.rpartition(REFERENCE)
    instruction, found_response, response = rest.partition(RESPONSE)
    for heading, present in (
        (INSTRUCTION, found),
        (FEEDBACK, found_feedback),
        (RUBRIC, found_rubric),
        (REFERENCE, found_reference),
        (RESPONSE, found_response),
    ):
        if not present:
            raise InputError(f"{where}: section {heading!r} not found where it was expected")
    return instruction.strip(), response.strip(), answer and answer.strip(), rubric.strip()


def parse_rubric(section: str, group: str, where: str) -> Rubric:
    """A rubric from its section: the question in brackets, then one line a level."""
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
