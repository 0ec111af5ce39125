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
    """Write the requests of a step, which depend on the answers to the steps before it.

    Args:
        items: file of the dataset's items.
        rubrics: file of the dataset's rubrics.
        templates: templates of writing and of reviewing, then the template by which each judge scores.
        weights: files that name the weights of the judges; empty if config names the weights.
        responses: dictionary from each earlier step to the file of its answers.
        settings: settings by which reference answers are made.
        step: the step, such as ``2_review``.
        output: file of the requests.
    """
    tables = ITEMS.read(items), RUBRICS.read(rubrics)
    plan = references.load_plan(*tables, templates, weights, settings)
    table = references.requests(plan, step, {name: RESPONSES.read(path) for name, path in responses.items()})
    REQUESTS.write(table, output)
    command_line.log.info("%s: %d requests", step, len(table))


if __name__ == "__main__":
    command_line.run(main)
