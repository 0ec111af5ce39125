"""HHH alignment (Askell et al. 2021; prompts of Kim et al. 2024, github.com/prometheus-eval/prometheus-eval): four
rubrics.

A response is one item, however many pairs it is in; the one with the lower checksum is `item_a`, whatever is preferred.
"""

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair, clean
from rubric_order.extras.papers.datasets.prometheus import parse_rubric, split_prompt

CHOSEN, REJECTED = "chosen_instruction", "rejected_instruction"


class HHHAlignment(Adapter):
    files = ("records",)

    def read(self, records: Path) -> Iterator[Item | Pair]:
        entries = [*files.listed_records(records)]
        if not entries:
            raise InputError(f"{records}: no records")
        groups: dict[tuple[str, str], str] = {}
        seen: set[str] = set()
        for number, (where, record) in enumerate(entries, start=1):
            files.check_fields(record, dict.fromkeys(("source", CHOSEN, REJECTED), str), where)
            source = clean(record["source"], f"{where}: field 'source'")
            instruction, chosen, section = _sections(record, CHOSEN, where)
            other_instruction, rejected, other_section = _sections(record, REJECTED, where)
            for name, text, other in (
                ("instruction", instruction, other_instruction),
                ("rubric", section, other_section),
            ):
                if text != other:
                    raise InputError(f"{where}: expected the same {name} in {CHOSEN!r} and {REJECTED!r}, found two")
            if chosen == rejected:
                raise InputError(f"{where}: expected two responses, found the same one in {CHOSEN!r} and {REJECTED!r}")
            rubric = dataclasses.replace(
                parse_rubric(section, source, f"{where}: field {CHOSEN!r}: score rubrics"), criterion=source
            )
            group = groups.setdefault((source, instruction), f"{number:03d}")
            first, second = sorted((chosen, rejected), key=_checksum)
            for response in (first, second):
                candidate = _checksum(response)[:8]
                if (item_id := f"{group}-{candidate}") in seen:
                    continue
                seen.add(item_id)
                yield Item(
                    where=where,
                    item_id=item_id,
                    group_id=group,
                    candidate=candidate,
                    instruction=instruction,
                    response=response,
                    rubric=rubric,
                    category=source,
                )
            yield Pair(
                where=where,
                pair_id=f"{number:03d}",
                group_id=group,
                item_a=f"{group}-{_checksum(first)[:8]}",
                item_b=f"{group}-{_checksum(second)[:8]}",
                preference="a" if first == chosen else "b",
                criterion=source,
                category=source,
            )


def _sections(record: dict[str, Any], field: str, where: str) -> tuple[str, str, str]:
    where = f"{where}: field {field!r}"
    instruction, response, _, rubric = split_prompt(clean(record[field], where), where, reference=False)
    if not response:
        raise InputError(f"{where}: response: expected text, found nothing")
    return instruction, response, rubric


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
