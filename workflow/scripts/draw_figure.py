"""Draw one figure of the catalogue."""

import importlib
from pathlib import Path

import pandas as pd

from rubric_order.base import command_line
from rubric_order.figures import output


def main(figure: str, statistics: dict[str, Path], settings: dict, style: Path, outputs: list[Path]) -> None:
    """Write the figure in the format of each output's name.

    Args:
        figure: name of its module.
        statistics: files by the argument of `draw` that they are for; `settings` are the other arguments.
    """
    output.use_style(style)
    module = importlib.import_module(f"rubric_order.figures.{figure}")
    drawn = module.draw(**{name: pd.read_parquet(path) for name, path in statistics.items()}, **settings)
    output.save(drawn, outputs)


if __name__ == "__main__":
    command_line.run(main)
