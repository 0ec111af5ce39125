"""Contracts: the columns of the tables that one stage hands on to the next, which nothing else lists.

Types are Arrow's; contracts that are not `exact` accept the widths that pandas chooses. A module a stage, since the
hash of a job's code covers modules. ``python -m rubric_order.contracts`` writes ``docs/contracts.md``.
"""
