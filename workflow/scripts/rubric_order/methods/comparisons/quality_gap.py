"""Consistency and fairness of comparisons by the quality gap, and their arithmetic relation to it.

A win counts 1, an inconsistent comparison or tie 1/p (Shi et al., Section 2.3). So only consistent pairs move a win
rate from a half, and consistency is at least twice that distance, for any judge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from rubric_order.base.keys import KEYS
from rubric_order.methods.comparisons import comparison_reads, series

NEEDED: tuple[str, ...] = ("unit_id", "group_id", "benchmark", "task", "candidate", "candidates", "human_scores")
NEEDED += ("ordering", "repeat", "score", "position", "pattern")
CELL = ["judge", "candidate", "task"]
SHARED = [key for key in KEYS if key != "judge"]
KINDS = ("own", "crossed", "others", "human")
LEAST_CELLS = 20  # cells that a judge needs for slopes and bins over ``crossed`` gaps, see `few_cells`


def settings(
    tables: Iterable[pd.DataFrame], forms: Mapping[str, Sequence[str]], *, lists: bool = False
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Comparisons with a baseline and their gaps, a table for each combination of `SHARED` and benchmark; with `lists`,
    also lists without one, a row for each candidate.

    A row is a judge's comparison with a choice in all orders: `leaning` (`series.leaning`), `won` (1, 0, or 1/p), and
    gaps of `KINDS`: distance of a win rate from 1/p, ``own`` of the cell, ``crossed`` without the question, ``others``
    by the other judges; ``human`` is the difference of human scores.
    """
    keys = [*SHARED, "benchmark"]
    parts: dict[tuple[Any, ...], list[pd.DataFrame]] = {}
    for table in tables:
        chosen = table["candidate"].notna() | (lists & (table["n"] > 2))
        for key, block in table[chosen].groupby([*keys, "judge"], sort=True):
            shared = dict(zip(keys, key[:-1], strict=True))
            reads = comparison_reads.first_run(comparison_reads.prepared(block, forms.get(shared["benchmark"])))
            part = _comparisons(reads, int(shared["n"]))
            if len(part):
                parts.setdefault(key[:-1], []).append(part.assign(judge=key[-1]))
    for key in sorted(parts):
        yield dict(zip(keys, key, strict=True)), _add_gaps(pd.concat(parts[key], ignore_index=True), int(key[-2]))


def _comparisons(reads: pd.DataFrame, p: int) -> pd.DataFrame:
    size = reads.groupby("unit_id")["order"].transform("size")
    reads = reads[(size == size.max()) & (size > 1)]
    if reads.empty:
        return reads
    winners, places = (reads[name].to_numpy().reshape(-1, int(size.max())) for name in ("winner", "place"))
    orders = np.array([list(row) for row in reads["ordering"]], dtype=int).reshape(*winners.shape, p)
    units = reads.drop_duplicates("unit_id").reset_index(drop=True)
    # A list without a baseline has one row for each of its candidates.
    candidates = units["candidate"].where(units["candidate"].notna(), units["candidates"].map(list)).explode()
    rows = candidates.index.to_numpy()
    winners, places, orders = winners[rows], places[rows], orders[rows]
    units = units.iloc[rows].assign(candidate=candidates)
    number = [
        list(listed).index(name) + 1 for listed, name in zip(units["candidates"], units["candidate"], strict=True)
    ]
    human = [np.nan if scores is None or p != 2 else abs(scores[0] - scores[1]) for scores in units["human_scores"]]
    table = units[["unit_id", "group_id", "candidate", "task"]].assign(
        consistent=series.consistent(winners),
        leaning=series.leaning(places, winners, p=p),
        won=series.overall_win_rate(winners, candidate=np.array(number), p=p),
        winners=list(winners),
        shown=list(orders),
        human=human,
    )
    return table[series.valid(winners)]


def _add_gaps(table: pd.DataFrame, p: int) -> pd.DataFrame:
    of_cell = table.groupby(CELL)["won"]
    count, total = of_cell.transform("size"), of_cell.transform("sum")
    # A question can have several comparisons, for example under two criteria. They are left out together.
    same = table.groupby([*CELL, "group_id"])["won"]
    left, rest = count - same.transform("size"), total - same.transform("sum")
    table = table.assign(rate_own=total / count, rate_crossed=rest / left.where(left > 0))
    cells = table.groupby(CELL, as_index=False)["rate_own"].first()
    by = cells.groupby(CELL[1:])["rate_own"]
    others = by.transform("size") - 1
    cells["rate_others"] = (by.transform("sum") - cells["rate_own"]) / others.where(others > 0)
    table = table.merge(cells.drop(columns="rate_own"), on=CELL, how="left")
    gaps = {kind: (table[f"rate_{kind}"] - 1 / p).abs() for kind in ("own", "crossed", "others")}
    return table.assign(**gaps)


def few_cells(table: pd.DataFrame, kind: str) -> bool:
    """True if a judge's comparisons are in too few cells for slopes and bins over ``crossed`` or ``others`` gaps.

    ``crossed`` leaves out its own question, so a consistent comparison has a smaller gap than others of its cell: for
    judges blind to quality (300 simulated, 80 pairs a cell), mean slopes were -2.6 in 3 cells, -.2 in 10, -.1 in 20.
    """
    return kind in ("crossed", "others") and len(table[CELL].drop_duplicates()) < LEAST_CELLS


def bins(gap: np.ndarray, count: int) -> np.ndarray:
    """Bin of each comparison by its gap, from 0. Equal gaps share one: a cut moves by half a bin, or is left out."""
    distinct, which, size = np.unique(np.round(gap, 9), return_inverse=True, return_counts=True)
    ends = np.cumsum(size)[:-1] / len(gap)
    cut: np.ndarray = np.zeros(len(distinct), dtype=int)
    for wanted in np.arange(1, count) / count if len(ends) else []:
        nearest = int(np.abs(ends - wanted).argmin())
        if abs(ends[nearest] - wanted) <= 1 / (2 * count):
            cut[nearest + 1] = 1
    return np.cumsum(cut)[which.ravel()]


def implied(beta: float, log_odds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Win rate, consistency and preference fairness, shape (m,), of verdicts that are independent, without ties, by
    quality and position alone.
    """
    first, last = special.expit(log_odds + beta), special.expit(log_odds - beta)
    both, none = first * last, (1 - first) * (1 - last)
    return both + (1 - both - none) / 2, both + none, (1 - first) * last - first * (1 - last)
