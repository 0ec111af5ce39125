"""p-values that take into account how many tests were made: one policy for all statistics.

A family holds all tests of one question, over all judges, profiles, datasets, scales and criteria of a study. Two tests
belong to different families if they differ in a column of `ASKED`, or if a column of `TOGETHER` has a single value for
one test and several values together for the other. These columns say

- the quantity, the strategies, the readout and the condition;
- the advice that a prompt follows;
- the clusters that are the sample;
- the kind of things that are compared;
- whether one judge or a mean over judges is tested;
- whether datasets, or criteria, are tested together or one by one.

No statistic has a policy of its own.

`p_holm` controls the probability of any false rejection in a family, `p_bh` the share of false rejections among all
rejections. Tables mark results that are significant by `p_holm`. Intervals are not adjusted: each is for one estimate.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from rubric_order.base.keys import EVERY, MACRO, MEAN
from rubric_order.base.rows import places_of

# Columns that say what a test asks; a table may lack some of them.
ASKED: tuple[str, ...] = ("study", "condition", "strategy", "baseline", "other", "readout", "cluster", "model", "basis")
ASKED += ("comparison", "compared", "quantity", "advice", "term")
# Dictionary from a column to those of its values that stand for several other values together.
TOGETHER = {"dataset": (EVERY, MEAN), "criterion": (EVERY, MACRO)}


def holm(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values that control the probability of any false rejection, under any dependence of the tests.

    Args:
        p: p-values of one family, shape (m,). NaN marks a missing p-value: it does not count as a test, and stays NaN.

    Returns:
        Shape (m,): the smallest level at which Holm's procedure rejects each hypothesis.

    Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    return _stepwise(p, lambda sorted_p, m: np.maximum.accumulate(sorted_p * (m - np.arange(m))))


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values that control the false discovery rate, for tests that are independent or positively dependent.

    Args:
        p: p-values of one family, shape (m,). NaN marks a missing p-value: it does not count as a test, and stays NaN.

    Source: Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """
    return _stepwise(p, lambda sorted_p, m: np.minimum.accumulate((sorted_p * m / np.arange(1, m + 1))[::-1])[::-1])


def _stepwise(p: np.ndarray, adjust: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
    p = np.asarray(p, dtype=float)
    result = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    result[order] = np.minimum(adjust(p[order], len(order)), 1)
    return result


def adjust(table: pd.DataFrame, column: str = "p", *, name: str = "p") -> pd.DataFrame:
    """Add `p_holm`, `p_bh` and `n_tests`: p-values of a column adjusted within each family, and the family's size.

    Args:
        table: estimates; rows without a p-value belong to no family.
        column: column of the p-values.
        name: beginning of the names of the new columns, before ``_holm`` and ``_bh``.
    """
    p = table[column].to_numpy(dtype=float)
    adjusted = {f"{name}_{method}": np.full(len(p), np.nan) for method in ("holm", "bh")}
    n_tests: np.ndarray = np.zeros(len(p), dtype=np.int64)
    for rows in _families(table, np.flatnonzero(~np.isnan(p))):
        adjusted[f"{name}_holm"][rows] = holm(p[rows])
        adjusted[f"{name}_bh"][rows] = benjamini_hochberg(p[rows])
        n_tests[rows] = len(rows)
    return table.assign(**adjusted, n_tests=pd.Series(n_tests, table.index, "Int64").mask(n_tests == 0))


def _families(table: pd.DataFrame, tested: np.ndarray) -> list[np.ndarray]:
    """Indices of the rows of each family.

    Args:
        table: estimates, one per row.
        tested: indices of the rows with a p-value.
    """
    asked = [pd.factorize(table[key])[0] for key in ASKED if key in table]
    for key, values in TOGETHER.items():
        if key in table:
            asked.append((table[key].notna() & ~table[key].isin(values)).to_numpy(dtype=bool))
    if not asked:
        return [tested]
    return [tested[rows] for rows in places_of(*(answers[tested].tolist() for answers in asked)).values()]
