"""Estimate the Bias Cost of every ordering, and what choosing the cheapest one is worth."""

from pathlib import Path

from rubric_order import bias_cost, entry, files, score_position


def main(scores: list[Path], bootstrap: dict, splits: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = bias_cost.bias_costs(files.each_table(scores, score_position.COLUMNS), **bootstrap, **splits)
    files.write_parquet(table, output, **bootstrap, **splits)


if __name__ == "__main__":
    entry.run(main)
