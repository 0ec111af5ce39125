"""Write the summary of a run: the page and its data."""

import json
from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.base.labels import Labels, in_order
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

    Args:
        statistics: tables that cards are made from, by name; none where no study is about an order of score levels or
            of criteria.
        shown: of ``tables`` and ``figures`` the title, caption and path of each.
        labels: of judges and datasets.
        run: the parts of config that results depend on.
        reads: links to the pages of single reads, by study.
        data, page: the files to write.
        margin: of equivalence in points, for cards of criteria.
        by_criterion: the statistics of cards of single criteria, by name; none where config asks for no such cards.
        scores: of all studies; their metadata say how many tokens answers took.
        chosen: reads of the same studies that their pages show, of which one is an example where none has a score.
        prices: of those judges that have some.
    """
    label_of = Labels(**labels)
    read = {name: in_order(ESTIMATES.read(path), label_of) for name, path in statistics.items()}
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
