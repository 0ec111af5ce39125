"""Items with a judge's scores, and people's scores of some of them, from a plain table."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.base.keys import EVERY
from rubric_order.intake import columns as column_names
from rubric_order.intake import score_tables, words

REQUIRED = ("score", "human_score")


def items(table: pd.DataFrame | str | Path, columns: Mapping[str, str] | None = None) -> pd.DataFrame:
    """One row per item: `group_id`, `candidate`, and the item's scores `human` and `judge`, NaN if there is none."""
    where = "scores" if isinstance(table, pd.DataFrame) else str(table)
    rows = table.reset_index(drop=True) if isinstance(table, pd.DataFrame) else score_tables.read_file(table)
    rows = column_names.named(rows, column_names.Columns.given(columns, ("candidate",)), where)
    absent = [name for name in REQUIRED if name not in rows]
    if absent:
        raise column_names.missing(absent, rows, where, ("item", "group"))
    if not len(rows):
        raise InputError(f"{where}: no rows")
    judge, human = (words.numbers_of(rows[name], name, where) for name in REQUIRED)
    for name, values in zip(REQUIRED, (judge, human), strict=True):
        if np.isnan(values).all():
            raise InputError(f"{where}: field {name!r}: expected numbers, found none in any row")
    judges = words.names_of(rows, "judge", where, default="judge")
    if len(judges.values) > 1:
        listed = files.listed(list(map(str, judges.values)))
        raise InputError(f"{where}: field 'judge': expected the scores of one judge, found {listed}")
    numbers = pd.Series(np.arange(1, len(rows) + 1).astype(str))
    item = words.names_of(rows if "item" in rows else pd.DataFrame({"item": numbers}), "item", where)
    group = words.names_of(rows, "group", where) if "group" in rows else item
    candidate = words.names_of(rows, "candidate", where, default=EVERY)
    for names, field, what in ((group, "group", "groups"), (candidate, "candidate", "candidates")):
        words.check_alike(item, names.codes, names.values, field, what, where)
    first = words.one_human(human, item, where)
    of_row = {"group_id": group.series(), "candidate": candidate.series(), "human": first, "judge": judge}
    by_item = pd.DataFrame(of_row).groupby(item.codes)
    return by_item.agg({"group_id": "first", "candidate": "first", "human": "first", "judge": "mean"})
