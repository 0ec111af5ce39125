"""Contracts: the columns of the tables that one stage hands on to the next. Nothing else lists these columns.

A stage writes a table by `Contract.write` and reads one by `Contract.read`, so that both ends agree. Types are Arrow
types. When pandas makes a table, it chooses the width of numbers and texts, and it gives no type to a column without
values. A contract that is not `exact` accepts such types in place of its own. A probe adds columns to plan and scores,
and a statistic adds columns to its estimates, so these contracts are `open`.

Each stage has a module of its own, since the hash of a job's code covers whole modules. So a new column of estimates
does not start the judging again. ``python -m rubric_order.contracts`` writes ``docs/contracts.md``.
"""
