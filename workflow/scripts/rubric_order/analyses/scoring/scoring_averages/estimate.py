"""Means over variants and over repeats."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS, VALUES
from rubric_order.base.rows import Row, blocks_by
from rubric_order.methods import tidy
from rubric_order.methods.agreement import agreement, golden, variants
from rubric_order.methods.agreement.variants import SHARED
from rubric_order.methods.uncertainty import multiplicity

COLUMNS = {
    "scores": [*KEYS, "item_id", "group_id", "human_score", "read_index", *VALUES.values()],
    "items": golden.COLUMNS,
}
AVERAGED = ("base", "order", "ids")  # kinds of variants whose prompts mean the same as the base
FEW_READS, ONE_READ = "too few reads of the base", "temperature 0: reads of one prompt are one read"


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    bases: Mapping[str, Sequence[str]],
    confidence: float,
    items: pd.DataFrame,
    human_scales: Mapping[str, Sequence[float]],
    sampling_temperatures: Mapping[str, Mapping[str, float | None]],
    golden_scores: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Agreement with golden scores of the mean of K reads from K variants, and of K reads of the base.

    `n_failed`: items left out because one of these reads lacks a score.

    Source: Li et al. (2025), Limitations; they propose averaging and do not test it.
    """
    golden_by_item = golden.item_golds(items, human_scales, golden_scores)
    rows: list[Row] = []
    for keys, block in blocks_by(SHARED, scores):
        base = tuple(bases.get(keys["study"], ()))
        greedy = sampling_temperatures.get(keys["judge"], {}).get(keys["profile"]) == 0
        rows += _rows(block, base, keys, golden_by_item, confidence, greedy=greedy)
    columns = [*SHARED, "readout", "cluster", "golden", "quantity", "averaged", "repeated", "difference"]
    columns += ["difference_low", "difference_high", "p", "n_calls", "n_items", "n_clusters", "n_failed", "flag"]
    estimates = tidy.make_table(rows, [*columns, "method"])
    return multiplicity.adjust(estimates.assign(confidence=confidence), "p")


def _rows(
    block: pd.DataFrame,
    base: tuple[Any, ...],
    keys: Row,
    known: pd.DataFrame,
    confidence: float,
    *,
    greedy: bool,
) -> Iterator[Row]:
    prompts = list(dict.fromkeys(zip(block["condition"], block["strategy"], strict=True)))
    chosen = [name for name in prompts if base in prompts and variants.kind(name, base) in AVERAGED]
    k = len(chosen)
    if k < 2:
        return
    first = block[block["read_index"] == 0]
    of_base = block[(block["condition"] == base[0]) & (block["strategy"] == base[1])]
    enough = greedy or bool(of_base["read_index"].max() + 1 >= k)
    flag = ONE_READ if greedy else "" if enough else FEW_READS
    by_item = of_base.drop_duplicates("item_id").set_index("item_id")[["group_id", "human_score"]]
    for readout, column in VALUES.items():
        if block[column].isna().all():
            continue
        wide = first.pivot(index="item_id", columns=["condition", "strategy"], values=column)
        averaged = wide[chosen].astype(float).mean(axis=1, skipna=False).reindex(by_item.index)
        reads = of_base.pivot(index="item_id", columns="read_index", values=column).reindex(by_item.index)
        repeated = reads[[0]] if greedy else reads.iloc[:, :k]
        repeated = repeated.astype(float).mean(axis=1, skipna=False)
        both = averaged.notna() & (repeated.notna() | (not enough))
        items = by_item.reset_index().assign(dataset=keys["dataset"])
        for source, gold in golden.sources(items, known, keys["n"]).items():
            used = both.to_numpy() & ~np.isnan(gold)
            about = {"readout": readout, "golden": source, "n_calls": k, "flag": flag, "n_items": int(used.sum())}
            about["n_failed"] = int((~np.isnan(gold)).sum() - used.sum())
            for cluster in CLUSTERS:
                unit = items[f"{cluster}_id"].factorize(sort=True)[0][used]
                about |= {"cluster": cluster, "n_clusters": len(np.unique(unit))}
                about["method"] = f"each {cluster} left out, Student's t"
                one = agreement.Compared(averaged.to_numpy()[used], gold[used], unit)
                if enough:
                    other = agreement.Compared(repeated.to_numpy()[used], gold[used], unit)
                for quantity in agreement.STATISTICS:
                    row = keys | about | {"quantity": quantity, "averaged": float(one.parts(quantity)[0])}
                    if enough:
                        row["repeated"] = float(other.parts(quantity)[0])
                        row |= one.minus(other, quantity, confidence)
                    yield row
