"""Review of reference answers."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import contrasts, correlations

SLOT = ["dataset", "group_id", "criterion", "rubric_id", "level"]
COLUMNS = {
    "references": [
        *SLOT,
        "n",
        "round",
        "writer",
        "reviewer",
        "text",
        "verdict",
        "blind_score",
        "blind_failure",
        "accepted",
    ]
}
WAYS = ("writer", "reviewer", "level", "round")
AMONG = ("texts", "accepted", "rejected")


def estimate(references: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Shares and agreement, for all attempts together (`by` ``all``) and for each `value` of `WAYS`.

    ``slots_accepted`` is of slots, ``written`` of attempts, others of texts. ``blind_...`` compares blind scores, of
    all, accepted or rejected texts, with the scores they were written for; kappa is NaN for a single level.
    """
    rows = [
        row for dataset, block in references.groupby("dataset", sort=True) for row in _rows(dataset, block, confidence)
    ]
    columns = ["dataset", "by", "value", "quantity", "estimate", "ci_low", "ci_high", "n", "n_clusters"]
    table = tidy.typed(pd.DataFrame(rows, columns=columns), {"value": "str"})
    return table.assign(confidence=confidence, method="each group left out, Student's t")


def _rows(dataset: str, block: pd.DataFrame, confidence: float) -> Iterator[Row]:
    for by in ("all", *WAYS):
        parts = [("", block)] if by == "all" else block.groupby(by, sort=True)
        for value, part in parts:
            common = {"dataset": dataset, "by": by, "value": str(value)}
            if by in ("all", "level"):
                slots = part.groupby(SLOT, sort=True)["accepted"].any().reset_index()
                yield common | _share("slots_accepted", slots["accepted"], slots["group_id"], confidence)
            yield from (common | row for row in _attempt_rows(part, confidence))


def _attempt_rows(part: pd.DataFrame, confidence: float) -> Iterator[Row]:
    yield _share("written", part["text"].notna(), part["group_id"], confidence)
    texts = part[part["text"].notna()]
    yield _share("accepted", texts["accepted"], texts["group_id"], confidence)
    if (texts["writer"] == "file").all():
        return
    yield _share("unclear", texts["verdict"].isna(), texts["group_id"], confidence)
    accepted = texts["accepted"].astype(bool)
    for name, among in zip(AMONG, (accepted | True, accepted, texts["verdict"] == "no"), strict=True):
        scored = texts[among & texts["blind_score"].notna()]
        level, blind = (scored[column].to_numpy(dtype=float) for column in ("level", "blind_score"))
        yield _share(f"blind_equal_{name}", level == blind, scored["group_id"], confidence)
        yield _mean(f"blind_shift_{name}", blind - level, scored["group_id"], confidence)
        several = len(np.unique(level)) > 1  # kappa is the agreement beyond chance, and a single level has none
        kappa = correlations.weighted_kappa(level, blind, np.ones(len(level))) if several else np.nan
        counts = {"n": len(scored), "n_clusters": scored["group_id"].nunique()}
        yield {"quantity": f"blind_kappa_{name}", "estimate": float(kappa)} | counts


def _share(quantity: str, told: pd.Series | np.ndarray, group: pd.Series, confidence: float) -> Row:
    interval = contrasts.share(np.asarray(told), group.factorize()[0], confidence)
    return {"quantity": quantity, "n": len(told)} | interval


def _mean(quantity: str, values: np.ndarray, group: pd.Series, confidence: float) -> Row:
    interval = contrasts.mean(values, group.factorize()[0], confidence)
    columns = {name: interval[name] for name in ("estimate", "ci_low", "ci_high", "n_clusters")}
    return {"quantity": quantity, "n": len(values)} | columns
