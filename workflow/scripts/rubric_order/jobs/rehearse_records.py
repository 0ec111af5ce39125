import json
from pathlib import Path
from typing import Any

from rubric_order.base import command_line, files
from rubric_order.contracts.items import ITEMS, PAIRS
from rubric_order.intake.recorded import rehearsal
from rubric_order.settings.judges.recorded import Rehearsed


def rehearse_records(items: Path, pairs: Path, dataset: dict[str, Any], judge: Rehearsed, output: Path) -> None:
    """Write one JSON line per simulated answer of a recorded judge, which compares texts or scores them.

    `dataset`: `name`, `adapter`, and `benchmark` if an option names one.
    """
    table = ITEMS.read(items)
    if judge.compares:
        about = {"adapter": dataset["adapter"], "benchmark": dataset.get("benchmark")}
        records = rehearsal.comparisons(table, PAIRS.read(pairs), judge, **about)
    else:
        records = rehearsal.scores(table, judge)
    files.write_text("".join(json.dumps(record) + "\n" for record in records), output)
    command_line.log.info("%s: %d simulated records", dataset["name"], len(records))
