"""Answers with a label for each of several questions: the form that they must have, and where the labels stand."""

import re
from collections.abc import Sequence

import numpy as np

from rubric_order.probes import Question


def lines_pattern(questions: Sequence[Question]) -> str:
    """Regular expression of an answer with one line, ``[name] label``, per question."""
    return r"\n".join(
        rf"\[{_plain(question.name)}\] (?:{'|'.join(map(_plain, question.labels))})" for question in questions
    )


def _plain(text: str) -> str:
    # `re.escape` escapes characters that the dialect of structured outputs does not
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text)


def places_of_labels(
    tokens: Sequence[int] | Sequence[str],
    variants: Sequence[Sequence[int]] | Sequence[Sequence[str]],
    pieces: Sequence[str],
    questions: Sequence[Question],
) -> list[int | None]:
    """Index (from 0) of the token that writes each question's label; None without one. The label stands right behind
    the question's name, as in ``[Coherence] 4`` or ``"coherence": 4``; the last counts, as after thinking. `variants`:
    tokens that write each label; `pieces`: text of each token.
    """
    name_pattern = "|".join(map(re.escape, sorted((question.name for question in questions), key=len, reverse=True)))
    labels = "|".join(map(re.escape, sorted(questions[0].labels, key=len, reverse=True)))
    behind_name = rf"(?<!\w)({name_pattern})(?:\W?(?:score|rating))?[^\w\n]{{0,12}}({labels})(?!\w|[.,]\d)"
    offsets: list[int | None] = [None] * len(questions)
    for match in re.finditer(behind_name, "".join(pieces), re.IGNORECASE):
        # Compared as the pattern compares: to it, the long s is an s, which it is not to `lower()`.
        names = (re.fullmatch(re.escape(question.name), match[1], re.IGNORECASE) for question in questions)
        offsets[[name is not None for name in names].index(True)] = match.start(2)
    ends = np.cumsum([len(piece) for piece in pieces])
    writing = {token for variant in variants for token in variant}
    places = [None if offset is None else int(np.searchsorted(ends, offset, side="right")) for offset in offsets]
    return [place if place is not None and tokens[place] in writing else None for place in places]
