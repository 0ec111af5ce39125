"""Interface of ``import rubric_order``: statistics of a plain table of reads, orderings, prompts and parsing.

Public are the names of `rubric_order.__all__`; all else may change.
"""
