from rubric_order.figures.quality_cells import draw

__all__ = ["draw"]
