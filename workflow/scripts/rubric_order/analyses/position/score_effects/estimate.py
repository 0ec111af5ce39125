"""Effect of the order on scores."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import flags, levels, permutations
from rubric_order.base.keys import CLUSTERS, EVERY, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, uniformity
from rubric_order.methods.uncertainty import additive, equivalence, multiplicity, resampling

COLUMNS = {"scores": [*KEYS, "item_id", "group_id", "read_index", "ordering", "score", "expected_score"]}
SATURATED = 0.95  # if the commonest score has at least this share of the reads, scores hardly show an effect
SIGN_CHANGES = 1999
POINTS = 0.1  # smaller effects are not worth mention
CONTRASTS = ("usual_minus_balanced", "ascending_minus_descending")
OF_ORDERINGS = ("ordering", "usual_minus_balanced")  # quantities: mean score of an ordering minus mean over all


class Laid(NamedTuple):
    """Scores of some items and one readout, as arrays for least squares.

    Attributes:
        by_ordering, orderings: scores by ordering, and these, shape (D, n); None and no rows unless items share two.
        by_position: for each of the n levels, scores by its position.
        units: index of each item's cluster, by kind of cluster.
        scores: scores of the reads that have one, shape (n_reads,).
    """

    by_ordering: additive.Cells | None
    orderings: np.ndarray
    by_position: tuple[additive.Cells, ...]
    units: dict[str, np.ndarray]
    scores: np.ndarray
    n_reads: int
    n_failed: int
    lowest: int


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    seed: int,
    sign_changes: int = SIGN_CHANGES,
    points: float = POINTS,
    clusters: Sequence[str] = CLUSTERS,
) -> pd.DataFrame:
    """Shifts of the mean score in points, of each dataset and of all of a study's datasets together.

    Scores are numbered as in a dataset's scale. Shifts are less the mean over orderings (``level_position``: over
    positions). ``order_test``: root mean square of the shifts, and `p_order` of no mean effect (`additive.no_shift`).
    """
    laid: dict[tuple[Any, ...], dict[str, Laid]] = {}
    for block in blocks.blocks(scores):
        for readout, values in block.readouts() if block.crossed or _alike(block) else ():
            reads = _laid(block, values, clusters)
            for dataset in (block.keys["dataset"], EVERY):
                key = (*(block.keys | {"dataset": dataset}).values(), readout)
                laid.setdefault(key, {})[block.keys["dataset"]] = reads
    key_columns, parts = [*KEYS, "readout"], []
    by_items: dict[tuple[Any, ...], list[tuple[Row, Row]]] = {}  # a single dataset's rows are also those of ``all``
    for key, by_dataset in sorted(laid.items()):
        datasets = [by_dataset[name] for name in sorted(by_dataset)]
        together = _joined(datasets)
        for cluster in clusters if together.by_ordering or together.by_position else ():
            common = dict(zip(key_columns, key, strict=True)) | {"cluster": cluster}
            items = (cluster, *map(id, datasets))
            if items not in by_items:
                by_items[items] = [*_shift_rows(common, together, sign_changes, confidence, seed, points)]
            parts += [(row | common, values) for row, values in by_items[items]]
    columns = [*key_columns, "cluster", "quantity", "ordering", "score", "position", "estimate", "ci_low", "ci_high"]
    columns += ["df", "p_bounded", "mean_score", "chance", "chance_high", "p_order", "commonest", "flag"]
    columns += ["n_items", "n_clusters", "effective_clusters", "heaviest", "n_reads", "n_failed", "method"]
    table = tidy.join_parts(parts, columns, {"score": "Int8", "position": "Int8"}, by=())
    return multiplicity.adjust(table.assign(confidence=confidence, margin=points, seed=seed), "p_order")


def _alike(block: blocks.Block) -> bool:
    return block.design.common.sum() > 1 and block.design.shared


def _laid(block: blocks.Block, values: np.ndarray, kinds: Sequence[str]) -> Laid:
    score, items = values[block.item, block.column], len(block.items)
    scored = ~np.isnan(score)
    same, common = _alike(block), block.common
    orders, number = common.orderings
    places: np.ndarray = permutations.positions_of(block.shown[scored]) - 1

    def cells(of: blocks.Block, treatment: np.ndarray, count: int) -> additive.Cells:
        by_read = values[of.item, of.column]
        used = ~np.isnan(by_read)
        return additive.cells(by_read[used], of.item[used], treatment, of.design_of(used).weights, (items, count))

    return Laid(
        by_ordering=cells(common, number[~np.isnan(values[common.item, common.column])], len(orders)) if same else None,
        orderings=orders if same else orders[:0],
        by_position=tuple(cells(block, place, block.n) for place in places.T) if block.crossed else (),
        units={cluster: block.units(cluster) for cluster in kinds},
        scores=score[scored],
        n_reads=int(scored.sum()),
        n_failed=int((~scored).sum()),
        lowest=block.lowest,
    )


def _joined(each: list[Laid]) -> Laid:
    """The items of several datasets as if from one. Two datasets have no cluster in common."""
    first = each[0]
    same = all(np.array_equal(part.orderings, first.orderings) and part.by_ordering for part in each)
    units = {}
    for cluster in first.units:
        sizes = [part.units[cluster].max() + 1 for part in each]
        before = np.cumsum([0, *sizes[:-1]])
        units[cluster] = np.concatenate([p.units[cluster] + start for p, start in zip(each, before, strict=True)])
    crossed = all(part.by_position for part in each)
    by_position = zip(*(part.by_position for part in each), strict=True) if crossed else ()
    return Laid(
        by_ordering=_stacked([part.by_ordering for part in each if part.by_ordering]) if same else None,
        orderings=first.orderings if same else first.orderings[:0],
        by_position=tuple(_stacked(tables) for tables in by_position),
        units=units,
        scores=np.concatenate([part.scores for part in each]),
        n_reads=sum(part.n_reads for part in each),
        n_failed=sum(part.n_failed for part in each),
        lowest=levels.common([part.lowest for part in each]),
    )


def _stacked(tables: Iterable[additive.Cells]) -> additive.Cells:
    return additive.Cells(*(np.concatenate(arrays) for arrays in zip(*tables, strict=True)))


def _shift_rows(
    shared: Row, laid: Laid, draws: int, confidence: float, seed: int, points: float
) -> Iterator[tuple[Row, Row]]:
    unit = laid.units[shared["cluster"]]
    sizes = np.bincount(unit).astype(float)
    effective = resampling.effective(sizes)
    cells = [laid.by_ordering] if laid.by_ordering else laid.by_position
    away = resampling.sum_units(np.hstack([additive.departures(table) for table in cells]), unit)
    commonest = np.nan
    if shared["readout"] == Readout.HARD and laid.n_reads:
        commonest = np.unique(laid.scores, return_counts=True)[1].max() / laid.n_reads
    is_raised = {
        flags.SATURATED: commonest >= SATURATED,
        flags.NO_VARIATION: not np.abs(away).max(initial=0) > additive.ROUNDING,
        flags.FEW_CLUSTERS: not effective >= uniformity.FEW_CLUSTERS,
    }
    shared = shared | {"n_items": len(unit), "n_clusters": len(away), "commonest": commonest}
    shared |= {"effective_clusters": effective, "heaviest": float(sizes.max() / sizes.sum())}
    shared |= {"n_reads": laid.n_reads, "n_failed": laid.n_failed}
    shared["flag"] = ", ".join(flag for flag, raised in is_raised.items() if raised)
    fits = [additive.shifts(cells, unit) for cells in laid.by_position]
    by = laid.lowest - 1  # in `laid`, levels are counted from 1
    quantities = [_level_shifts(level, fit, by) for level, fit in enumerate(fits, start=1) if fit]
    if laid.by_ordering and (fit := additive.shifts(laid.by_ordering, unit)):
        chance = {"draws": draws, "seed": seed}
        quantities = [_ordering_shifts(laid.orderings, fit, by), *_contrasts(laid.orderings, fit, chance), *quantities]
        yield shared, _gap(fit, shared["cluster"], draws, confidence, seed)
        tested, what = [fit], "orderings"
    else:
        tested, what = [fit for fit in fits if fit], "positions of levels"
    test = _test(tested, by, additive.no_shift(away, draws=draws, seed=seed))
    yield shared, test | {"method": f"signs of {shared['cluster']}s changed {draws} times, on {what}"}
    for rows, estimates, influence in quantities:
        values = resampling.left_out_of_mean(estimates, influence, sizes)
        ends = resampling.jackknife_t(values, confidence, sizes=sizes)
        has_interval = ends.high - ends.low > additive.ROUNDING
        columns = {
            "ci_low": np.where(has_interval, ends.low, np.nan),
            "ci_high": np.where(has_interval, ends.high, np.nan),
        }
        columns |= {"estimate": estimates, "df": resampling.degrees(sizes)}
        if rows["quantity"] in OF_ORDERINGS:
            of_cluster = estimates + influence * (sizes.sum() / sizes)[:, None]
            largest = (shared["n"] - 1) * (1 - 1 / len(laid.orderings))
            columns["p_bounded"] = equivalence.p_bounded(of_cluster, sizes, margin=points, largest=largest)
        method = f"least squares with a level for each item; jackknife, Student's t over {shared['cluster']}s"
        yield shared, rows | columns | {"method": method}


Found = tuple[
    dict[str, Any], np.ndarray, np.ndarray
]  # columns of some rows, estimates of these rows, and influence of clusters on the estimates


def _level_shifts(level: int, fit: additive.Shifts, by: int) -> Found:
    rows = {"quantity": "level_position", "score": level + by, "position": np.arange(1, len(fit.shift) + 1)}
    return rows | {"mean_score": fit.level + fit.shift + by}, fit.shift, fit.influence


def _ordering_shifts(orderings: np.ndarray, fit: additive.Shifts, by: int) -> Found:
    apart = " " if orderings.max() + by > 9 else ""  # a blank between scores if some have two digits
    labels = np.array([apart.join(map(str, row + by)) for row in orderings], dtype=object)
    rows = {"quantity": "ordering", "ordering": labels, "mean_score": fit.level + fit.shift + by}
    return rows, fit.shift, fit.influence


def _contrasts(orderings: np.ndarray, fit: additive.Shifts, chance: dict[str, Any]) -> Iterator[Found]:
    rising, falling = ((np.sign(side) * np.diff(orderings, axis=1) > 0).all(axis=1) for side in (1, -1))
    # Shifts sum to 0, so the mean over orderings is the level of the fit.
    weights = [rising] if rising.any() else []
    weights += [rising.astype(float) - falling] if rising.any() and falling.any() else []
    for name, weight in zip(CONTRASTS, np.asarray(weights, dtype=float), strict=False):
        rows: Row = {"quantity": name}
        if name == CONTRASTS[0]:
            rows["p_order"] = additive.no_shift(len(fit.parts) * fit.parts @ weight[:, None], **chance)
        yield rows, np.array([weight @ fit.shift]), fit.influence @ weight[:, None]


def _gap(fit: additive.Shifts, cluster: str, draws: int, confidence: float, seed: int) -> Row:
    gaps = additive.gaps_by_chance(fit.influence, draws=draws, seed=seed)
    rows = {"quantity": "largest_gap", "estimate": np.ptp(fit.shift), "chance": gaps.mean()}
    rows["chance_high"] = np.quantile(gaps, confidence)
    return rows | {"method": f"chance: signs of {cluster}s changed {draws} times"}


def _test(fits: list[additive.Shifts], by: int, p: float) -> Row:
    shift = np.concatenate([fit.shift for fit in fits]) if fits else np.array([np.nan])
    level = fits[0].level + by if fits else np.nan
    return {"quantity": "order_test", "estimate": np.sqrt((shift**2).mean()), "p_order": p, "mean_score": level}
