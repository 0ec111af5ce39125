"""How much the scores of one item vary from read to read, and what of it is due to the order of the options.

A read of item i under ordering o is taken as

    score = item_i + ordering_o + (item by ordering)_io + repetition,

with repetitions independent of each other and of one variance. Reads of one ordering differ by repetition alone; reads
of different orderings differ by all but the first term.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.methods import blocks, resampling, tidy

COLUMNS = {"scores": blocks.COLUMNS}
BASELINE = "fixed"  # the strategy whose reads differ by repetition alone


def item_moments(values: np.ndarray) -> np.ndarray:
    """Number of reads with a score, their variance (divisor one less than their number) and its root, item by item.

    Args:
        values: items by reads, NaN without a score, shape (m, K).

    Returns:
        Shape (m, 3); variance and root are NaN with fewer than two scores.
    """
    count = (~np.isnan(values)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(values, axis=1) / count
        squares = np.nansum((values - mean[:, None]) ** 2, axis=1)
        variance = np.where(count > 1, squares / (count - 1), np.nan)
    return np.column_stack([count, variance, np.sqrt(variance)])


def parts(reads: np.ndarray, repeated: np.ndarray, *, repeats: int = 1) -> np.ndarray:
    """What the split of the variance within items depends on, item by item; sums of rows over items give the split.

    Args:
        reads: scores under different orderings, shape (m, D): each ordering's mean over its repeats where `repeats` is
            more than one. NaN for a read without a score.
        repeated: scores of repeated reads of one ordering, shape (m, R), NaN likewise; two an item at least.

    Returns:
        Shape (m, 3 + D): 1, the variance of the item's first reads, the variance due to repetition alone in each of
        them, and each read's deviation from their mean.
    """
    deviation = np.nan_to_num(reads - np.nanmean(reads, axis=1, keepdims=True))
    noise = item_moments(repeated)[:, 1]
    return np.column_stack([np.ones(len(reads)), item_moments(reads)[:, 1], noise / repeats, deviation])


def split(sums: np.ndarray, *, repeats: int = 1, crossed: bool = True) -> dict[str, np.ndarray]:
    """Components of the variance of a read whose ordering is drawn at random, by the method of moments.

    None is cut off at 0: estimates are unbiased, and so can be negative where a component is small.

    Args:
        sums: of `parts` over items, shape (..., 3 + D).
        repeats: as for `parts`.
        crossed: whether all items were read in the same D orderings, from which one is drawn; otherwise each item's
            reads are draws themselves.

    Returns:
        Each of shape (...). ``repetition``: variance of reads of one ordering. ``ordering``: variance over orderings of
        what repetition does not explain. ``ordering_share``: its share of the sum of both. For crossed reads, the parts
        of ``ordering``: ``shift``, which all items have in common, and ``interaction``, by which one ordering is good
        for one item and bad for another.

    Source: two-way analysis of variance with fixed orderings and random items (Searle, Casella and McCulloch, 1992,
    Chapter 4), with the variance of repetition from reads of its own.
    """
    count, d = sums[..., 0], sums.shape[-1] - 3
    divisor = (d - 1) / d if crossed else 1  # from the variance of a sample to that of all D orderings
    with np.errstate(invalid="ignore", divide="ignore"):
        total, noise = sums[..., 1] / count, sums[..., 2] / count
        ordering, repetition = divisor * (total - noise), noise * repeats
        share = np.where(ordering + repetition > 0, ordering / (ordering + repetition), np.nan)
        found = {"repetition": repetition, "ordering": ordering, "ordering_share": share}
        if not crossed:
            return found
        means = sums[..., 3:] / count[..., None]
        of_means = (means**2).sum(axis=-1) / (d - 1)
        # Means over items vary by interaction and repetition too, as the variance about them tells.
        shift = divisor * (of_means - (total - of_means) / (count - 1))
    return found | {"shift": shift, "interaction": ordering - shift}


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Variation of an item's scores from read to read, and its split into ordering and repetition.

    Args:
        scores: see `blocks.blocks`; the strategies of a setting lie in one table.
        resamples, confidence, seed: see the package.

    Returns:
        One row a group of `KEYS`, `readout`, `cluster` and `quantity`. ``mean_sd`` is the mean over items of the
        standard deviation of an item's scores (divisor one less than their number), as in the paper; ``variance`` that
        of its square. For strategies of several orderings, where the study has strategy `fixed` as well, the split of
        the latter, see `split`: ``repetition`` is the variance in `fixed`, taken to be the same in every ordering;
        ``shift`` and ``interaction`` are there where all items were read in the same orderings. `n_items` have at least
        two scores; for the split, in `fixed` as well, and for shift and interaction a score from every read.

    Source: the earlier version of Xu et al., Table 3; the split is ours.
    """
    options = {"resamples": resamples, "confidence": confidence, "seed": seed}
    parts = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        baselines: dict[tuple, pd.DataFrame] = {}
        for block in sorted(blocks.blocks(table), key=lambda block: block.keys["strategy"] != BASELINE):
            setting = tuple(value for key, value in block.keys.items() if key != "strategy")
            for readout, values in block.readouts():
                parts += _of_readout(block, readout, values, baselines.get((*setting, readout)), **options)
                if block.keys["strategy"] == BASELINE:
                    baselines[*setting, readout] = pd.DataFrame(values, index=block.items["item_id"])
    columns = [*KEYS, "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high"]
    found = tidy.from_parts(parts, [*columns, "n_items", "n_clusters", "method"])
    found = found.sort_values([*KEYS, "readout", "cluster"], kind="stable", ignore_index=True)
    return found.assign(confidence=confidence, seed=seed)


