"""Making reference answers: the requests of each step, and all attempts once every step is answered."""

from pathlib import Path
from typing import Any

from rubric_order.base import command_line
from rubric_order.contracts.items import ITEMS, REFERENCES, RUBRICS
from rubric_order.contracts.reads import REQUESTS
from rubric_order.contracts.responses import RESPONSES
from rubric_order.planning import references


def plan_references(
    items: Path,
    rubrics: Path,
    templates: list[Path],
    weights: list[Path],
    responses: dict[str, Path],
    settings: dict[str, Any],
    step: str,
    output: Path,
) -> None:
    """Write the requests of a step, such as ``2_review``, which depend on the answers to the steps before it.

    `templates`: of writing, of reviewing, of each judge's scoring. `weights` is empty if config names them.
    """
    plan = references.load_plan(ITEMS.read(items), RUBRICS.read(rubrics), templates, weights, settings)
    table = references.requests(plan, step, {name: RESPONSES.read(path) for name, path in responses.items()})
    REQUESTS.write(table, output)
    command_line.log.info("%s: %d requests", step, len(table))


def collect_references(
    items: Path,
    rubrics: Path,
    templates: list[Path],
    weights: list[Path],
    responses: dict[str, Path],
    settings: dict[str, Any],
    own: Path | None,
    output: Path,
) -> None:
    """Write one row per attempt: its writer and reviewer, its text, the verdict, and whether it was accepted.

    `own`: file of the user's answers, in place of judges'; other arguments are as of `plan_references`.
    """
    plan = references.load_plan(ITEMS.read(items), RUBRICS.read(rubrics), templates, weights, settings)
    if own is not None:
        table = references.read_own(own, plan.slots, n=plan.n)
    else:
        table = references.attempts(plan, {name: RESPONSES.read(path) for name, path in responses.items()})
    REFERENCES.write(references.typed(table), output, **{key: settings[key] for key in ("n", "judges", "levels")})
    accepted = table.loc[table["accepted"].astype(bool), references.KEYS].drop_duplicates()
    command_line.log.info("%d attempts; %d of %d accepted", len(table), len(accepted), len(plan.slots))
