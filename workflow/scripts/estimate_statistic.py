"""Estimate one statistic of the catalogue."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files, plugins
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.contracts.items import ITEMS, PAIRS, REFERENCES
from rubric_order.contracts.scores import SCORES

INPUTS = {  # others are estimates
    **dict.fromkeys(("scores", "alone", "golden"), SCORES),
    "items": ITEMS,
    "pairs": PAIRS,
    "references": REFERENCES,
}


def main(module: str, inputs: dict[str, list[Path]], settings: dict, output: Path) -> None:
    """Write one row an estimate.

    Args:
        module: makes the statistic; its `COLUMNS` say what is read of each input.
        inputs: files by the argument of `estimate` that they are for. Scores are read one file after another.
        settings: further arguments of `estimate`.
    """
    statistic = plugins.imported(module)
    tables = {}
    for name, paths in inputs.items():
        columns, contract = statistic.COLUMNS.get(name), INPUTS.get(name, ESTIMATES)
        if contract is SCORES:
            tables[name] = contract.read_each(paths, columns)
        elif name == "published":
            tables[name] = {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths}
        elif name == "answers":
            tables[name] = {path.stem: files.read_json(path) for path in paths}
        else:
            tables[name] = contract.read(*paths, columns=columns)
    ESTIMATES.write(statistic.estimate(**tables, **settings), output, **settings)


if __name__ == "__main__":
    command_line.run(main)
