"""Decisiveness of a judge, and counts of its reads and orderings."""

import json
from collections.abc import Iterable

import numpy as np
import pandas as pd

from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.keys import KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, causes, copies, sampling, selections
from rubric_order.methods.uncertainty import resampling

READ = ["item_id", "group_id", "read_index", "ordering", "score", "expected_score", "failure", "pattern"]
COLUMNS = {"scores": [*KEYS, *READ, *selections.READOUTS.values()]}


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Counts and decisiveness of each group of reads.

    Returns:
        One row per group of `KEYS`. These columns describe the size:

        - `n_items`, `n_groups`: number of items, and number of groups of items.
        - `effective_groups`: number of groups of equal size whose mean would be as precise, see `resampling.effective`.
        - `heaviest_group`: share of the items that the largest group has.
        - `n_reads`, `n_failed`: number of reads with a score, and number of reads without one.
        - `n_copies`: number of items that repeat exactly the reads of an item of another group, see `copies.copies`.
        - `failures`: dictionary from reason to number of reads without a score, the commonest reason first, as JSON.

        These columns describe the design, see `designs.Design` and `blocks.Block.crossed`:

        - `n_orderings`: number of different orderings.
        - `fewest`, `most`: least and largest number of reads of an item in an ordering.
        - `shared`: True if nearly all reads are in orderings that at least half of the items have.
        - `balanced`: True if every score is shown in every position equally often, for each item.
        - `crossed`: True if every score is shown in every position.

        These columns describe how decisive the reads are, and have no interval:

        - `commonest_score`: score that is given most often; the lowest such score if there are several.
        - `commonest_share`: share of this score among the reads with a score.
        - `discordant_share`: share of the pairs of reads of one item that have different scores.
        - `top_probability`: probability of a read's most probable option, as a mean over reads.
        - `known_share`: share of the reads whose option probabilities are known.
    """
    rows = [_of_block(block) for block in blocks.blocks(scores)]
    columns = [*KEYS, "n_items", "n_groups", "effective_groups", "heaviest_group", "n_reads", "n_failed"]
    columns += ["n_orderings", "crossed"]
    columns += ["commonest_score", "commonest_share", "discordant_share", "top_probability"]
    columns += ["shared", "balanced", "fewest", "most", "known_share", "exponent", "exponent_low", "exponent_high"]
    types = dict.fromkeys(("crossed", "shared", "balanced"), "bool") | dict.fromkeys(("fewest", "most"), "int64")
    types["commonest_score"] = "Int8"
    return tidy.from_rows(rows, [*columns, "n_copies", "copies", "failures", "causes"], types)


def _of_block(block: blocks.Block) -> Row:
    scored = block.table["score"].notna()
    scores = block.table.loc[scored, "score"].to_numpy(dtype=int)
    sizes = block.items["group_id"].value_counts(sort=False).to_numpy()
    row = {
        "n_items": len(block.items),
        "n_groups": len(sizes),
        "effective_groups": resampling.effective(sizes),
        "heaviest_group": sizes.max() / sizes.sum(),
        "n_reads": int(scored.sum()),
        "n_failed": int((~scored).sum()),
        "n_orderings": len(block.orderings[0]),
        "crossed": block.crossed,
        "known_share": 0.0,
        **{name: getattr(block.design, name) for name in ("shared", "balanced", "fewest", "most")},
    }
    alike = copies.copies(block)
    row |= {"n_copies": alike.count, "copies": "; ".join(alike.names), "failures": _failures(block, ~scored)}
    if len(scores):
        times = np.bincount(scores, minlength=block.n + 1)
        row |= {"commonest_score": int(times.argmax()) + block.lowest - 1, "commonest_share": times.max() / len(scores)}
        row["discordant_share"] = selections.variety(block, Readout.HARD).discordant_share
    column = selections.READOUTS[Readout.SOFT]
    if Readout.SOFT in selections.readouts(block):
        row["top_probability"] = blocks.matrix_of(block.table[column].dropna().to_numpy()).max(axis=1).mean()
        row["known_share"] = float(block.table[column].notna().mean())
        both = scored.to_numpy() & block.table[column].notna().to_numpy()
        row |= dict(zip(("exponent", "exponent_low", "exponent_high"), _drawn(block, both), strict=True))
    return block.keys | row | {"causes": json.dumps(causes.causes(block, row.get("exponent", np.nan)))}


def _failures(block: blocks.Block, failed: pd.Series) -> str:
    if "failure" not in block.table:
        return "{}"
    counts = block.table.loc[failed, "failure"].value_counts()
    return json.dumps({str(reason): int(count) for reason, count in counts.items() if count})


def _drawn(block: blocks.Block, both: np.ndarray) -> Interval:
    if not both.any() or "position" not in block.table:
        return UNKNOWN
    shares = blocks.matrix_of(block.table.loc[both, selections.READOUTS[Readout.SOFT]].to_numpy())
    place = block.table.loc[both, selections.READOUTS[Readout.HARD]].to_numpy(dtype=int) - 1
    group = block.units("group")[block.item[both]]
    return sampling.exponent(shares, place, np.unique(group, return_inverse=True)[1])
