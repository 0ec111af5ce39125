"""Common parts of scores: the position of the chosen option, and readouts of the probabilities of all options."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from rubric_order.parsing.choices import Choice
from rubric_order.probes import Probe, Question


def score(
    reads: pd.DataFrame, questions: Sequence[tuple[Question, ...]], choices: Sequence[tuple[Choice, ...]]
) -> pd.DataFrame:
    """One row per read with one question, whose labels move with the options, with `Probe.COLUMNS`."""
    plan = reads.drop(columns="option_logprobs").reset_index(drop=True)
    labels = chosen((asked[0] for asked in questions), (said[0] for said in choices))
    positions = readouts(labels["score"], reads["option_logprobs"].tolist(), plan["ordering"].tolist())
    return pd.concat([plan, labels, positions], axis=1).assign(question="")[[*plan, *Probe.COLUMNS]]


def chosen(questions: Iterable[Question], choices: Iterable[Choice]) -> pd.DataFrame:
    """Choices as columns `score` (index of the label in the question's, from 1), `pattern` and `failure`."""
    choices = list(choices)
    numbers = [
        None if choice.label is None else question.labels.index(choice.label) + 1
        for question, choice in zip(questions, choices, strict=True)
    ]
    return pd.DataFrame(
        {
            "score": pd.array(numbers, dtype="Int8"),
            "pattern": [choice.pattern for choice in choices],
            "failure": [choice.reason for choice in choices],
        }
    )


def readouts(
    score: pd.Series, logprobs: Sequence[Sequence[float] | np.ndarray | None], shown: Sequence[Sequence[int]]
) -> pd.DataFrame:
    """Hard and soft readout of each answer: `position` of the chosen option, `expected_score` (sum of k p_k),
    `option_mass`, `position_probabilities` (sum 1).

    `score` and log-probabilities are in canonical order; `shown` has the option at each position, or nothing.
    """
    table = pd.DataFrame(
        {
            "position": pd.array([pd.NA] * len(score), dtype="Int8"),
            "expected_score": np.nan,
            "option_mass": np.nan,
            "position_probabilities": pd.Series([None] * len(score), dtype=object),
        }
    )
    numbers = score.to_numpy(dtype=float, na_value=np.nan)
    sizes = np.array([0 if row is None else len(row) for row in logprobs], dtype=int)
    listed = np.array([len(row) for row in shown], dtype=int)
    for n, places in {(int(n), int(places)) for n, places in zip(sizes, listed, strict=True)}:
        rows = np.flatnonzero((sizes == n) & (listed == places))
        order = np.array([shown[row] for row in rows], dtype=int).reshape(len(rows), places)
        if places:
            scored = ~np.isnan(numbers[rows])
            place = np.argsort(order[scored], axis=1) + 1
            selected = place[np.arange(len(place)), numbers[rows[scored]].astype(int) - 1]
            table.loc[rows[scored], "position"] = selected.astype("int8")
        if n:
            _soft(table, rows, np.array([logprobs[row] for row in rows], dtype=float), order)
    return table.set_index(score.index)


def _soft(found: pd.DataFrame, rows: np.ndarray, logprobs: np.ndarray, order: np.ndarray) -> None:
    """Fill in the columns that follow from the log-probabilities of n options, shape (rows, n)."""
    # An option with probability 0 is stored as minus infinity, which exp turns into 0.
    probabilities = np.exp(logprobs)
    mass = probabilities.sum(axis=1)
    found.loc[rows, "option_mass"] = mass
    usable = mass > 0  # the probabilities are known, and are not all zero
    shares = probabilities[usable] / mass[usable, None]
    found.loc[rows[usable], "expected_score"] = shares @ np.arange(1, logprobs.shape[1] + 1)
    if order.shape[1]:
        at_position = np.take_along_axis(shares, order[usable] - 1, axis=1)
        lists = pd.Series(list(at_position), index=rows[usable], dtype=object)
        found.loc[rows[usable], "position_probabilities"] = lists
