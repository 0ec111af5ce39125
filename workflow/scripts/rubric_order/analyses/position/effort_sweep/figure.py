"""Position bias and agreement with people by reasoning effort."""

from rubric_order.figures.sweep import draw

__all__ = ["draw"]
