"""Which scores are selected at which positions."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, EVERY, KEYS
from rubric_order.methods import blocks, resampling

COLUMNS = [*blocks.COLUMNS, "position", "position_probabilities"]


def selections(block: blocks.Block, readout: str) -> np.ndarray:
    """How often each score was selected at each position, item by item, or its summed probability there.

    Args:
        readout: ``hard``, which needs the column `position`, or ``soft``, which needs `position_probabilities`.

    Returns:
        Shape (2, n_items, n, n): of each item, score (third axis) and position (last), first the selections; then the
        chances to be selected: how often the score stood there in a read with this readout.
    """
    n, items = block.n, len(block.items)
    if readout == "hard":
        usable = block.table["position"].notna().to_numpy()
        place = block.table["position"].to_numpy(dtype=float, na_value=0).astype(int)
        weights = (place[usable, None] == np.arange(1, n + 1)).astype(float)
    else:
        usable = block.table["position_probabilities"].notna().to_numpy()
        weights = np.stack(block.table["position_probabilities"].to_numpy()[usable])
    cell = block.item[usable, None] * n * n + (block.shown[usable] - 1) * n + np.arange(n)
    size = items * n * n
    selected = np.bincount(cell.ravel(), weights=weights.ravel(), minlength=size)
    chances = np.bincount(cell.ravel(), minlength=size)
    return np.stack([selected, chances]).reshape(2, items, n, n)


def known_readouts(block: blocks.Block) -> Iterator[str]:
    """The readouts that a block has positions by."""
    for readout, column in (("hard", "position"), ("soft", "position_probabilities")):
        if column in block.table and block.table[column].notna().any():
            yield readout


def position_shares(selected: np.ndarray) -> np.ndarray:
    """Share of each position among the selections of each score; NaN for a score that is never selected.

    Args:
        selected: counts or summed probabilities by score and position, shape (..., n, n).

    Source: the earlier version of Xu et al., Table 5.
    """
    with np.errstate(invalid="ignore"):
        return selected / selected.sum(axis=-1, keepdims=True)


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Where each score is selected, of each dataset and of all of a study's datasets together.

    Args:
        scores: reads, see `blocks.blocks`; columns ``COLUMNS``.
        resamples, confidence, seed: of the percentile bootstrap, which draws from each dataset as much as it has.

    Returns:
        One row a group of ``KEYS`` (dataset ``all``: all of them) whose strategy has every score meet every position,
        readout, `cluster` (what the bootstrap draws), `quantity`, `score` and `position`. ``share`` is the position's
        share of the score's selections, as in the paper; ``rate`` how often the score was selected when it stood there.
        Without position bias the first is 1/n in every cell, and the second the same in each row. `n_selected` is how
        often the score was selected in all positions (a sum of probabilities in readout `soft`), `n_reads` the reads
        that have the readout. A share is NaN where the score was never selected.

    Source: the earlier version of Xu et al., Section 5.3, Table 5.
    """
    found: dict[tuple, tuple] = {}
    for block in blocks.blocks(scores):
        if not block.crossed:
            continue
        for readout in known_readouts(block):
            table = selections(block, readout).transpose(1, 0, 2, 3).reshape(len(block.items), -1)
            for cluster in CLUSTERS:
                unit = block.units(cluster)
                name = f"score position {block.keys['dataset']}"
                sums = blocks.resampled_sums(table, unit, resamples=resamples, seed=seed, name=name)
                counts = np.array([len(block.items), unit.max() + 1])
                for dataset in (block.keys["dataset"], EVERY):
                    key = (*(block.keys | {"dataset": dataset}).values(), readout, cluster)
                    before = found.get(key, (0, 0))
                    found[key] = before[0] + sums, before[1] + counts
    names = [*KEYS, "readout", "cluster"]
    parts = []
    for key, (sums, counts) in sorted(found.items()):
        about = dict(zip(names, key, strict=True)) | {"n_items": counts[0], "n_clusters": counts[1]}
        about["method"] = f"percentile bootstrap over {about['cluster']}s, {resamples} resamples"
        parts += _cells(about, sums.reshape(-1, 2, about["n"], about["n"]), confidence)
    columns = [*names, "quantity", "score", "position", "estimate", "ci_low", "ci_high", "n_selected", "n_reads"]
    return blocks.tidy(parts, [*columns, "n_items", "n_clusters", "method"]).assign(confidence=confidence, seed=seed)


def _cells(about: dict, sums: np.ndarray, confidence: float) -> Iterator[tuple[dict, dict]]:
    """The cells of the table of shares, and of that of rates; see `blocks.tidy`."""
    n = about["n"]
    score, position = (axis.ravel() + 1 for axis in np.indices((n, n)))
    about = about | {"n_reads": int(sums[0, 1].sum() / n)}
    with np.errstate(invalid="ignore"):
        tables = {"share": position_shares(sums[:, 0]), "rate": sums[:, 0] / sums[:, 1]}
    for quantity, values in tables.items():
        low, high = resampling.percentile_interval(values[1:], confidence)
        cells = {"score": score, "position": position, "estimate": values[0].ravel()}
        cells |= {"ci_low": low.ravel(), "ci_high": high.ravel(), "n_selected": np.repeat(sums[0, 0].sum(axis=-1), n)}
        yield about | {"quantity": quantity}, cells
