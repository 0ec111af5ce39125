"""Common parts of the probes that compare candidates: the scores (`COLUMNS`) of pairs and lists (`ABOUT`).

Candidates are numbered from 1 in canonical order; `ordering` has the candidate at each position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rubric_order.parsing.choices import Choice
from rubric_order.probes import Question

if TYPE_CHECKING:
    import pandas as pd

TIE = 0  # in place of the number and the position of a candidate, if the judge chose a tie
# Columns that describe a comparison in a plan, beside the columns that all plans have.
#
# - item_id: the same as `unit_id`.
# - benchmark: name under which the dataset was published.
# - task: the kind of question.
# - source_id: source that several questions share (a project, in DevBench); the group if they share no source.
# - candidates: names, in canonical order.
# - baseline: the candidate with which the other candidates are compared; null if there is none. With a baseline,
#   `candidate` is the other candidate of the pair; without a baseline, `candidate` is null.
# - human_scores: human scores of the candidates, in canonical order; null if they are not known.
# - lengths: numbers of characters of the candidates' full responses, even if the condition changes the responses; null
#   if they are not known.
# - input_length: number of characters of the question that the candidates answer, with all its turns; null if it is not
#   known.
ABOUT = (
    "item_id",
    "benchmark",
    "task",
    "source_id",
    "candidates",
    "baseline",
    "human_scores",
    "lengths",
    "input_length",
)
# - tie: True if the prompt offered a tie.
# - score: the number of the chosen candidate; `TIE`; or null if the answer chooses nothing.
# - position: the position of the chosen candidate in the prompt; `TIE`; or null.
# - pattern: the form of answer that the parser found.
# - failure: the reason why there is no choice.
# - first_verdict: the position that the answer's first `[[A]]` or `Choice: A` names; `TIE`; or null. See
#   `verdict.first_verdict`.
# - expected_score: always null.
# - option_mass: the probability that the judge wrote any of the labels.
# - position_probabilities: probability of each position, then of a tie if it was offered; they sum to 1.
# - ranking: the numbers of the candidates, best first, if the answer ranks all candidates; else null.
COLUMNS = (
    *("question", "tie", "score", "position", "pattern", "failure", "first_verdict"),
    *("expected_score", "option_mass", "position_probabilities", "ranking"),
)


def score(
    reads: pd.DataFrame, questions: Sequence[tuple[Question, ...]], choices: Sequence[tuple[Choice, ...]]
) -> pd.DataFrame:
    """One row per read, with `COLUMNS`. A label names a position, or a tie, or is a ranking joined by ``>``."""
    import numpy as np
    import pandas as pd

    orderings = [list(ordering) for ordering in reads["ordering"]]
    labels = [asked[0].labels for asked in questions]
    said = [answer[0] for answer in choices]
    places = [_places(choice.label, own_labels) for choice, own_labels in zip(said, labels, strict=True)]
    at = [None if row is None else _place(row[0], len(order)) for row, order in _zip(places, orderings)]
    first = [
        _place(own_labels.index(choice.first), len(order)) if choice.first in own_labels else None
        for choice, own_labels, order in zip(said, labels, orderings, strict=True)
    ]
    chosen = [
        None if place is None else TIE if place == TIE else order[place - 1] for place, order in _zip(at, orderings)
    ]
    ranks = [[order[p] for p in row] if row and len(row) > 1 else None for row, order in _zip(places, orderings)]
    logprobs = [None if row is None else np.asarray(row, dtype=float) for row in reads["option_logprobs"]]
    mass = [np.nan if row is None else np.exp(row).sum() for row in logprobs]
    shares = [np.exp(row) / total if total > 0 else None for row, total in zip(logprobs, mass, strict=True)]
    table = reads.drop(columns="option_logprobs").reset_index(drop=True)
    return table.assign(
        question="",
        tie=[len(own_labels) > len(order) for own_labels, order in _zip(labels, orderings)],
        score=pd.array(chosen, dtype="Int8"),
        position=pd.array(at, dtype="Int8"),
        pattern=[choice.pattern for choice in said],
        failure=[choice.reason for choice in said],
        first_verdict=pd.array(first, dtype="Int8"),
        expected_score=np.nan,
        option_mass=np.array(mass, dtype=float),
        position_probabilities=pd.Series(shares, index=table.index, dtype=object),
        ranking=pd.Series(ranks, index=table.index, dtype=object),
    )


def _zip(one: Sequence[Any], other: Sequence[Any]) -> zip[Any]:
    return zip(one, other, strict=True)


def _place(index: int, candidates: int) -> int:
    return TIE if index >= candidates else index + 1


def _places(label: str | None, labels: Sequence[str]) -> list[int] | None:
    return None if label is None else [labels.index(part) for part in label.split(">")]
