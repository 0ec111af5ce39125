"""Contracts: the columns of the tables that one stage hands on to the next. Nothing else lists these columns.

A stage writes a table by `Contract.write` and reads one by `Contract.read`, so that both ends agree. Types are those of
Arrow. Where pandas makes a table it chooses the width of numbers and texts, and gives no type to a column without
values; a contract that is not `exact` takes these for what they stand for. A probe adds columns to plan and scores, and
a statistic to its estimates; these contracts are `open`.

One module a stage, since the hash of a job's code covers whole modules: a new column of estimates is no reason to judge
again. ``python -m rubric_order.contracts`` writes ``docs/contracts.md``.
"""
