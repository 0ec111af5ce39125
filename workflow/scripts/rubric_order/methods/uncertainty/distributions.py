"""Tails, quantiles and ranks, by `scipy.special`: `scipy.stats` takes as long to load as a short job to run."""

import numpy as np
import pandas as pd
from scipy import special


def normal_tail(value: float | np.ndarray) -> float | np.ndarray:
    """Probability that a standard normal variable is greater than `value`, of any shape."""
    return special.ndtr(-np.asarray(value))


def normal_quantile(probability: float) -> float:
    """The value below which a standard normal variable lies with the given probability."""
    return float(special.ndtri(probability))


def t_tail(value: float | np.ndarray, df: float) -> float | np.ndarray:
    """Probability that Student's t is greater than `value`, of any shape."""
    return special.stdtr(df, -np.asarray(value))


def t_quantile(probability: float, df: float) -> float:
    """The value below which Student's t lies with the given probability."""
    return special.stdtrit(df, probability)


def f_tail(value: float | np.ndarray, df: float, df_rest: float) -> float | np.ndarray:
    """Probability that an F variable is greater than `value`, of any shape."""
    return special.fdtrc(df, df_rest, np.maximum(value, 0))


def chi_square_tail(value: float | np.ndarray, df: float) -> float | np.ndarray:
    """Probability that a chi-square variable is greater than `value`, of any shape."""
    return special.chdtrc(df, np.maximum(value, 0))  # a sum of squares may be rounded to less than 0


def chi_square_critical(level: float, df: float) -> float:
    """The value that a chi-square variable exceeds with a probability of `level`."""
    return special.chdtri(df, level)


def ranks(values: np.ndarray, *, axis: int, ties: str = "average") -> np.ndarray:
    """Ranks from 1 along an axis of a matrix, `ties` "average" or "dense"; NaN has none and changes none."""
    return pd.DataFrame(values).rank(axis=axis, method=ties).to_numpy()
