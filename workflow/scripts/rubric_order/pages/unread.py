"""Notes on judges without a score, from the files of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rubric_order.cards import unread
from rubric_order.contracts.scores import SCORES
from rubric_order.pages.reads import ABOUT, shown_in


def notes(scores: Sequence[Path], chosen: Sequence[Path]) -> list[dict[str, Any]]:
    """Notes on the judges none of whose reads has a score, see `cards.unread.note`.

    Args:
        scores: files of scores, in folders of their study and dataset.
        chosen: files of the reads that pages show, in such folders too; one answer of these is an example.
    """
    shown = {_about(path): path for path in chosen}
    made = []
    for path in scores:
        table, key = SCORES.read(path, columns=[*unread.READ]), _about(path)
        about = dict(zip(ABOUT, key, strict=True))
        if unread.note(table, about):
            reads = shown_in(shown[key].read_text(encoding="utf-8")) if key in shown else None
            made.append(unread.note(table, about, reads))
    return [note for note in made if note]


def _about(path: Path) -> tuple[str, str, str]:
    """Study, dataset and judge of a file in folders of the first two."""
    return path.parts[-3], path.parts[-2], path.stem
