"""Labels with which a judge is compared: scores of people, or the level for which a text was written (intended level).

An intended level must not be called a human score.
"""

import re
from collections.abc import Collection, Mapping
from typing import Literal

Gold = Literal["human", "intended"]  # kind of label of a dataset
HUMAN: Gold = "human"
INTENDED: Gold = "intended"

NAMES: Mapping[str, str] = {HUMAN: "human score", INTENDED: "intended level"}  # name of one label
OTHERS: Mapping[str, str] = {HUMAN: "people", INTENDED: "intended levels"}  # whom a judge agrees with
# From words for people's labels to words for intended levels.
_INTENDED = (
    ("Human agreement", "Agreement with intended levels"),
    ("agreement with people", "agreement with intended levels"),
    ("Agreement with people", "Agreement with intended levels"),
    ("r with people", "r with intended levels"),
    ("Human score", "Intended level"),
    ("human score", "intended level"),
)
_NAMES_PEOPLE = re.compile(r"\b(?:human|people|raters?)\b", re.IGNORECASE)


def common_kind(golds: Collection[str]) -> str:
    """``intended`` if all datasets have intended levels, else ``human``.

    >>> common_kind(["human", "intended"]), common_kind(["intended"])
    ('human', 'intended')
    """
    return INTENDED if golds and all(gold == INTENDED for gold in golds) else HUMAN


def worded(text: str, gold: str) -> str:
    """A text about human scores, reworded for another kind of label.

    >>> worded("Human scores, and r with people.", "intended")
    'Intended levels, and r with intended levels.'
    """
    if gold == HUMAN:
        return text
    for people, intended in _INTENDED:
        text = text.replace(people, intended)
    return text


def note(text: str, datasets: Mapping[str, str], gold: str) -> str:
    """Sentence that names the datasets that nobody rated; empty if there are none, or if `text` mentions no people.

    >>> note("Agreement with human scores.", {"Demo": "intended", "HANNA": "human"}, "human")
    'Nobody rated Demo: the level that each text was written for (intended level) stands for a human score.'
    """
    unrated = [label for label, kind in datasets.items() if kind == INTENDED]
    if not unrated or not _NAMES_PEOPLE.search(text):
        return ""
    means = "the intended level of a text is the level that it was written for"
    if gold == HUMAN:
        means = "the level that each text was written for (intended level) stands for a human score"
    return f"Nobody rated {', '.join(unrated)}: {means}."
