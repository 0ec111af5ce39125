"""Consistency and fairness of comparisons by the quality gap, and their arithmetic relation to it.

In a win rate, a win counts 1, and an inconsistent comparison or a tie counts 1/p, where p is the number of candidates,
as in Shi et al.'s overall win rate (Section 2.3). In a set of m pairs, 1/p is a half. So only consistent pairs move the
win rate of the set away from a half, each by at most a half divided by m. Therefore the consistency of the set is at
least twice the distance of its win rate from a half, for any judge.
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
    """Collect comparisons with a baseline, and their gaps: one table for each combination of `SHARED` and benchmark.

    Args:
        tables: scores with the columns `NEEDED` and `KEYS`, one table per judge and dataset.
        forms: dictionary from benchmark to the forms of answers (column `pattern`) that count. For a benchmark that is
            not in the dictionary, all forms count.
        lists: True to include lists without a baseline, with one row for each candidate of a comparison.

    Yields:
        The keys that the comparisons share, and a table of all judges. The table has one row per judge and comparison
        that the judge read in all orders, with a choice in each. Its columns are

        - `CELL`, `unit_id`, `group_id`, `consistent`;
        - `leaning`, see `series.leaning`;
        - `won`: contribution to the candidate's win rate: 1, 0, or 1/p if no candidate wins in all orders;
        - `winners`: the chosen candidate in each order;
        - `shown`: the candidates at each position in each order;
        - a column for each of `KINDS` with the gap of this kind, NaN where it cannot be computed.

        Three gaps are the distance of a win rate of the candidate from 1/p. For ``own``, this is the win rate in the
        cell of judge, candidate and task (`rate_own`). For ``crossed``, it is the win rate in this cell without the
        comparison's question (`rate_crossed`). For ``others``, it is the mean of the other judges' win rates for this
        candidate and task (`rate_others`). The gap ``human`` is the size of the difference between the human scores of
        a pair.
    """
    keys = [*SHARED, "benchmark"]
    parts: dict[tuple[Any, ...], list[pd.DataFrame]] = {}
    for table in tables:
        kept = table["candidate"].notna() | (lists & (table["n"] > 2))
        for key, block in table[kept].groupby([*keys, "judge"], sort=True):
            shared = dict(zip(keys, key[:-1], strict=True))
            reads = comparison_reads.first_run(comparison_reads.prepared(block, forms.get(shared["benchmark"])))
            part = _comparisons(reads, int(shared["n"]))
            if len(part):
                parts.setdefault(key[:-1], []).append(part.assign(judge=key[-1]))
    for key in sorted(parts):
        yield dict(zip(keys, key, strict=True)), _with_gaps(pd.concat(parts[key], ignore_index=True), int(key[-2]))


def _comparisons(reads: pd.DataFrame, p: int) -> pd.DataFrame:
    size = reads.groupby("unit_id")["order"].transform("size")
    reads = reads[(size == size.max()) & (size > 1)]
    if reads.empty:
        return reads
    winners, places = (reads[name].to_numpy().reshape(-1, int(size.max())) for name in ("winner", "place"))
    shown = np.array([list(row) for row in reads["ordering"]], dtype=int).reshape(*winners.shape, p)
    units = reads.drop_duplicates("unit_id").reset_index(drop=True)
    # A list without a baseline has one row for each of its candidates.
    candidates = units["candidate"].where(units["candidate"].notna(), units["candidates"].map(list)).explode()
    rows = candidates.index.to_numpy()
    winners, places, shown = winners[rows], places[rows], shown[rows]
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
        shown=list(shown),
        human=human,
    )
    return table[series.valid(winners)]


def _with_gaps(table: pd.DataFrame, p: int) -> pd.DataFrame:
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
    """True if a judge's comparisons are in too few cells for slopes and bins over a kind of gap.

    A ``crossed`` gap leaves out the comparison's own question. So the ``crossed`` gaps in a cell differ only by the
    question that is left out. If this question moves the cell's win rate away from 1/p, the gap without it is smaller.
    Only a consistent comparison can move the win rate away from 1/p. So a consistent comparison tends to have a smaller
    gap than an inconsistent comparison of its cell. With many cells, differences between cells outweigh this effect.
    With few cells, slopes of consistency over the gap are below 0 on average even for a judge that ignores quality.

    A simulation has 300 judges that ignore quality. Each judge compares candidates with a baseline. It is consistent in
    60% of the pairs. Of these consistent verdicts, 80% are for the candidate, with the same share for every candidate.
    With 80 pairs in each cell, the mean slope over the judges is -2.6 for 3 cells, -.8 for 5 cells, -.2 for 10 cells,
    and -.1 for 20 cells. With 5 pairs in each cell, it is -.01 for 240 cells.

    Args:
        table: comparisons of one judge, see `settings`.
        kind: kind of the gap, one of `KINDS`. Only ``crossed`` and ``others`` can have too few cells. All comparisons
            of a cell have the same gap ``others``, so cells are the sample.
    """
    return kind in ("crossed", "others") and len(table[CELL].drop_duplicates()) < LEAST_CELLS


def bins(gap: np.ndarray, count: int) -> np.ndarray:
    """Bin of each comparison by its gap, from 0, shape (m,).

    The cuts between bins lie between distinct gaps, so comparisons with equal gaps share a bin. Each cut is as near as
    possible to a cut between bins with equal numbers of comparisons. If even the nearest possible cut is more than half
    a bin away, the cut is left out. So there can be fewer bins than `count`.

    Args:
        gap: gap of each comparison, shape (m,).
        count: number of bins.
    """
    distinct, which, size = np.unique(np.round(gap, 9), return_inverse=True, return_counts=True)
    ends = np.cumsum(size)[:-1] / len(gap)
    cut: np.ndarray = np.zeros(len(distinct), dtype=int)
    for wanted in np.arange(1, count) / count if len(ends) else []:
        nearest = int(np.abs(ends - wanted).argmin())
        if abs(ends[nearest] - wanted) <= 1 / (2 * count):
            cut[nearest + 1] = 1
    return np.cumsum(cut)[which.ravel()]


def implied(beta: float, log_odds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Expected results of a judge of pairs whose verdicts depend only on quality and position.

    Verdicts are independent, and there are no ties.

    Args:
        beta: log-odds that the first position adds over the second.
        log_odds: log-odds of the candidate over the baseline, shape (m,).

    Returns:
        Overall win rate, consistency and preference fairness, each of shape (m,).
    """
    first, last = special.expit(log_odds + beta), special.expit(log_odds - beta)
    both, none = first * last, (1 - first) * (1 - last)
    return both + (1 - both - none) / 2, both + none, (1 - first) * last - first * (1 - last)