def _of_readout(
    block: blocks.Block,
    readout: str,
    values: np.ndarray,
    baseline: pd.DataFrame | None,
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> Iterator[tuple[dict, dict]]:
    """All quantities of a block's scores; see `tidy.from_parts`.

    Args:
        values: scores, items by reads.
        baseline: those of repeated reads of one ordering, with the items' ids as index, where there are any.
    """
    spread = item_moments(values)[:, 1:]
    found = [(_spread, ~np.isnan(spread[:, 0]), np.column_stack([np.ones(len(spread)), spread]))]
    if baseline is not None:
        found.append(_split_of_block(block, values, baseline.reindex(block.items["item_id"]).to_numpy()))
    for statistic, usable, per_item in found:
        for cluster in CLUSTERS if usable.any() else ():
            unit = block.units(cluster, usable)
            drawing = {"resamples": resamples, "seed": seed, "name": "within item"}
            estimates = statistic(resampling.resampled_sums(per_item[usable], unit, **drawing))
            low, high = resampling.percentile_interval(np.stack(list(estimates.values()), 1)[1:], confidence)
            rows = {"quantity": np.array(list(estimates), dtype=object), "ci_low": low, "ci_high": high}
            rows["estimate"] = np.array([drawn[0] for drawn in estimates.values()])
            method = f"method of moments; percentile bootstrap over {cluster}s, {resamples} resamples"
            about = block.keys | {"readout": readout, "n_items": int(usable.sum()), "cluster": cluster}
            yield about | {"n_clusters": unit.max() + 1, "method": method}, rows


def _spread(sums: np.ndarray) -> dict[str, np.ndarray]:
    """Mean standard deviation and variance of an item's scores."""
    return {"mean_sd": sums[:, 2] / sums[:, 0], "variance": sums[:, 1] / sums[:, 0]}


def _split_of_block(
    block: blocks.Block, values: np.ndarray, repeated: np.ndarray
) -> tuple[Callable[[np.ndarray], dict[str, np.ndarray]], np.ndarray, np.ndarray]:
    """How to split the variance of a block's reads, the items that can be used for it, and their `parts`."""
    shown, number = block.orderings
    per_cell = np.bincount(block.item * len(shown) + number, minlength=len(block.items) * len(shown))
    repeats = int(per_cell[0])
    same = repeats > 0 and bool((per_cell == repeats).all()) and len(shown) > 1
    read = block.by_ordering(values) if same else values
    scored = ~np.isnan(read)
    usable = (scored.all(axis=1) if same else scored.sum(axis=1) > 1) & ((~np.isnan(repeated)).sum(axis=1) > 1)

    def statistic(sums: np.ndarray) -> dict[str, np.ndarray]:
        found = split(sums, repeats=repeats if same else 1, crossed=same)
        for name in {"shift", "interaction"} & set(found):
            # Means of a resample vary by sampling twice: once in the data, and again. The interval is moved back.
            found[name][1:] += found[name][0] - found[name][1:].mean()
        return found

    table = np.full((len(usable), 3 + read.shape[1]), np.nan)
    if usable.any():
        table[usable] = parts(read[usable], repeated[usable], repeats=repeats if same else 1)
    return statistic, usable, table
