"""Frequency of scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import golden, variants
from rubric_order.methods.agreement.variants import SHARED, Variants

COLUMNS = {"scores": variants.COLUMNS, "items": golden.COLUMNS}
FAILED = -1


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    bases: Mapping[str, Sequence[str]],
    items: pd.DataFrame,
    human_scales: Mapping[str, Sequence[float]],
    golden_scores: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Counts of first reads by score on the items read in all variants; -1: no score; `share` is of `n_items`.

    Scores are counted from 1 if the scales of datasets begin with different numbers.

    Source: Li et al. (2025), Equations 3 and 4, Figure 6.
    """
    golden_by_item = golden.item_golds(items, human_scales, golden_scores)
    rows = [
        row
        for setting in variants.variants(scores, bases)
        if setting.keys["readout"] == Readout.HARD
        for row in _rows(setting, golden_by_item)
    ]
    columns = [*SHARED, "varied", "order", "kind", "score", "n_scores", "share", "n_constrained", "n_items"]
    return tidy.make_table(rows, columns, {"score": "Int8"})


def _rows(found: Variants, known: pd.DataFrame) -> Iterator[Row]:
    n, keys = found.keys["n"], {name: found.keys[name] for name in SHARED}
    for source, gold in golden.sources(found.items, known, n).items():
        common = keys | {"varied": source, "order": "", "kind": "golden", "n_constrained": 0}
        yield from _counts(common, np.floor(gold + 0.5 + 1e-9), n, found.lowest, failures=False)
    for place in range(len(found.names)):
        common = found.about(place) | {"n_constrained": int(found.constrained[:, place].sum())}
        yield from _counts(common, found.first[:, place], n, found.lowest, failures=True)


def _counts(about: Row, scores: np.ndarray, n: int, lowest: int, *, failures: bool) -> Iterator[Row]:
    missing = np.isnan(scores)
    total = len(scores) if failures else int((~missing).sum())
    counts = {score + lowest - 1: int((scores == score).sum()) for score in range(1, n + 1)}
    for score, count in (({FAILED: int(missing.sum())} if failures else {}) | counts).items():
        share = count / total if total else np.nan
        yield about | {"score": score, "n_scores": count, "share": share, "n_items": total}
