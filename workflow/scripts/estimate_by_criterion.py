"""Estimate one statistic of bias cards for each single criterion."""

from pathlib import Path

from rubric_order.base import command_line, plugins
from rubric_order.cards import by_criterion
from rubric_order.contracts.estimates import ESTIMATES


def main(module: str, inputs: dict[str, list[Path]], settings: dict, output: Path) -> None:
    """Write one row per estimate, see `by_criterion.split`; arguments are as of ``estimate_statistic.py``."""
    statistic = plugins.imported(module)
    tables = by_criterion.read(statistic.COLUMNS, inputs)
    ESTIMATES.write(statistic.estimate(**tables, **settings), output, **settings)


if __name__ == "__main__":
    command_line.run(main)
