"""Votes of judges."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.methods import tidy

COLUMNS = {"golden": ["judge", "profile", "dataset", "n", "item_id", "group_id", "score"]}
SAME, MAJORITY, MEDIAN = "same", "majority", "median"


def estimate(golden: pd.DataFrame | Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The vote of each `source` (judge, or ``judge/profile``) on each item.

    `how`: ``same`` if all agree, ``majority`` if one score has most reads, else ``median``.

    Source: Li et al. (2025), Datasets, for three reads and the majority; the median is ours.
    """
    tables = [golden] if isinstance(golden, pd.DataFrame) else golden
    rows = [votes for table in tables for votes in _votes(table)]
    columns = ["source", "dataset", "n", "item_id", "group_id", "score", "n_reads", "n_scored", "how"]
    table = tidy.typed(pd.concat([pd.DataFrame(columns=columns), *rows], ignore_index=True))
    keys = ["source", "dataset", "n", "item_id"]
    return table.drop_duplicates(keys).sort_values(keys, ignore_index=True)[columns]


def _votes(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for (judge, profile, dataset, n), block in table.groupby(["judge", "profile", "dataset", "n"], sort=True):
        item, ids = pd.factorize(block["item_id"], sort=True)
        score = block["score"].to_numpy(dtype=float, na_value=np.nan)
        present = ~np.isnan(score)
        counts = np.bincount(item[present] * n + score[present].astype(int) - 1, minlength=len(ids) * n).reshape(-1, n)
        value, how = vote(counts)
        group = block.assign(item=item).groupby("item")["group_id"].first().to_numpy()
        columns = {"item_id": ids, "group_id": group, "score": value, "how": how}
        columns |= {"n_reads": np.bincount(item, minlength=len(ids)), "n_scored": counts.sum(axis=1)}
        source = judge if profile == DEFAULT_PROFILE else f"{judge}/{profile}"
        yield pd.DataFrame(columns).assign(source=source, dataset=dataset, n=n)


def vote(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    total = counts.sum(axis=1)
    most = counts.max(axis=1)
    alone = (counts == most[:, None]).sum(axis=1) == 1
    upto = counts.cumsum(axis=1)
    lower, upper = ((upto >= np.maximum(-(-(total + side) // 2), 1)[:, None]).argmax(axis=1) + 1 for side in (0, 1))
    value = np.where(alone, counts.argmax(axis=1) + 1, (lower + upper) / 2)
    how = np.where(most == total, SAME, np.where(alone, MAJORITY, MEDIAN))
    return np.where(total > 0, value, np.nan), np.where(total > 0, how, "")
