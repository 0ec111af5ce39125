"""Estimate one statistic of the catalogue."""

from pathlib import Path

from rubric_order.base import command_line, plugins
from rubric_order.contracts import inputs as reading
from rubric_order.contracts.estimates import ESTIMATES


def main(module: str, inputs: dict[str, list[Path]], settings: dict, output: Path) -> None:
    """Write one row an estimate.

    Args:
        module: makes the statistic; its `COLUMNS` say what is read of each input.
        inputs: files by the argument of `estimate` that they are for.
        settings: further arguments of `estimate`.
    """
    statistic = plugins.imported(module)
    tables = reading.read(statistic.COLUMNS, inputs)
    ESTIMATES.write(statistic.estimate(**tables, **settings), output, **settings)


if __name__ == "__main__":
    command_line.run(main)
