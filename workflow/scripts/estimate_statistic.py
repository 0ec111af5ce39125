"""Estimate one statistic of the catalogue."""

from pathlib import Path

from rubric_order.base import command_line, plugins
from rubric_order.contracts import inputs as reading
from rubric_order.contracts.estimates import ESTIMATES


def main(module: str, inputs: dict[str, list[Path]], settings: dict, output: Path) -> None:
    """Write one row per estimate.

    Args:
        module: name of the module that makes the statistic. Its `COLUMNS` say which columns of each input are read.
        inputs: dictionary from an argument of the module's `estimate` to the files that it takes.
        settings: the other arguments of `estimate`. Key `calibrated`, if it is given, is no such argument: it names the
            `module` that adds calibrated scores, with its `options`.
        output: file of the estimates.
    """
    statistic = plugins.imported(module)
    given = {name: value for name, value in settings.items() if name != "calibrated"}
    if calibrated := settings.get("calibrated"):
        adding = plugins.imported(calibrated["module"])
        columns = dict.fromkeys([*statistic.COLUMNS["scores"], *adding.COLUMNS])
        tables = reading.read(statistic.COLUMNS | {"scores": [*columns]}, inputs)
        tables["scores"] = adding.calibrated(tables["scores"], **calibrated["options"])
    else:
        tables = reading.read(statistic.COLUMNS, inputs)
    ESTIMATES.write(statistic.estimate(**tables, **given), output, **settings)


if __name__ == "__main__":
    command_line.run(main)
