"""Consistency and fairness of verdicts on lists by win rate and quality gap."""

from rubric_order.figures.quality_cells import draw

__all__ = ["draw"]
