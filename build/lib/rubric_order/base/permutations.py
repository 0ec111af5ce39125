"""Positions of options in an ordering: entry p - 1 of a row is the option, from 1, at position p."""

import numpy as np


def positions_of(orderings: np.ndarray) -> np.ndarray:
    """Inverse permutations: entry k - 1 of a row is the 1-based position of option k. Same shape as the input."""
    return np.argsort(orderings, axis=-1) + 1
