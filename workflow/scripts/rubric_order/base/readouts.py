"""Readouts of a judge's answer."""

from enum import StrEnum


class Readout(StrEnum):
    """Readout of an answer: the option that was written (hard), or the probabilities of all options (soft)."""

    HARD = "hard"
    SOFT = "soft"
