"""The reads of each item taken together: mean scores beside human scores."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import EVERY, KEYS, OF_READOUT, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.methods.position.blocks import Block

COLUMNS = [*KEYS, "item_id", "group_id", "criterion", "human_score", "read_index", *VALUES.values()]


def totals(block: Block, readout: Readout) -> pd.DataFrame:
    """The reads of each item taken together, items without a human score left out.

    Returns:
        One row an item, with its id as index, in the order of ids: `group_id`, `criterion`, `human` (its human score),
        `n_reads`, how many of them have a score (`n_scored`), and their `sum`. A mean is the sum divided once: equal
        means of different reads are then equal to the last bit, and tie.
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
        items: one row an item, with its id as index and its `group_id`.
        cluster: one of `keys.CLUSTERS`.
    """
    return pd.factorize(items.index if cluster == "item" else items["group_id"], sort=True)[0]


def by_criterion(items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """All items, and where there are several criteria the items of each."""
    yield EVERY, items
    if items["criterion"].nunique() > 1:
        yield from items.groupby("criterion")
