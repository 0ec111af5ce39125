"""Collect the requests of one step of making reference answers."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.contracts.items import ITEMS, RUBRICS
from rubric_order.contracts.reads import REQUESTS
from rubric_order.contracts.responses import RESPONSES
from rubric_order.planning import references


def main(
    items: Path,
    rubrics: Path,
    templates: list[Path],
    weights: list[Path],
    responses: dict[str, Path],
    settings: dict,
    step: str,
    output: Path,
) -> None:
    """Write the requests of a step, such as ``2_review``, which depend on the answers to the steps before it.

    Arguments are as of ``collect_references.py``.
    """
    tables = ITEMS.read(items), RUBRICS.read(rubrics)
    plan = references.load_plan(*tables, templates, weights, settings)
    table = references.requests(plan, step, {name: RESPONSES.read(path) for name, path in responses.items()})
    REQUESTS.write(table, output)
    command_line.log.info("%s: %d requests", step, len(table))


if __name__ == "__main__":
    command_line.run(main)
