"""Positions of options in an ordering: entry p - 1 of a row is the option, from 1, at position p."""

import numpy as np


def positions_of(orderings: np.ndarray) -> np.ndarray:
    """Inverse permutations, of the shape of the input: entry k - 1 of a row is the position of option k, from 1."""
    return np.argsort(orderings, axis=-1) + 1
