"""Decisiveness, and counts of reads."""

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
    """Counts, design and decisiveness of each group of reads, without intervals.

    `effective_groups`: `resampling.effective`. `n_copies`: items that repeat the reads of an item of another group
    (`copies.copies`). `failures`: number of reads by reason, JSON. `crossed`: every score stands in every position;
    `balanced`: equally often for each item; `shared`: nearly all reads are in orderings that half of the items have;
    `fewest` and `most`: reads of an item in an ordering (`designs.Design`).

    `discordant_share`: share of pairs of an item's reads with different scores. `top_probability`: of the most probable
    option, mean over reads. `known_share`: share of reads with option probabilities. `commonest_score`: the lowest if
    several.
    """
    rows = [_block_row(block) for block in blocks.blocks(scores)]
    columns = [*KEYS, "n_items", "n_groups", "effective_groups", "heaviest_group", "n_reads", "n_failed"]
    columns += ["n_orderings", "crossed"]
    columns += ["commonest_score", "commonest_share", "discordant_share", "top_probability"]
    columns += ["shared", "balanced", "fewest", "most", "known_share", "exponent", "exponent_low", "exponent_high"]
    types = dict.fromkeys(("crossed", "shared", "balanced"), "bool") | dict.fromkeys(("fewest", "most"), "int64")
    types["commonest_score"] = "Int8"
    return tidy.make_table(rows, [*columns, "n_copies", "copies", "failures", "causes"], types)


def _block_row(block: blocks.Block) -> Row:
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
