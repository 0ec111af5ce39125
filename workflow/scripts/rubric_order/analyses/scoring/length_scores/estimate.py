"""Length and scores of texts."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import agreement
from rubric_order.methods.position import blocks
from rubric_order.methods.position.blocks import Block
from rubric_order.methods.uncertainty import multiplicity

COLUMNS = {"scores": blocks.COLUMNS, "items": ["dataset", "item_id", "response"]}
QUANTITIES = ("pearson", "spearman")


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, items: pd.DataFrame) -> pd.DataFrame:
    """Correlation of a text's length with its mean score, and with its human score (`of_people`).

    `of_people` and `difference` are over rated items.

    Source: a textbook section on debiasing judges (46.3), answer to Q2; `of_people` and the difference are ours.
    """
    lengths = items.set_index(["dataset", "item_id"])["response"].str.len()
    rows = [row for block in blocks.blocks(scores) for row in _rows(block, lengths, confidence)]
    columns = [*KEYS, "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "of_people", "difference"]
    columns += ["difference_se", "difference_low", "difference_high", "p", "n_items", "n_rated", "n_clusters", "method"]
    table = tidy.make_table_with_gaps(rows, columns)
    return multiplicity.adjust(table.assign(confidence=confidence), "p")


def _rows(block: Block, lengths: pd.Series, confidence: float) -> Iterator[Row]:
    keys = [(block.keys["dataset"], item) for item in block.items["item_id"]]
    length = lengths.reindex(pd.MultiIndex.from_tuples(keys)).to_numpy(dtype=float)
    human = block.items["human_score"].to_numpy(dtype=float)
    for readout, values in block.readouts():
        is_scored = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            mean = np.where(is_scored, values, 0).sum(axis=1) / is_scored.sum(axis=1)
        used = ~np.isnan(mean) & ~np.isnan(length)
        rated = used & ~np.isnan(human)
        for cluster in CLUSTERS:
            unit = block.units(cluster)
            common = block.keys | {"readout": readout, "cluster": cluster, "n_items": int(used.sum())}
            common |= {"n_rated": int(rated.sum()), "n_clusters": len(np.unique(unit[used]))}
            common |= {"method": f"each {cluster} left out, Student's t; Fisher's z for correlations"}
            judge = agreement.Compared(mean[used], length[used], unit[used])
            on_rated = agreement.Compared(mean[rated], length[rated], unit[rated])
            people = agreement.Compared(human[rated], length[rated], unit[rated])
            for quantity in QUANTITIES:
                row = common | {"quantity": quantity} | judge.single(quantity, confidence).columns()
                if rated.sum() > 1:
                    row["of_people"] = people.single(quantity, confidence).estimate
                    row |= on_rated.minus(people, quantity, confidence)
                yield row
