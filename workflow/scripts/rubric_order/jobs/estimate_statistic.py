from pathlib import Path
from typing import Any

from rubric_order.base import plugins
from rubric_order.contracts import inputs as reading
from rubric_order.contracts.estimates import ESTIMATES


def estimate_statistic(module: str, inputs: dict[str, list[Path]], settings: dict[str, Any], output: Path) -> None:
    """Write one row per estimate; `inputs` has files by argument of the module's `estimate`, whose `COLUMNS` are read.

    `settings` has its other arguments, and perhaps `calibrated`: the `module` that adds calibrated scores, its
    `options`.
    """
    statistic = plugins.imported(module)
    arguments = {name: value for name, value in settings.items() if name != "calibrated"}
    if calibrated := settings.get("calibrated"):
        adding = plugins.imported(calibrated["module"])
        columns = dict.fromkeys([*statistic.COLUMNS["scores"], *adding.COLUMNS])
        tables = reading.read(statistic.COLUMNS | {"scores": [*columns]}, inputs)
        tables["scores"] = adding.calibrated(tables["scores"], **calibrated["options"])
    else:
        tables = reading.read(statistic.COLUMNS, inputs)
    ESTIMATES.write(statistic.estimate(**tables, **arguments), output, **settings)
