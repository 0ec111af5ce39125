"""Common parts of the probes that compare candidates: the scores of pairs and lists.

A read shows the candidates of a pair or a list in one order and asks which is best. What it is about (`ABOUT`) stands
in the plan, what came of it (`COLUMNS`) in the scores. Candidates are numbered from 1 in canonical order, the order of
`candidates`; `ordering` has the candidate at each position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rubric_order.parsing.choices import Choice
from rubric_order.probes import Question

if TYPE_CHECKING:
    import pandas as pd

TIE = 0  # in place of the number of a candidate, and of its position
# What a plan says of a comparison, beside the columns that all plans have.
#
# - item_id: the same as `unit_id`.
# - benchmark: what the dataset is called where it was published.
# - task: the kind of question.
# - source_id: what several questions share (a project, of DevBench's questions); the group where they share nothing.
# - candidates: names, in canonical order.
# - baseline: the candidate that the others are compared with; null where there is none. `candidate` is then the other
#   one of a pair, and null otherwise.
# - human_scores: of the candidates, in canonical order; null where they are not known.
# - lengths: of the candidates' own responses, whatever the condition shows of them, in characters; null where they are
#   not known.
# - input_length: of the question that they answer, all turns of it, in characters; null where it is not known.
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
# - tie: whether the prompt offered a tie.
# - score: the number of the chosen candidate, `TIE`, or null where the answer chooses nothing.
# - position: the place of the chosen candidate in the prompt, `TIE`, or null.
# - pattern, failure: the form that the parser found; why there is no choice.
# - first_verdict: the place that the answer's first `[[A]]` or `Choice: A` names, `TIE`, or null; see
#   `verdict.first_verdict`.
# - expected_score: always null. option_mass: the probability that the judge wrote any label.
# - position_probabilities: of each position, and of a tie last where it was offered; they sum to 1.
# - ranking: the numbers of the candidates, best first, where the answer ranks them all; else null.
COLUMNS = (
    *("question", "tie", "score", "position", "pattern", "failure", "first_verdict"),
    *("expected_score", "option_mass", "position_probabilities", "ranking"),
)


def score(
    reads: pd.DataFrame, questions: Sequence[tuple[Question, ...]], choices: Sequence[tuple[Choice, ...]]
) -> pd.DataFrame:
    """One row a read, with `COLUMNS`.

    Args:
        reads: a plan with `ABOUT` and `option_logprobs`, see `Probe.score`.
        questions: of each read one, whose labels name the positions, and after them a tie where there is one.
        choices: of each read one. Its label is that of a position, of a tie, or of several positions joined by ``>``,
            which is a ranking.
    """
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
    """The place of a label, or `TIE` for the one after those of the candidates."""
    return TIE if index >= candidates else index + 1


def _places(label: str | None, labels: Sequence[str]) -> list[int] | None:
    """Places of the labels that a choice names, from 0, best first; None where it names none."""
    return None if label is None else [labels.index(part) for part in label.split(">")]
