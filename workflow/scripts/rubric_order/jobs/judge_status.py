from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rubric_order import tables
from rubric_order.base.errors import printable
from rubric_order.base.labels import Labels
from rubric_order.judging import status
from rubric_order.judging.store import Store
from rubric_order.tables.judge_status import BATCHES, BATCHES_CAPTION, CAPTION, TABLE


def judge_status(
    judges: dict[str, Any], requests: Path, references: Path, stores: Path, output: Path, batches: Path
) -> None:
    """Print and write the state of each judge, and its open batches: two CSV files, with the other formats beside them.

    `judges` has `label`, `studies`, `currency`, and as `references` the steps that it answers by dataset. `requests`
    lie as ``STUDY/JUDGE``, `stores` as ``JUDGE``.
    """
    parts, open_batches = {}, {}
    now = datetime.now(UTC)
    for judge, block in judges.items():
        store = Store(stores / judge)
        asked = status.request_files(judge, block["studies"], requests, block["references"], references)
        parts[judge] = status.judge_status(asked, store)
        open_batches[judge] = status.open_batches(store, now)
    labels = Labels({judge: block["label"] for judge, block in judges.items()}, {})
    rows = TABLE.table(parts, {judge: block["currency"] for judge, block in judges.items()})
    print(printable(tables.report(rows, TABLE.printout(rows), labels, output, CAPTION)))
    rows = BATCHES.table(open_batches)
    text = tables.report(rows, BATCHES.printout(rows), labels, batches, BATCHES_CAPTION)
    if len(rows):
        print(printable(f"\n{text}"))
