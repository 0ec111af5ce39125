"""The workflow's statistics of a plain table of reads, with the workflow's default settings and a seed of their own."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rubric_order import catalogue
from rubric_order.base import of_cards
from rubric_order.intake import scales, score_tables
from rubric_order.intake.columns import Columns
from rubric_order.intake.scales import Scale
from rubric_order.methods.position import blocks

SEED, RESAMPLES, CONFIDENCE = 20261121, 1000, 0.95
SIGN_CHANGES = 1999
SPREAD = 0.1  # the margin of `statistics.order_spread` in config
POINTS, LOG_ODDS, R, LEVEL = 0.1, 0.2, 0.02, 0.05  # the margins of `statistics.equivalence` in config
_BOOTSTRAP = {"resamples": RESAMPLES, "confidence": CONFIDENCE, "seed": SEED}
_SETTINGS: dict[str, dict[str, Any]] = {
    "position_selection": _BOOTSTRAP,
    "position_preference": {"confidence": CONFIDENCE, "sampling_temperatures": {}},
    "score_effects": {"confidence": CONFIDENCE, "seed": SEED, "sign_changes": SIGN_CHANGES},
    "order_spread": {"confidence": CONFIDENCE, "level": LEVEL, "margin": SPREAD},
    "human_agreement": {"confidence": CONFIDENCE},
    "budget_curve": {"confidence": CONFIDENCE, "seed": SEED},
    "decisiveness": {},
    "anchors": {},
}
CLUSTERS = ("group",)  # kinds of clusters that cards read
BY_CLUSTER = ("position_selection", "position_preference", "score_effects", "order_spread", "human_agreement")
NOT_COMPARED = ("strategy_comparison", "condition_comparison")  # a plain table has one strategy and condition


def scores_of(
    reads: pd.DataFrame | str | Path,
    *,
    where: str | Path = "reads",
    columns: Mapping[str, str] | Columns | None = None,
    scale: Sequence[str] | str | Scale | None = None,
) -> pd.DataFrame:
    """Scores of a table of reads or of its file, see `score_tables.as_scores`; `scale` has the levels as written,
    lowest first.
    """
    of_file = Columns.given(columns)
    if scale is not None and not isinstance(scale, Scale):
        scale = scales.parse(scale if isinstance(scale, str) else ",".join(scale))
    if isinstance(reads, pd.DataFrame):
        return score_tables.as_scores(reads, where, columns=of_file, scale=scale)
    return score_tables.as_scores(score_tables.read_file(reads, packed=True), reads, columns=of_file, scale=scale)


def estimate(name: str, scores: pd.DataFrame | blocks.Kept, **others: Any) -> pd.DataFrame:
    """One statistic of the catalogue that needs no input but reads. Settings in `others` replace the defaults."""
    module = importlib.import_module(catalogue.module("statistics", name))
    return module.estimate(scores, **_SETTINGS[name] | others)


def kept(scores: pd.DataFrame) -> blocks.Kept:
    """Scores sorted by item and read, with their blocks."""
    item = pd.factorize(scores["item_id"], sort=True)[0]
    order = np.lexsort((scores["read_index"], item))
    return blocks.Kept(scores.take(order), item[order])


def card_statistics(
    scores: pd.DataFrame | blocks.Kept, *, points: float = POINTS, log_odds: float = LOG_ODDS
) -> dict[str, pd.DataFrame]:
    """Statistics that a bias card is made from, with groups as the only clusters, and agreement if there are human
    scores.

    Smaller shifts (`points`) and preferences (`log_odds`) count as none.
    """
    from rubric_order.analyses.position.equivalence import estimate as equivalence

    statistics = (*(name for name in of_cards.REQUIRED if name != "equivalence"), of_cards.ANCHORS)
    reads = scores if isinstance(scores, blocks.Kept) else kept(scores)
    others: dict[str, dict[str, Any]] = {name: {"clusters": CLUSTERS} for name in BY_CLUSTER}
    others["score_effects"]["points"] = points
    tables = {name: estimate(name, reads, **others.get(name, {})) for name in statistics}
    tables["equivalence"] = equivalence.estimate(
        score_effects=tables["score_effects"],
        position_preference=tables["position_preference"],
        **{name: pd.DataFrame(columns=equivalence.COLUMNS[name]) for name in NOT_COMPARED},
        level=LEVEL,
        points=points,
        log_odds=log_odds,
        r=R,
    )
    if reads.table["human_score"].notna().any():
        tables["human_agreement"] = estimate("human_agreement", reads, **others["human_agreement"])
    return tables
