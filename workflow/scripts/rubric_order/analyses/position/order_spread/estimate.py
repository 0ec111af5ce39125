"""Effects of orderings on single items."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base import flags
from rubric_order.base.keys import CLUSTERS, FEW_CLUSTERS, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import ordering_subsets, rankings
from rubric_order.methods.position import blocks, by_ordering, repetition, spread
from rubric_order.methods.uncertainty import equivalence

COLUMNS = {"scores": [*blocks.COLUMNS, "position_probabilities"]}
SAME = 9  # decimals; scores that are equal after rounding to them tie
# Largest share of pairs of item and ordering that may be missing. If more are missing, reads may be adaptive: scores
# may have decided which orderings were asked.
MOST_MISSING = 0.05
ENDS = ("ci_low", "ci_high", "low", "high")


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    level: float,
    margin: float,
    temperatures: Mapping[str, Mapping[str, float | None]] | None = None,
    clusters: Sequence[str] = CLUSTERS,
) -> pd.DataFrame:
    """Spread of what orderings add to single items, and shares of scores and best candidates that they change.

    ``within`` is ``spread`` with repetition in it. ``changed`` and ``best_changed`` compare with the usual ordering, or
    the first. ``one_read``: root mean square distance of one read in a random ordering from the item's expected mean
    over all, in points; ``needed``: number of orderings from which on this distance of their mean is at most `margin`.
    """
    rows: list[Row] = []
    for block in blocks.blocks(scores):
        if not block.crossed or len(block.orderings[0]) < 2:
            continue
        temperature = (temperatures or {}).get(block.keys["judge"], {}).get(block.keys["profile"])
        for readout, values in block.readouts():
            for row in _readout_rows(block, readout, values, temperature, confidence, level, margin, clusters):
                rows.append(block.keys | {"readout": readout} | _judged(row, margin))
    columns = [*KEYS, "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "low", "high", "chance"]
    columns += ["margin", "verdict", "known_from", "n_orderings", "n_items", "n_clusters"]
    columns += ["flag", "method", "logarithm"]
    rows = [{"logarithm": False} | row for row in rows]
    return tidy.make_table(rows, columns, {"logarithm": "bool"}).assign(confidence=confidence, level=level)


def _judged(row: Row, margin: float) -> Row:
    few = row["n_clusters"] < FEW_CLUSTERS
    has_margin = row["quantity"] in ("spread", "within", "needed")
    row = row | {"flag": flags.FEW_CLUSTERS if few else "", "margin": margin if has_margin else np.nan, "verdict": ""}
    if row["quantity"] not in ("spread", "within"):
        return row
    ends = np.array([row["low"]]), np.array([row["high"]])
    verdict = equivalence.verdict(*ends, margin)
    if verdict == equivalence.SHOWN and few:
        verdict = equivalence.UNDECIDED
    if verdict == equivalence.NOT_SHOWN and row["quantity"] == "within":
        verdict = equivalence.UNDECIDED  # all of ``within`` may be repetition
    return row | {"verdict": verdict}


class _Cells:
    """Reads in cells of item and ordering.

    Attributes:
        shared: True if a column is one ordering for all items.
        shape: numbers of items and of columns.
        reference: column of the usual ordering, or 0.
    """

    def __init__(self, block: blocks.Block) -> None:
        orderings, number = block.orderings
        self.block, self.items = block, len(block.items)
        self.shared = len(orderings) <= 2 * len(block.table) / self.items
        self.column = number if self.shared else block.column
        self.shape = self.items, int(self.column.max()) + 1
        rising = np.flatnonzero((np.diff(orderings, axis=1) > 0).all(axis=1)) if self.shared else []
        self.reference = int(rising[0]) if len(rising) else 0
        self.cell = block.item * self.shape[1] + self.column

    def sums(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.cell, np.nan_to_num(values), self.shape[0] * self.shape[1]).reshape(self.shape)

    def counts(self, values: np.ndarray) -> np.ndarray:
        return self.sums(~np.isnan(values) * 1.0)

    def means(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums(values) / np.where(self.counts(values) > 0, self.counts(values), np.nan)

    def variances(self, values: np.ndarray) -> np.ndarray:
        count, mean = self.counts(values), self.means(values)
        squares = self.sums(np.square(values - mean.ravel()[self.cell]))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(count > 1, squares / (count - 1) / count, np.nan)

    def times(self, scores: np.ndarray, n: int) -> np.ndarray:
        scored = ~np.isnan(scores)
        code = self.cell[scored] * n + scores[scored].astype(int) - 1
        return np.bincount(code, minlength=self.shape[0] * self.shape[1] * n).reshape(*self.shape, n).astype(float)

    def shares(self) -> np.ndarray:
        """Probability of each score, shape (m, D, n); NaN without a read whose probabilities are known."""
        block = self.block
        has_probabilities = block.table["position_probabilities"].notna().to_numpy()
        places = np.full(block.shown.shape, np.nan)
        places[has_probabilities] = blocks.matrix_of(
            block.table["position_probabilities"].to_numpy()[has_probabilities]
        )
        by_score = np.take_along_axis(places, np.argsort(block.shown, axis=1), axis=1)
        return np.stack([self.means(column) for column in by_score.T], axis=2)

    def first_two(self, values: np.ndarray) -> np.ndarray:
        """Scores of the first two scored reads, shape (2, m, D); NaN if a cell has fewer."""
        reads = np.full((2, self.shape[0] * self.shape[1]), np.nan)
        scored = np.flatnonzero(~np.isnan(values))
        for place in range(2):
            cells, first = np.unique(self.cell[scored], return_index=True)
            reads[place, cells] = values[scored[first]]
            scored = np.delete(scored, first)
        return reads.reshape(2, *self.shape)


def _readout_rows(
    block: blocks.Block,
    readout: Readout,
    values: np.ndarray,
    temperature: float | None,
    confidence: float,
    level: float,
    margin: float,
    kinds: Sequence[str],
) -> Iterator[Row]:
    cells = _Cells(block)
    by_read = values[block.item, block.column]
    means, repeated = cells.means(by_read), cells.variances(by_read)
    enough = _repeats_everywhere(repeated)
    if enough and readout == Readout.HARD and temperature != 0 and repetition.copied(block):
        enough = False
    if enough:
        means, noise, source = np.where(np.isnan(repeated), np.nan, means), repeated, repetition.REPEATS
    elif readout == Readout.SOFT:
        noise, source = np.where(np.isnan(means), np.nan, 0.0), spread.EXACT
    else:
        noise, source = _expected_variances(block, cells, readout, values, temperature)
    several = (~np.isnan(means)).sum(axis=1) > 1
    if not several.any():
        return
    drawn_from = cells.shape[1] if _shares_orderings(block, cells) else 0
    for cluster in kinds:
        unit = block.units(cluster, several)
        common = {"cluster": cluster, "known_from": source, "n_orderings": drawn_from}
        between_items, whole, added = spread.item_variances(means[several], noise[several], unit, shared=cells.shared)
        exact = not np.nan_to_num(noise).any()
        for quantity, variance, logarithm in (("spread", between_items, exact), ("within", whole, True)):
            columns = _mean(variance, unit, confidence, level, added=added, logarithm=logarithm, squared=True)
            how = " of its logarithm" if logarithm else ""
            method = f"method of moments; jackknife over {cluster}s{how}, Student's t by sizes of {cluster}s"
            row = common | {"quantity": quantity, "chance": np.nan, "method": method, "logarithm": logarithm}
            yield row | columns
        method = f"jackknife over {cluster}s, Student's t by sizes of {cluster}s"
        for quantity, moved, chance, unit_of in _changes(block, readout, by_read, cells, enough, cluster):
            columns = _mean(moved, unit_of, confidence, level)
            yield common | {"quantity": quantity, "chance": chance, "method": method} | columns
        if drawn_from:
            times = cells.counts(by_read)[several]
            reads = spread.single_reads(means[several], noise[several], times, unit, known=source != spread.UNKNOWN)
            method = f"jackknife over {cluster}s of the logarithm, Student's t by sizes of {cluster}s"
            for row in _few_read_rows(*reads, unit, drawn_from, confidence, level, margin):
                yield common | {"chance": np.nan, "method": f"draws without replacement; {method}"} | row


def _shares_orderings(block: blocks.Block, cells: _Cells) -> bool:
    design = block.design
    asked = len(design.times) / (design.n_items * len(design.orderings))
    few = cells.shape[1] <= by_ordering.MOST_ORDERINGS
    return bool(cells.shared and design.common.all() and few and asked >= 1 - MOST_MISSING)


def _few_read_rows(
    most: spread.SingleReads,
    least: spread.SingleReads,
    unit: np.ndarray,
    count: int,
    confidence: float,
    level: float,
    margin: float,
) -> Iterator[Row]:
    """Error of one read, and the number of orderings whose mean errs by the margin at most."""
    sizes = np.arange(1, count + 1)
    rows = [_few(most, least, int(k), unit, count, confidence, level) for k in sizes]
    rows[0] |= {"logarithm": True}
    yield {"quantity": "one_read"} | rows[0]
    errors = {name: np.array([row[name] for row in rows]) for name in ("estimate", *ENDS)}
    numbers: Row = dict.fromkeys(errors, np.nan)
    if not np.isnan(errors["estimate"]).any():
        for name, values in errors.items():
            size = ordering_subsets.needed(sizes, values, values, values, margin).estimate
            numbers[name] = np.nan if np.isnan(values).any() else np.inf if np.isnan(size) else size
    yield rows[0] | {"quantity": "needed"} | numbers


def _few(
    most: spread.SingleReads,
    least: spread.SingleReads,
    k: int,
    unit: np.ndarray,
    count: int,
    confidence: float,
    level: float,
) -> Row:
    """Error of a mean of k reads. Lower ends assume the least chance, other columns the most."""

    def columns(of: spread.SingleReads) -> Row:
        errors = spread.squared_errors(of, k, count)
        return _mean(errors, unit, confidence, level, logarithm=True, squared=True)

    row = columns(most)
    lower = row if least is most else columns(least)
    return row | {"ci_low": lower["ci_low"], "low": lower["low"]}


def _repeats_everywhere(repeated: np.ndarray) -> bool:
    return bool(((~np.isnan(repeated)).mean(axis=0) >= 0.5).all())


def _expected_variances(
    block: blocks.Block, cells: _Cells, readout: Readout, values: np.ndarray, temperature: float | None
) -> tuple[np.ndarray, str]:
    variances = repetition.variances(block, readout, values, temperature)
    if variances is None or variances[1] != repetition.PROBABILITIES:
        return np.full(cells.shape, np.nan), spread.UNKNOWN
    by_read = variances[0][block.item, block.column]
    with np.errstate(invalid="ignore", divide="ignore"):
        return cells.means(by_read) / cells.counts(by_read), variances[1]


def _changes(
    block: blocks.Block, readout: Readout, read: np.ndarray, cells: _Cells, repeats: bool, cluster: str
) -> Iterator[tuple[str, np.ndarray, float, np.ndarray]]:
    """Quantity, share of each item or prompt that changes, share by chance, cluster of each."""
    reference = cells.reference
    if readout == Readout.SOFT:
        moved, chance = spread.moved_by_probabilities(cells.shares(), reference), 0.0
    else:
        moved, chance = np.full(cells.items, np.nan), np.nan
        if repeats:
            times = cells.times(read, block.n)
            moved = spread.moved_by_repeats(times, reference)
            chance = float(np.nanmean(spread.moved_by_chance(times)))
    yield "changed", moved, chance, block.units(cluster)
    if "candidate" not in block.items or "criterion" not in block.items:
        return
    prompts, rows = rankings.prompts(block.items)
    if not len(prompts):
        return
    unit = pd.factorize(prompts["group_id"])[0] if cluster == "group" else np.arange(len(prompts))
    if readout == Readout.SOFT:
        moved, chance = _flips(_candidate_scores(np.round(cells.means(read), SAME), rows), reference), 0.0
    elif repeats:
        one, two = (_candidate_scores(scores, rows) for scores in cells.first_two(read))
        by_chance = rankings.compare_rankings(one, two).top1_flip  # shape (orderings, prompts)
        others = np.delete(by_chance, reference, axis=0)
        chances = (others.mean(axis=0) + by_chance[reference]) / 2
        moved, chance = _flips(one, reference) - chances, float(np.nanmean(chances))
    else:
        moved, chance = np.full(len(prompts), np.nan), np.nan
    yield "best_changed", moved, chance, unit


def _candidate_scores(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    padded = np.vstack([values, np.full(values.shape[1], np.nan)])  # row -1 is for a missing candidate
    return np.moveaxis(padded[rows], 2, 0)


def _flips(scores: np.ndarray, reference: int) -> np.ndarray:
    others = np.delete(scores, reference, axis=0)
    return rankings.compare_rankings(others, scores[reference]).top1_flip.mean(axis=0)


def _mean(
    values: np.ndarray,
    unit: np.ndarray,
    confidence: float,
    level: float,
    *,
    added: float = 0.0,
    logarithm: bool = False,
    squared: bool = False,
) -> Row:
    """Mean of the items' values that are not NaN, or its root if values are squares."""
    has_value = ~np.isnan(values)
    counts = {"n_items": int(has_value.sum()), "n_clusters": len(np.unique(unit[has_value]))}
    if not has_value.any():
        return counts | dict.fromkeys(("estimate", "ci_low", "ci_high", "low", "high"), np.nan)
    numbers = np.unique(unit[has_value], return_inverse=True)[1]
    mean = spread.mean_interval(
        values[has_value], numbers, confidence=confidence, level=level, added=added, logarithm=logarithm
    )
    columns = ("estimate", "ci_low", "ci_high", "low", "high")
    return counts | dict(zip(columns, spread.root(mean) if squared else mean, strict=True))
