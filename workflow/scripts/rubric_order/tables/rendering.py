"""A table from estimates and the table's block of config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order import tables
from rubric_order.base.conditions import of_condition
from rubric_order.base.keys import BASELINE, EVERY
from rubric_order.base.labels import Labels, every_profile, in_order, with_labels
from rubric_order.tables.spec import Table


def rendered(
    table: Table, statistics: Mapping[str, pd.DataFrame], settings: Mapping[str, Any], labels: Labels
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a table with every digit, and the rows as they are printed.

    Args:
        table: the table of the result's module.
        statistics: dictionary from an argument of `Table.table` to the statistic that it takes.
        settings: the other arguments of `Table.table`.
        labels: labels of judges and datasets, which are printed in place of the ids.
    """
    settings = dict(settings)
    condition = settings.pop("condition", BASELINE)
    read = {name: of_condition(estimates, condition) for name, estimates in statistics.items()}
    if settings.get("profile") == EVERY:
        read, labels = every_profile(read, labels)
    read = {name: in_order(estimates, labels) for name, estimates in read.items()}
    rows, printed = tables.of_studies(table, read, settings)
    return rows, with_labels(printed, labels)
