from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from rubric_order.base import command_line, files
from rubric_order.contracts.items import ITEMS
from rubric_order.contracts.reads import REQUESTS
from rubric_order.contracts.responses import RESPONSES
from rubric_order.contracts.scores import SCORES
from rubric_order.pages import page, reads
from rubric_order.prompts import messages
from rubric_order.scoring.scores import read_requested

CALL = "readsLoaded"  # the function of the page that takes the reads
PROMPTS, RATERS = ["request_id", "prompt"], ["item_id", "human_scores"]


def choose_reads(
    scores: Path,
    requests: list[Path],
    items: list[Path],
    responses: Path,
    shards: int,
    about: dict[str, str],
    caps: reads.Caps,
    output: Path,
) -> None:
    """Write a script that hands chosen reads of one judge and dataset to the page, see `reads.content`.

    `requests` (of this and of earlier studies) are empty for recorded answers, and `items` too where these compare
    texts. `about` names `study`, `dataset`, `judge` and, if labels are not people's, `gold`.
    """
    table = SCORES.read(scores, columns=reads.columns(pq.read_schema(scores).names))
    choice = reads.choose(table, caps, about)
    wanted = choice.reads["request_id"]
    # Prompts are found by request, not by unit: a request that several units share names only the first of these units.
    REQUESTS.check(*requests, columns=PROMPTS)
    prompts = read_requested(requests, wanted, PROMPTS) if requests else pd.DataFrame(columns=PROMPTS)
    prompts = prompts.assign(prompt=prompts["prompt"].map(messages.shown))
    paths = [responses / f"{shard}.parquet" for shard in range(1, shards + 1)]
    RESPONSES.check(*paths)
    people = ITEMS.read_each(items, RATERS)
    content = reads.content(
        choice,
        prompts=prompts,
        responses=read_requested(paths, wanted),
        raters={row.item_id: row.human_scores for each in people for row in each.itertuples()},
        caps=caps,
        about=about,
    )
    files.write_text(f"{CALL}({page.script(content)});\n", output)
    command_line.log.info("%d of %d items", len(choice.shown), len(choice.items))
