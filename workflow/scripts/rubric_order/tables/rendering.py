"""A table from estimates and the table's block of config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order import tables
from rubric_order.base.labels import Labels, replace_ids, statistics_of_block
from rubric_order.tables.spec import Table


def rendered(
    table: Table, statistics: Mapping[str, pd.DataFrame], settings: Mapping[str, Any], labels: Labels
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of a table with every digit, and as printed, with labels for ids; `statistics` by argument of
    `Table.table`.
    """
    settings = dict(settings)
    chosen, labels = statistics_of_block(statistics, settings, labels)
    rows, printed = tables.study_rows(table, chosen, settings)
    return rows, replace_ids(printed, labels)
