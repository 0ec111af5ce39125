"""Versions of engine, weights and server that gave a judge's answers, and a mark for several versions."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order.methods import tidy

COLUMNS: dict[str, list[str]] = {}


def estimate(answers: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Number of answers that each version gave.

    Returns:
        One row per judge, kind of version (`what`, such as ``version of the engine`` or ``revision``) and `version`,
        with `n_answers`. `mixed` is True if this judge has several versions of that kind. These are counts, without
        random draws. A judge whose answers were recorded elsewhere has no known versions and no row.
    """
    rows = [
        (judge, what, version, n_answers, len(counts) > 1)
        for judge, told in answers.items()
        for what, counts in sorted(told["versions"].items())
        for version, n_answers in sorted(counts.items())
    ]
    columns = ["judge", "what", "version", "n_answers", "mixed"]
    return tidy.typed(pd.DataFrame(rows, columns=columns), {"mixed": "bool"})
