"""Write the summary of a run: the page and its data."""

import json
from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.base.labels import Labels, order_by_labels
from rubric_order.cards import criteria, summary, unread
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.scoring import usage

NONE: dict[str, Path] = {}
NO_FILES: list[Path] = []


def main(
    statistics: dict[str, Path],
    shown: dict,
    labels: dict,
    run: dict,
    reads: dict,
    data: Path,
    page: Path,
    margin: float = 0.1,
    by_criterion: dict[str, Path] = NONE,
    scores: list[Path] = NO_FILES,
    chosen: list[Path] = NO_FILES,
    prices: dict = NONE,
) -> None:
    """Write `summary.json` and `summary.html`.

    `statistics` and `by_criterion`: files by statistic, empty without cards. `shown`: title, caption, path of `tables`
    and `figures`. `margin`: in points, for cards of criteria. `chosen`: reads that pages show, an example where no
    score is.
    """
    label_of = Labels(**labels)
    read = {name: order_by_labels(ESTIMATES.read(path), label_of) for name, path in statistics.items()}
    costs = {key: cost for path in scores for key, cost in usage.costs_of(path, prices).items()}
    cards = summary.made(read, note=run.get("rehearsal", ""), costs=costs) if read else []
    of_criteria = criteria.cards(read[criteria.STATISTIC], margin) if criteria.STATISTIC in read else []
    single = {name: ESTIMATES.read(path) for name, path in by_criterion.items()}
    of_single = summary.made(single, note=run.get("rehearsal", "")) if single else []
    content = summary.content(cards, run, of_criteria, of_single, unread.notes(scores, chosen))
    results = {kind: summary.shown_of(shown[kind]) for kind in ("tables", "figures")}
    others = {"of_criteria": of_criteria, "of_single": of_single, "table_folder": str(page.parent / "tables")}
    html = summary.page(cards, content, labels=label_of, reads=reads, **others, **results)
    files.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", data)
    files.write_text(html, page)


if __name__ == "__main__":
    command_line.run(main)
