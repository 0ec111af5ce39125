"""Interface of ``import rubric_order``, whose names in `__all__` are public; everything else may change."""
