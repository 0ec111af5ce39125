from pathlib import Path
from typing import Any

from rubric_order import tables
from rubric_order.base import plugins
from rubric_order.base.labels import Labels, replace_ids, statistics_of_block
from rubric_order.contracts.estimates import ESTIMATES


def render_table(
    module: str, statistics: dict[str, Path], settings: dict[str, Any], labels: Labels, caption: str, output: Path
) -> None:
    """Write a table of the catalogue as CSV and, beside it, Markdown, LaTeX and HTML, with labels in place of ids.

    `statistics`: file by argument of the table; `settings`: its block of config.
    """
    estimates, block = {name: ESTIMATES.read(path) for name, path in statistics.items()}, dict(settings)
    chosen, labels = statistics_of_block(estimates, block, labels)
    rows, printed = tables.study_rows(plugins.imported(module).TABLE, chosen, block)
    tables.write(rows, replace_ids(printed, labels), output.with_suffix(""), caption)
