"""Versions behind a judge's answers."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order.methods import tidy

COLUMNS: dict[str, list[str]] = {}


def estimate(answers: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Number of answers that each version of a kind (`what`) gave; `mixed` where a judge has several of a kind.

    A judge whose answers were recorded elsewhere has no row.
    """
    rows = [
        (judge, what, version, n_answers, len(counts) > 1)
        for judge, record in answers.items()
        for what, counts in sorted(record["versions"].items())
        for version, n_answers in sorted(counts.items())
    ]
    columns = ["judge", "what", "version", "n_answers", "mixed"]
    return tidy.typed(pd.DataFrame(rows, columns=columns), {"mixed": "bool"})
