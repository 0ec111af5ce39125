"""Readouts of a judge's answer."""

from enum import StrEnum


class Readout(StrEnum):
    """The option that was written; the probabilities of all options; either, corrected for position effects of other
    groups.
    """

    HARD = "hard"
    SOFT = "soft"
    CALIBRATED = "calibrated"


READ = (Readout.HARD, Readout.SOFT)  # readouts of an answer as it is
