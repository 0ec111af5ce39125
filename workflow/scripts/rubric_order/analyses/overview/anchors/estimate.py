"""Group means of a suite."""

import hashlib
import json
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, selections

COLUMNS = {"scores": [*blocks.COLUMNS, *selections.READOUTS.values()]}
DECIMALS = 6  # decimals of values; a smaller difference between two runs is due to rounding
DIGEST_BYTES = 16


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Means of each group of items, with the items' ids (`items`, JSON) and the digest of the `suite`.

    ``order``: mean score in the usual ordering less that over all reads. ``ends``: share of selections at the first
    position less that at the last. ``failed``: share of reads without a written score (readout ``hard``).
    """
    parts = [part for block in blocks.blocks(scores) for part in _block_rows(block)]
    columns = [*KEYS, "readout", "quantity", "group_id", "estimate", "n_items", "items", "suite"]
    return tidy.join_parts(parts, columns, {"items": "str"}, by=KEYS)


def _block_rows(block: blocks.Block) -> Iterator[tuple[Row, Row]]:
    group = block.units("group")
    sizes = np.bincount(group)
    _, first = np.unique(group, return_index=True)
    ids = block.items["group_id"].to_numpy(dtype=str)[first]
    item_ids = block.items["item_id"].to_numpy(dtype=object)
    by_group = np.split(np.argsort(group, kind="stable"), np.cumsum(sizes)[:-1])
    items = np.array([json.dumps([str(item) for item in item_ids[places]]) for places in by_group], dtype=object)
    common = block.keys | {"suite": _digest(block)}
    for readout, quantity, values in _quantities(block):
        has_value = ~np.isnan(values)
        if not has_value.any():
            continue
        counts = np.bincount(group[has_value], minlength=len(ids))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.bincount(group[has_value], values[has_value], len(ids)) / counts
        shared = common | {"readout": str(readout), "quantity": quantity}
        yield shared, {"group_id": ids, "estimate": np.round(means, DECIMALS) + 0.0, "n_items": sizes, "items": items}


def _digest(block: blocks.Block) -> str:
    """Digest of items, groups, orderings and numbers of reads; independent of judge and row order."""
    orders, number = block.orderings
    digits = orders @ max(10, block.n) ** np.arange(block.n - 1, -1, -1)
    orderings, rank = np.unique(digits, return_inverse=True)
    cells, counts = np.unique(block.item * len(orderings) + rank[number], return_counts=True)
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    ids = (name for column in ("item_id", "group_id") for name in block.items[column].to_numpy(dtype=object))
    identities = [f"{len(name)}:{name}" for name in map(str, ids)]
    digest.update("\n".join([str(block.n), *identities]).encode(errors="surrogatepass"))
    for part in (orderings, cells, counts):
        digest.update(part.astype("<i8").tobytes())
    return digest.hexdigest()


def _quantities(block: blocks.Block) -> Iterator[tuple[Readout, str, np.ndarray]]:
    usual = (np.diff(block.shown, axis=1) > 0).all(axis=1)
    varied = block.crossed and usual.any()
    for readout, column in VALUES.items():
        if column not in block.table or not block.table[column].notna().any():
            continue
        scores = block.table[column].to_numpy(dtype=float, na_value=np.nan)
        mean = _item_means(block, scores)
        yield readout, "score", mean
        if varied:
            yield readout, "order", _item_means(block, np.where(usual, scores, np.nan)) - mean
        if block.crossed:
            yield readout, "ends", _item_means(block, _ends(block, readout))
    yield Readout.HARD, "failed", _item_means(block, block.table["score"].isna().to_numpy(dtype=float))


def _ends(block: blocks.Block, readout: Readout) -> np.ndarray:
    """Selection (or probability) of the first position less that of the last, for each read; NaN if unknown."""
    if selections.READOUTS[readout] not in block.table:
        return np.full(len(block.table), np.nan)
    column = block.table[selections.READOUTS[readout]]
    if readout == Readout.HARD:
        place = column.to_numpy(dtype=float, na_value=np.nan)
        return np.where(np.isnan(place), np.nan, (place == 1) * 1.0 - (place == block.n))
    ends = np.full(len(column), np.nan)
    usable = column.notna().to_numpy()
    if usable.any():
        probabilities = blocks.matrix_of(column[usable].to_numpy())
        ends[usable] = probabilities[:, 0] - probabilities[:, -1]
    return ends


def _item_means(block: blocks.Block, values: np.ndarray) -> np.ndarray:
    has_value = ~np.isnan(values)
    counts = np.bincount(block.item[has_value], minlength=len(block.items))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.bincount(block.item[has_value], values[has_value], len(block.items)) / counts
