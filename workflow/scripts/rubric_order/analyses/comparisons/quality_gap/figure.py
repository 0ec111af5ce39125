"""Consistency and fairness of verdicts on pairs by win rate and quality gap."""

from rubric_order.figures.quality_cells import draw

__all__ = ["draw"]
