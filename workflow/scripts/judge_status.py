"""Report the progress of the judges."""

from datetime import UTC, datetime
from pathlib import Path

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.base.errors import printable
from rubric_order.base.labels import Labels, with_labels
from rubric_order.judging import status
from rubric_order.judging.store import Store
from rubric_order.tables.judge_status import BATCHES, BATCHES_CAPTION, CAPTION, TABLE


def main(judges: dict, requests: Path, references: Path, stores: Path, output: Path, batches: Path) -> None:
    """Print and write the state of each judge, and its open batches.

    Args:
        judges: dictionary from each judge to its `label`, the names of its `studies`, the `currency` of its prices, and
            `references`: for each dataset, the steps of making reference answers that the judge answers.
        requests: folder of requests, with one folder per study and one file per judge.
        references: folder of reference answers, with the requests of each step.
        stores: folder of response stores, one per judge.
        output: the CSV file of the judges' states. Markdown, LaTeX and HTML files are written beside it.
        batches: the CSV file of open batches. The other three formats are written beside it, too.
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
    printed = with_labels(TABLE.for_print(rows), labels)
    tables.write(rows, printed, output.with_suffix(""), CAPTION)
    print(printable(printed.to_markdown(index=False, disable_numparse=True)))
    rows = BATCHES.table(open_batches)
    printed = with_labels(BATCHES.for_print(rows), labels)
    tables.write(rows, printed, batches.with_suffix(""), BATCHES_CAPTION)
    if len(rows):
        print(printable(f"\n{printed.to_markdown(index=False, disable_numparse=True)}"))


if __name__ == "__main__":
    command_line.run(main)
