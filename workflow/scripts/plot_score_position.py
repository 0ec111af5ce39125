"""Draw which scores are selected where."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line
from rubric_order.figures import output, score_position


def main(statistics: Path, style: Path, figure: dict, outputs: list[Path]) -> None:
    """Write the figure in the format of each output's name."""
    output.use_style(style)
    output.save(score_position.draw(pd.read_parquet(statistics), **figure), outputs)


if __name__ == "__main__":
    command_line.run(main)
