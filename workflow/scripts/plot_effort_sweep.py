"""Draw what position bias and agreement do as the judges' reasoning effort varies."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line
from rubric_order.figures import output, sweep


def main(selection: Path, agreement: Path, style: Path, figure: dict, values: dict, outputs: list[Path]) -> None:
    """Write the figure in the format of each output's name."""
    output.use_style(style)
    figure = {key: value for key, value in figure.items() if key != "setting"}
    tables = (pd.read_parquet(path) for path in (selection, agreement))
    output.save(sweep.draw(*tables, values=values, **figure), outputs)


if __name__ == "__main__":
    command_line.run(main)
