"""Report the progress of the judges."""

from datetime import UTC, datetime
from pathlib import Path

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.base.errors import printable
from rubric_order.base.labels import Labels, replace_ids
from rubric_order.judging import status
from rubric_order.judging.store import Store
from rubric_order.tables.judge_status import BATCHES, BATCHES_CAPTION, CAPTION, TABLE


def main(judges: dict, requests: Path, references: Path, stores: Path, output: Path, batches: Path) -> None:
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
    printed = replace_ids(TABLE.for_print(rows), labels)
    tables.write(rows, printed, output.with_suffix(""), CAPTION)
    print(printable(printed.to_markdown(index=False, disable_numparse=True)))
    rows = BATCHES.table(open_batches)
    printed = replace_ids(BATCHES.for_print(rows), labels)
    tables.write(rows, printed, batches.with_suffix(""), BATCHES_CAPTION)
    if len(rows):
        print(printable(f"\n{printed.to_markdown(index=False, disable_numparse=True)}"))


if __name__ == "__main__":
    command_line.run(main)
