from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from rubric_order.base import command_line, parquet
from rubric_order.contracts.items import ITEMS, PAIRS, REFERENCES, RUBRICS
from rubric_order.contracts.reads import PLAN, REQUESTS
from rubric_order.planning import requests as planned
from rubric_order.planning.references import add_references
from rubric_order.prompts import frames
from rubric_order.settings.judges.judge import Judge

ROWS_PER_WRITE = 16_384  # rows that are in memory with their prompts


def collect_requests(
    plans: list[Path],
    items: list[Path],
    rubrics: list[Path],
    pairs: list[Path],
    references: list[Path],
    earlier: list[Path],
    template: Path,
    probe: str,
    judge: Judge,
    comparisons: dict[str, Any],
    output: Path,
) -> None:
    """Write each request of a study and judge once, as they are sent, with its prompt, without those that an earlier
    study sends.

    One file of plans, items, rubrics and pairs per dataset, in one order; references of the datasets that have any.
    `comparisons`: settings of pairs and lists, see `Probe.units`.
    """
    reads = PLAN.read(*plans, columns=planned.COLUMNS)
    owned = REQUESTS.read(*earlier, columns=["request_id"])["request_id"] if earlier else []
    greedy = judge.greedy_profiles(reads["profile"].unique())
    requests = planned.distinct_requests(reads, owned_elsewhere=owned, greedy=greedy)
    source = frames.load_template(template)
    # The names of a dataset's files are its id.
    answers = {path.stem: REFERENCES.read(path) for path in references}
    tables = {paths[0].stem: paths for paths in zip(items, rubrics, pairs, strict=True)}

    def rendered() -> Iterator[pa.Table]:
        yield REQUESTS.schema.empty_table()
        for dataset, block in requests.groupby("dataset", sort=False):
            paths = tables[dataset]
            texts = add_references(ITEMS.read(paths[0]), answers.get(dataset))
            rest = RUBRICS.read(paths[1]), PAIRS.read(paths[2])
            units = planned.units_asked(block, texts, *rest, source, probe=probe, comparisons=comparisons)
            for start in range(0, len(block), ROWS_PER_WRITE):
                part = planned.render_requests(block.iloc[start : start + ROWS_PER_WRITE], units)
                yield from parquet.split_row_groups(REQUESTS.table(part))

    REQUESTS.write(rendered(), output)
    command_line.log.info("%d reads need %d requests of this study's own", len(reads), len(requests))
