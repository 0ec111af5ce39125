"""Where options stand in an ordering: entry p - 1 of a row is the option, from 1, at position p."""

import numpy as np


def positions_of(orderings: np.ndarray) -> np.ndarray:
    """Inverse permutations: entry k - 1 of a row is the 1-based position of option k. Same shape as the input."""
    return np.argsort(orderings, axis=-1) + 1


def predecessors(orderings: np.ndarray) -> np.ndarray:
    """Which option comes right before: entry k - 1 of a row is the one before option k, 0 where k is the first.

    Same shape as the input.
    """
    before = np.concatenate([np.zeros_like(orderings[..., :1]), orderings[..., :-1]], axis=-1)
    return np.take_along_axis(before, np.argsort(orderings, axis=-1), axis=-1)
