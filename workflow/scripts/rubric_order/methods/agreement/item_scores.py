"""Mean scores over the reads of each item, with human scores."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import EVERY, KEYS, OF_READOUT, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.methods.position.blocks import Block

COLUMNS = [*KEYS, "item_id", "group_id", "criterion", "human_score", "read_index", *VALUES.values()]


def totals(block: Block, readout: Readout) -> pd.DataFrame:
    """Totals over the reads of each item. Items without a human score are left out.

    Returns:
        One row per item, with item ids as index, in the order of ids. The columns are `group_id`, `criterion`, `human`
        (the human score), `n_reads`, `n_scored` (number of reads with a score), and `sum` (sum of the scores). A mean
        is the sum divided once: equal means of different reads are then equal to the last bit, and tie.
    """
    values = block.matrix(OF_READOUT[readout])
    table = block.items.rename(columns={"human_score": "human"}).set_index("item_id")
    table["n_reads"] = np.bincount(block.item, minlength=len(table))
    table["n_scored"] = (~np.isnan(values)).sum(axis=1)
    table["sum"] = np.nansum(values, axis=1)
    return table.loc[table["human"].notna(), ["group_id", "criterion", "human", "n_reads", "n_scored", "sum"]]


def means(items: pd.DataFrame) -> pd.DataFrame:
    """The items that have a score, with their mean score as `judge`.

    Args:
        items: see `totals`.
    """
    usable = items[items["n_scored"] > 0]
    return usable.assign(judge=usable["sum"] / usable["n_scored"])


def clusters_of(items: pd.DataFrame, cluster: str) -> np.ndarray:
    """Number of each item's cluster, from 0 in the order of ids, shape (n_items,).

    Args:
        items: one row per item, with item ids as index, and with `group_id`.
        cluster: one of `keys.CLUSTERS`.
    """
    return pd.factorize(items.index if cluster == "item" else items["group_id"], sort=True)[0]


def by_criterion(items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """All items, and, if there are several criteria, the items of each criterion."""
    yield EVERY, items
    if items["criterion"].nunique() > 1:
        yield from items.groupby("criterion")
