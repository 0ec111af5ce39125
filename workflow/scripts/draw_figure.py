"""Draw one figure of the catalogue."""

from pathlib import Path

from rubric_order.base import command_line, plugins
from rubric_order.base.conditions import of_condition
from rubric_order.base.keys import BASELINE, EVERY
from rubric_order.base.labels import Labels, every_profile, in_order
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.figures import output, view


def main(
    module: str,
    statistics: dict[str, Path],
    settings: dict,
    labels: dict,
    style: Path,
    outputs: list[Path],
    note: str = "",
) -> None:
    """Write the figure in the format of each output's name.

    Args:
        module: draws the figure.
        statistics: files by the argument of `draw` that they are for.
        settings: the figure's block of config.
        labels: of judges and datasets.
        style: of all figures; `preset` of the settings says how large letters and lines are.
        note: a word across the figure; empty for none.
    """
    output.use_style(style, settings.pop("preset"))
    known = Labels(**labels)
    condition = settings.pop("condition", BASELINE)
    read = {name: of_condition(ESTIMATES.read(path), condition) for name, path in statistics.items()}
    if settings.get("profile") == EVERY:
        read, known = every_profile(read, known)
    read = {name: in_order(table, known) for name, table in read.items()}
    drawn = view.draw(plugins.imported(module), **read, **settings, labels=known)
    if note:
        drawn.text(0.5, 0.5, note, ha="center", va="center", rotation=20, size=40, color="0.5", alpha=0.25)
    output.save(drawn, outputs)


if __name__ == "__main__":
    command_line.run(main)
