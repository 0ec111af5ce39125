"""Estimate one statistic of the catalogue."""

import importlib
from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files


def main(module: str, inputs: dict[str, list[Path]], settings: dict, output: Path) -> None:
    """Write one row an estimate.

    Args:
        module: makes the statistic; its `COLUMNS` say what is read of each input.
        inputs: files by the argument of `estimate` that they are for. Scores are read one file after another.
        settings: further arguments of `estimate`.
    """
    statistic = importlib.import_module(module)
    tables = {}
    for name, paths in inputs.items():
        columns = statistic.COLUMNS.get(name)
        if name in ("scores", "alone", "golden"):
            tables[name] = files.each_table(paths, columns)
        elif name == "published":
            tables[name] = {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths}
        elif name == "answers":
            tables[name] = {path.stem: files.read_json(path) for path in paths}
        else:
            tables[name] = files.read_tables(paths, columns)
    files.write_parquet(statistic.estimate(**tables, **settings), output, **settings)


if __name__ == "__main__":
    command_line.run(main)
