from pathlib import Path
from typing import Any

from rubric_order.base import plugins
from rubric_order.cards import by_criterion
from rubric_order.contracts.estimates import ESTIMATES


def estimate_by_criterion(module: str, inputs: dict[str, list[Path]], settings: dict[str, Any], output: Path) -> None:
    """Write a statistic of bias cards for each single criterion, see `by_criterion.split`; else as
    `estimate_statistic`.
    """
    statistic = plugins.imported(module)
    tables = by_criterion.read(statistic.COLUMNS, inputs)
    ESTIMATES.write(statistic.estimate(**tables, **settings), output, **settings)
