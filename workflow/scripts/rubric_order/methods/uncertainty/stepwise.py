"""Linear models of factors, and the stepwise search for the model with the least AIC, like R's `step`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class Linear(NamedTuple):
    """Residual sum of squares, determined coefficients (with the intercept), and rows of a linear model."""

    rss: float
    rank: int
    n: int

    @property
    def aic(self) -> float:
        return aic(self.rss, self.rank, self.n)


class Removal(NamedTuple):
    """Model without one of its terms; `term` is None for the whole model."""

    term: str | None
    df: int
    sum_of_squares: float
    rss: float
    aic: float


def aic(rss: float, rank: int, n: int) -> float:
    """n ln(RSS / n) + 2 rank, as R's `extractAIC`, and as Shi et al. print.

    Their Equation 6 also counts the variance and n ln(2 pi) + n; differences are the same.
    """
    return n * float(np.log(rss / n)) + 2 * rank


def columns(values: Sequence[Any]) -> np.ndarray:
    """Columns of a term: numbers as they are; for a factor, one column per level."""
    array = np.asarray(values)
    if array.dtype.kind in "fiub":
        return array.astype(float)[:, None]
    _, code = np.unique(array.astype(str), return_inverse=True)
    return np.eye(int(code.max(initial=-1)) + 1)[code]


def fit(y: np.ndarray, terms: Mapping[str, np.ndarray]) -> Linear:
    """Least squares of an outcome on an intercept and some terms, which may be collinear."""
    x = np.column_stack([np.ones(len(y)), *terms.values()])
    scale = np.abs(x).max(axis=0)
    values, vectors = np.linalg.eigh((x / scale).T @ (x / scale))
    positive = values > 1e-10 * values.max()
    basis = x / scale @ vectors[:, positive] / np.sqrt(values[positive])
    rest = y - basis @ (basis.T @ y)
    return Linear(float(rest @ rest), int(positive.sum()), len(y))


def removals(y: np.ndarray, terms: Mapping[str, np.ndarray]) -> list[Removal]:
    """The whole model, and the model without each term, sorted by AIC: a table of Shi et al.'s Appendix E."""
    whole = fit(y, terms)
    rows = [Removal(None, 0, 0.0, whole.rss, whole.aic)]
    for name in terms:
        less = fit(y, {key: value for key, value in terms.items() if key != name})
        rows.append(Removal(name, whole.rank - less.rank, less.rss - whole.rss, less.rss, less.aic))
    return sorted(rows, key=lambda removal: (removal.aic, removal.term or ""))


def search(y: np.ndarray, terms: Mapping[str, np.ndarray]) -> list[str]:
    """Terms of the model that neither dropping nor adding one improves, by steps of least AIC from all terms.

    Source: Venables and Ripley (2002), Modern Applied Statistics with S, Section 6.8; R's `step(direction = "both")`.
    """
    chosen = list(terms)
    best = fit(y, terms).aic
    while True:
        moves = [[name for name in terms if (name in chosen) != (name == moved)] for moved in terms]
        scored = [(fit(y, {name: terms[name] for name in move}).aic, move) for move in moves]
        least, move = min(scored, key=lambda pair: pair[0])
        if least >= best - 1e-7:
            return chosen
        best, chosen = least, move
