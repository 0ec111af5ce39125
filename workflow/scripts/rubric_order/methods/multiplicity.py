"""p-values that take into account how many tests were made."""

import numpy as np
import pandas as pd


def holm(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values that control the probability of any false rejection, under any dependence of the tests.

    Args:
        p: p-values of one family, shape (m,); NaN where there is none: it does not count, and stays NaN.

    Returns:
        Shape (m,): the smallest level at which Holm's procedure rejects each hypothesis.

    Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    return _stepwise(p, lambda sorted_p, m: np.maximum.accumulate(sorted_p * (m - np.arange(m))))


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values that control the false discovery rate, for tests that are independent or positively dependent.

    Args:
        p: as in `holm`.

    Source: Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """
    return _stepwise(p, lambda sorted_p, m: np.minimum.accumulate((sorted_p * m / np.arange(1, m + 1))[::-1])[::-1])


def _stepwise(p: np.ndarray, adjust) -> np.ndarray:
    p = np.asarray(p, dtype=float)
    result = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    result[order] = np.minimum(adjust(p[order], len(order)), 1)
    return result


def adjust(table: pd.DataFrame, column: str, family: list[str]) -> pd.DataFrame:
    """The table with `p_holm`, `p_bh` and `n_tests`: p-values of a column adjusted within each family.

    Args:
        table: estimates; rows without a p-value belong to no family.
        column: of the p-values.
        family: columns that tell families apart.
    """
    tested = table[column].notna()
    families = table[tested].groupby(family)[column]
    adjusted = {"p_holm": families.transform(holm), "p_bh": families.transform(benjamini_hochberg)}
    return table.assign(**adjusted, n_tests=families.transform("size").astype("Int64"))
