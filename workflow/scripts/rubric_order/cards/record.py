"""A card as JSON holds it, for code that reads cards of this version and of earlier versions."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

Number = float | None  # None if it is not known


class CardRecord(TypedDict):
    """A card in `summary.json`, or of ``rubric-order audit --json``; see ``summary.schema.json``.

    Keys that earlier versions lack are not required; `Card.to_dict` writes `cost` and `anchors` only if known.
    """

    judge: str
    verdict: str
    reasons: list[str]
    v: Number
    v_low: Number
    v_high: Number
    usual_minus_balanced: Number
    n_groups: int
    dataset: NotRequired[str]
    study: NotRequired[str]
    strategy: NotRequired[str]
    profile: NotRequired[str]
    condition: NotRequired[str]
    n_levels: NotRequired[int]
    headline: NotRequired[str]
    notes: NotRequired[list[str]]
    advice: NotRequired[str]
    preference: NotRequired[list[Number] | None]
    usual_minus_balanced_low: NotRequired[Number]
    usual_minus_balanced_high: NotRequired[Number]
    decided_by: NotRequired[dict[str, str]]
    level: NotRequired[Number]
    n_tests: NotRequired[int]
    smallest_p: NotRequired[Number]
    design: NotRequired[dict[str, int | bool]]
    n_items: NotRequired[int]
    n_reads: NotRequired[int]
    n_failed: NotRequired[int]
    n_orderings: NotRequired[int]
    effective_groups: NotRequired[Number]
    heaviest_group: NotRequired[Number]
    failures: NotRequired[dict[str, int]]
    n_copies: NotRequired[int]
    commonest_score: NotRequired[int | None]
    commonest_share: NotRequired[Number]
    discordant_share: NotRequired[Number]
    top_probability: NotRequired[Number]
    margin_points: NotRequired[Number]
    margin_log_odds: NotRequired[Number]
    detectable_v: NotRequired[Number]
    groups_for_biased: NotRequired[dict[str, Number] | None]
    groups_for_equivalent: NotRequired[Number]
    groups_for_equivalent_with_repeats: NotRequired[Number]
    estimands: NotRequired[list[dict[str, Any]]]
    single_items: NotRequired[dict[str, Any]]
    agreement: NotRequired[dict[str, Any] | None]
    rankings: NotRequired[dict[str, Any] | None]
    saturated: NotRequired[bool]
    says_nothing: NotRequired[bool]
    readouts: NotRequired[dict[str, Any]]
    cost: NotRequired[dict[str, Any]]
    anchors: NotRequired[dict[str, Any]]
    criterion: NotRequired[str]


def name(card: Mapping[str, Any]) -> str:
    """Name of a card, in words."""
    parts = [card["judge"], card.get("dataset"), card.get("study"), card.get("strategy")]
    parts += [
        card[key] for key, usual in (("profile", "default"), ("condition", "baseline")) if card.get(key, usual) != usual
    ]
    parts += [f"{card['n_levels']} levels"] if "n_levels" in card else []
    return ", ".join(str(part) for part in parts if part not in (None, "reads"))
