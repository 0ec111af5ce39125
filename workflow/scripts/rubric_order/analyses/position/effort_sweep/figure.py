from rubric_order.figures.sweep import draw

__all__ = ["draw"]
