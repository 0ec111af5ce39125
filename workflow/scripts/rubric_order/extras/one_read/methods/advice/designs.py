"""Study designs whose reads are among a pilot's own reads, so that the pilot can predict their precision."""

from typing import NamedTuple

import numpy as np

from rubric_order import strategies

FEW_READS = (2, 3, 5)  # numbers of reads per item by strategy `random`


class Design(NamedTuple):
    """Reads of an item in a planned study; `columns` are the pilot's orderings, empty if each item has its own."""

    strategy: str
    budget: int | None
    orderings: int
    repeats: int
    columns: tuple[int, ...] = ()

    @property
    def reads(self) -> int:
        """Number of reads per item."""
        return self.orderings * self.repeats

    @property
    def name(self) -> str:
        """Name of the strategy, with its budget."""
        return self.strategy if self.budget is None else f"{self.strategy}, {self.budget} reads"


def possible(shown: np.ndarray, repeats: int, *, crossed: bool) -> list[Design]:
    """Designs of configs whose reads a pilot has made, fewest first. `crossed`: every score in every position."""
    n = shown.shape[1]
    column = {tuple(row): place for place, row in enumerate(shown.tolist())}
    designs = []
    if not crossed and len(shown) > 1:
        designs.append(Design("rotated", None, 1, 1))
        designs += [Design("random", reads, reads, 1) for reads in FEW_READS if reads < len(shown)]
    forms = {"balanced": strategies.balanced(n), "repeated_rotations": strategies.rotations(n)}
    if len(shown) == _factorial(n) and n > 2:
        forms["all"] = shown
    for name, rows in forms.items():
        rows, times = np.unique(rows, axis=0, return_counts=True)
        columns = tuple(column[tuple(row)] for row in rows.tolist() if tuple(row) in column)
        if len(columns) < len(rows):
            continue
        if name == "repeated_rotations":
            often = range(2 if n > 2 else 3, repeats + 1)  # with two levels, `balanced` reads both orderings twice
            designs += [Design(name, len(rows) * times, len(rows), times, columns) for times in often]
        elif times[0] <= repeats:
            designs.append(Design(name, None, len(rows), int(times[0]), columns))
    return sorted(designs, key=lambda design: design.reads)


def _factorial(n: int) -> int:
    return int(np.prod(np.arange(1, n + 1)))
