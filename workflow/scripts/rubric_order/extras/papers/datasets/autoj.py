"""Auto-J's pairwise test set (Li et al. 2024; file of github.com/prometheus-eval/prometheus-eval): two responses a
prompt.

Response 1 is `item_a`, as published, and preferred about as often as response 2; nobody says which models wrote them.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair, clean

PREFERENCES = {0: "a", 1: "b", 2: "tie"}
RESPONSES = ("response 1", "response 2")

log = logging.getLogger(__name__)


class AutoJ(Adapter):
    files = ("records",)

    def read(self, records: Path) -> Iterator[Item | Pair]:
        lines = files.read_json_lines(records)
        if not lines:
            raise InputError(f"{records}: no records")
        groups: dict[str, str] = {}
        skipped = 0
        for line, record in lines:
            where = f"{records}: line {line}"
            record = files.check_mapping(record, where)
            files.check_fields(record, dict.fromkeys(("scenario", "prompt", *RESPONSES), str), where)
            label = record.get("label")
            if type(label) is not int or label not in PREFERENCES:
                raise InputError(f"{where}: field 'label': expected 0, 1 or 2, found {label!r:.60}")
            empty = [name for name in RESPONSES if not record[name].strip()]
            if empty:
                log.warning("%s: field %r is empty; the pair is left out", where, empty[0])
                skipped += 1
                continue
            prompt = clean(record["prompt"], f"{where}: field 'prompt'")
            group = groups.setdefault(prompt, f"{line:04d}")
            items = [
                Item(
                    where=f"{where}: {name}",
                    item_id=f"{line:04d}-{number}",
                    group_id=group,
                    candidate=f"{line:04d}-{number}",
                    instruction=prompt,
                    response=record[name],
                    rubric=None,
                    category=record["scenario"],
                )
                for number, name in enumerate(RESPONSES, start=1)
            ]
            yield from items
            yield Pair(
                where=where,
                pair_id=f"{line:04d}",
                group_id=group,
                item_a=items[0].item_id,
                item_b=items[1].item_id,
                preference=PREFERENCES[label],
                category=record["scenario"],
            )
        if skipped:
            log.warning("%s: %d pairs are left out because a response is empty", records, skipped)
