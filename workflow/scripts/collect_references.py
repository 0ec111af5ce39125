"""Collect all attempts to write reference answers, or read the user's own reference answers."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.contracts.items import ITEMS, REFERENCES, RUBRICS
from rubric_order.contracts.responses import RESPONSES
from rubric_order.planning import references


def main(
    items: Path,
    rubrics: Path,
    templates: list[Path],
    weights: list[Path],
    responses: dict[str, Path],
    settings: dict,
    own: Path | None,
    output: Path,
) -> None:
    """Write one row per attempt: its writer and reviewer, its text, the verdict, and whether it was accepted.

    `templates`: of writing, of reviewing, of each judge's scoring. `weights` is empty if config names them.
    `responses`: by step. `own`: the user's answers, in place of judges'.
    """
    tables = ITEMS.read(items), RUBRICS.read(rubrics)
    plan = references.load_plan(*tables, templates, weights, settings)
    if own is not None:
        table = references.read_own(own, plan.slots, n=plan.n)
    else:
        table = references.attempts(plan, {name: RESPONSES.read(path) for name, path in responses.items()})
    made_by = {key: settings[key] for key in ("n", "judges", "levels")}
    REFERENCES.write(references.typed(table), output, **made_by)
    accepted = table.loc[table["accepted"].astype(bool), references.KEYS].drop_duplicates()
    command_line.log.info("%d attempts; %d of %d accepted", len(table), len(accepted), len(plan.slots))


if __name__ == "__main__":
    command_line.run(main)
