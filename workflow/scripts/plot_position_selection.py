"""Draw which positions each judge selects."""

from pathlib import Path

import matplotlib
import pandas as pd

from rubric_order import entry, files
from rubric_order.figures import position_selection


def main(statistics: Path, style: Path, figure: dict, outputs: list[Path]) -> None:
    """Write the figure in the format of each output's name."""
    matplotlib.use("agg")
    matplotlib.style.use(style)
    drawn = position_selection.draw(pd.read_parquet(statistics), **figure)
    for output in outputs:
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(output.suffix)
        with files.atomic(output) as temporary:
            drawn.savefig(temporary, metadata=metadata)


if __name__ == "__main__":
    entry.run(main)
