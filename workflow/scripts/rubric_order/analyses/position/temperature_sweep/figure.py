"""Position bias and agreement with people by temperature."""

from rubric_order.figures.sweep import draw

__all__ = ["draw"]
