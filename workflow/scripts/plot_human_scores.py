"""Draw how the scores of each dataset are distributed."""

from pathlib import Path

import matplotlib
import pandas as pd

from rubric_order import entry, files
from rubric_order.figures import human_scores


def main(statistics: Path, style: Path, figure: dict, outputs: list[Path]) -> None:
    """Write the figure in the format of each output's name."""
    matplotlib.use("agg")
    matplotlib.style.use(style)
    drawn = human_scores.draw(pd.read_parquet(statistics), **figure)
    for output in outputs:
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(output.suffix)
        with files.atomic(output) as temporary:
            drawn.savefig(temporary, metadata=metadata)


if __name__ == "__main__":
    entry.run(main)
