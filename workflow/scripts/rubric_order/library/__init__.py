"""Interface of ``import rubric_order``: statistics of a plain table of reads, orderings, prompts and parsing.

The names in `rubric_order.__all__` are public. Everything else may change.
"""
