import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.labels import Labels, order_by_labels
from rubric_order.cards import criteria, summary, unread
from rubric_order.cards.card import Card
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.scoring import usage

NONE: dict[str, Any] = {}
NO_FILES: list[Path] = []


def render_summary(
    statistics: dict[str, Path],
    shown: dict[str, Any],
    labels: Labels,
    run: dict[str, Any],
    reads: dict[str, str],
    data: Path,
    page: Path,
    margin: float = 0.1,
    by_criterion: dict[str, Path] = NONE,
    scores: list[Path] = NO_FILES,
    chosen: list[Path] = NO_FILES,
    prices: dict[str, Any] = NONE,
    *,
    notes: Sequence[str] = (),
    table_folder: str | None = None,
) -> list[Card]:
    """Write the summary of a run, as data and as a page; returns its cards.

    `statistics` and `by_criterion`: files by statistic, empty without cards. `shown`: title, caption, path of `tables`
    and `figures`. `margin`: in points, for cards of criteria. `chosen`: reads that pages show, an example where no
    score is. `notes` stand below each card of the page.
    """
    note = run.get("rehearsal", "")
    estimates = {name: order_by_labels(ESTIMATES.read(path), labels) for name, path in statistics.items()}
    costs = {key: cost for path in scores for key, cost in usage.costs(path, prices).items()}
    cards = summary.made(estimates, note=note, costs=costs)
    of_criteria = criteria.cards(estimates[criteria.STATISTIC], margin) if criteria.STATISTIC in estimates else []
    of_single = summary.made({name: ESTIMATES.read(path) for name, path in by_criterion.items()}, note=note)
    content = summary.content(cards, run, of_criteria, of_single, unread.notes(scores, chosen))
    html = summary.page(
        [dataclasses.replace(card, notes=(*card.notes, *notes)) for card in cards],
        content,
        tables=[summary.Shown(**part) for part in shown["tables"]],
        figures=[summary.Shown(**part) for part in shown["figures"]],
        labels=labels,
        reads=reads,
        of_criteria=of_criteria,
        of_single=of_single,
        table_folder=table_folder or str(page.parent / "tables"),
    )
    files.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", data)
    files.write_text(html, page)
    return cards
