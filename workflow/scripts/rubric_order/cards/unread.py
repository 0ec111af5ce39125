"""Notes on judges without a single score. A run with such a judge ends without an error, but finds nothing about it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rubric_order.base.errors import printable
from rubric_order.contracts.scores import SCORES
from rubric_order.pages.reads import ABOUT, shown_in

READ = ("failure", "expected_score")  # columns of scores
LONGEST = 200  # greatest number of characters of an answer
ADVICE = (
    "Look at single reads: most likely the prompt, the server, or the longest length of an answer is at fault. Mend it "
    "and run again."
)


def note(
    scores: pd.DataFrame, about: Mapping[str, str], reads: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """Note on the reads of one judge, as `summary.json` has it; None if any read has a score.

    `about` (study, dataset, judge) with `n_scores` asked for, `failures` (the commonest first), an `example` of the
    commonest cut to `LONGEST` (from `reads.content`), `sentence` and `advice`.

    >>> failed = pd.DataFrame({"failure": ["empty", "no_score", "no_score"], "expected_score": None})
    >>> note(failed, {"study": "s", "dataset": "d", "judge": "j"})["sentence"]
    'No read has a score: none of 3 scores could be read. The commonest failure is no_score (2 of 3).'
    """
    if not _has_no_score(scores):
        return None
    failures = {str(reason): int(count) for reason, count in scores["failure"].value_counts().items() if count}
    commonest, count = next(iter(failures.items()))
    example = _example(commonest, (reads or {}).get("items", ()))
    sentence = (
        f"No read has a score: none of {len(scores):,} scores could be read. The commonest failure is {commonest} "
        f"({count:,} of {len(scores):,})."
    )
    sentence += "" if example is None else f" One such answer: “{example}”" if example else " One such answer is empty."
    counts = {"n_scores": len(scores), "failures": failures, "example": example}
    return {**about, **counts, "sentence": sentence, "advice": ADVICE}


def _has_no_score(scores: pd.DataFrame) -> bool:
    """Neither written nor by option probabilities."""
    return not (scores.empty or scores["failure"].isna().any() or scores["expected_score"].notna().any())


def _example(reason: str, items: Sequence[Mapping[str, Any]]) -> str | None:
    """An answer that failed for the given reason, or the error in its place; None if no such answer is shown."""
    failed = [record for item in items for record in item["reads"] if record["failure"] == reason]
    answers = [record.get("text") if record.get("text") is not None else record.get("error") for record in failed]
    texts = [" ".join(answer.split()) for answer in answers if answer is not None]
    answer = next(filter(None, texts), texts[0] if texts else None)
    if answer is None:
        return None
    return printable(answer[:LONGEST]) + (" …" if len(answer) > LONGEST else "")


def notes(scores: Sequence[Path], chosen: Sequence[Path]) -> list[dict[str, Any]]:
    """Notes on the judges none of whose reads has a score, from files in folders of their study and dataset.

    `chosen`: files of the reads that pages show, one of which is the example.
    """
    pages = {_about(path): path for path in chosen}
    entries = []
    for path in scores:
        table, key = SCORES.read(path, columns=[*READ]), _about(path)
        if not _has_no_score(table):
            continue
        reads = shown_in(pages[key].read_text(encoding="utf-8")) if key in pages else None
        entries.append(note(table, dict(zip(ABOUT, key, strict=True)), reads))
    return [one for one in entries if one]


def _about(path: Path) -> tuple[str, str, str]:
    """Study, dataset and judge, as folders and file are named."""
    return path.parts[-3], path.parts[-2], path.stem
