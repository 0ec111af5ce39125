"""How decisive a judge is, and what its reads are: how many, in how many orders, and how much its scores vary."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS
from rubric_order.methods import blocks, copies, selections, tidy

COLUMNS = {"scores": [*KEYS, "item_id", "group_id", "read_index", "ordering", "score", *selections.READOUTS.values()]}


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Counts and decisiveness of each group of reads.

    Args:
        scores: see `blocks.blocks`.

    Returns:
        One row a group of `KEYS`: `n_items`, `n_groups`, `n_reads` with a score, `n_failed` without, `n_orderings` that
        differ, and whether every score is shown in every position (`crossed`, see `blocks.Block.crossed`).
        `commonest_score` is the score that is given most often (the lower one of two), `commonest_share` its share of
        the reads with a score; `discordant_share` of the pairs of reads of one item have different scores;
        `top_probability` is the mean probability of a read's most probable option, where probabilities are known. They
        describe these reads and have no interval. `n_copies` items have the very reads of an item of another group, see
        `copies`; `copies` names some.
    """
    rows = [_of_block(block) for block in blocks.blocks(scores)]
    columns = [*KEYS, "n_items", "n_groups", "n_reads", "n_failed", "n_orderings", "crossed"]
    columns += ["commonest_score", "commonest_share", "discordant_share", "top_probability"]
    table = tidy.from_rows(rows, [*columns, "n_copies", "copies"], words=["copies"])
    return table.astype({"commonest_score": "Int8", "crossed": bool})


def _of_block(block: blocks.Block) -> dict:
    scored = block.table["score"].notna()
    scores = block.table.loc[scored, "score"].to_numpy(dtype=int)
    found = {
        "n_items": len(block.items),
        "n_groups": block.items["group_id"].nunique(),
        "n_reads": int(scored.sum()),
        "n_failed": int((~scored).sum()),
        "n_orderings": len(block.orderings[0]),
        "crossed": block.crossed,
    }
    alike = copies.copies(block)
    found |= {"n_copies": alike.count, "copies": "; ".join(alike.names)}
    if len(scores):
        times = np.bincount(scores, minlength=block.n + 1)
        found |= {"commonest_score": int(times.argmax()), "commonest_share": times.max() / len(scores)}
        found["discordant_share"] = selections.variety(block, "hard").discordant_share
    column = selections.READOUTS["soft"]
    if "soft" in selections.readouts(block):
        found["top_probability"] = np.stack(block.table[column].dropna().to_numpy()).max(axis=1).mean()
    return block.keys | found
