"""Estimate one statistic of bias cards for each criterion by itself."""

from pathlib import Path

from rubric_order.base import command_line, plugins
from rubric_order.cards import by_criterion
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.contracts.scores import SCORES


def main(module: str, inputs: dict[str, list[Path]], settings: dict, output: Path) -> None:
    """Write one row an estimate, see `by_criterion.split`.

    Args:
        module, inputs, settings: see ``estimate_statistic.py``; inputs are scores and other estimates.
    """
    statistic = plugins.imported(module)
    tables = {}
    for name, paths in inputs.items():
        columns = statistic.COLUMNS.get(name)
        if name == "scores":
            needed = None if columns is None else list(dict.fromkeys([*columns, "criterion"]))
            tables[name] = by_criterion.split(SCORES.read_each(paths, needed))
        else:
            tables[name] = ESTIMATES.read(*paths, columns=columns)
    ESTIMATES.write(statistic.estimate(**tables, **settings), output, **settings)


if __name__ == "__main__":
    command_line.run(main)
