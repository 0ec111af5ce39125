"""What an estimate is about."""

# Checks of a config read the constants of this module: pandas is slow to import.
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# One group of reads: a study's reads of a dataset by a judge under a profile, one strategy and one number of levels.
KEYS = ["study", "judge", "profile", "dataset", "strategy", "n"]

# What resampling may draw: single items, or groups of items that share a prompt, an article or a story.
CLUSTERS = ("group", "item")

# Strategies that show every score, or criterion, in every position.
CROSSED = ("balanced", "random", "all", "balanced_williams")

EVERY = "all"  # in place of a dataset or study: all of them together


def typed(rows: list[dict], columns: list[str], words: list[str]) -> pd.DataFrame:
    """Estimates as a table sorted by `KEYS`, of the same types also without a row.

    Args:
        rows: one an estimate; what a row lacks is missing.
        columns: of the table. Those of `KEYS` and `words` are texts but for `n`, which with counts (``n_...``) is a
            whole number; all others are real numbers.
    """
    import pandas as pd

    texts = dict.fromkeys([*KEYS[:-1], *words], "str")
    counts = {column: int for column in columns if column == "n" or column.startswith("n_")}
    numbers = {column: float for column in columns if column not in texts | counts}
    table = pd.DataFrame(rows, columns=columns)
    types = {column: kind for column, kind in (texts | counts | numbers).items() if column in columns}
    return table.astype(types).sort_values([key for key in KEYS if key in columns], kind="stable", ignore_index=True)
