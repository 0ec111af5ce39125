"""p-values adjusted for how many tests were made: one policy for all statistics.

A family holds all tests of one question over judges, profiles, datasets, scales and criteria of a study: tests that
agree in the columns `ASKED` and in whether those of `TOGETHER` have one value or all. `p_holm`, by which tables mark
results, controls any false rejection, `p_bh` their share. Intervals are not adjusted.
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
    """Adjusted p-values against any false rejection, whatever dependence; NaN is no test.

    Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    return _stepwise(p, lambda sorted_p, m: np.maximum.accumulate(sorted_p * (m - np.arange(m))))


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values by false discovery rate, for independent or positively dependent tests; NaN is no test.

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
    """Add `p_holm`, `p_bh` (or those of `name`) and `n_tests`, the family's size; rows without a p are in none."""
    p = table[column].to_numpy(dtype=float)
    adjusted = {f"{name}_{method}": np.full(len(p), np.nan) for method in ("holm", "bh")}
    n_tests: np.ndarray = np.zeros(len(p), dtype=np.int64)
    for rows in _families(table, np.flatnonzero(~np.isnan(p))):
        adjusted[f"{name}_holm"][rows] = holm(p[rows])
        adjusted[f"{name}_bh"][rows] = benjamini_hochberg(p[rows])
        n_tests[rows] = len(rows)
    return table.assign(**adjusted, n_tests=pd.Series(n_tests, table.index, "Int64").mask(n_tests == 0))


def _families(table: pd.DataFrame, tested: np.ndarray) -> list[np.ndarray]:
    """Indices of the rows of each family, among the `tested` ones."""
    asked = [pd.factorize(table[key])[0] for key in ASKED if key in table]
    for key, values in TOGETHER.items():
        if key in table:
            asked.append((table[key].notna() & ~table[key].isin(values)).to_numpy(dtype=bool))
    if not asked:
        return [tested]
    return [tested[rows] for rows in places_of(*(answers[tested].tolist() for answers in asked)).values()]
