"""Readouts of a judge's answer."""

from enum import StrEnum


class Readout(StrEnum):
    """Readout of an answer.

    Attributes:
        HARD: the option that was written. SOFT: the probabilities of all options.
        CALIBRATED: either readout, corrected by what other groups show about positions; only if config asks for it.
    """

    HARD = "hard"
    SOFT = "soft"
    CALIBRATED = "calibrated"


READ = (Readout.HARD, Readout.SOFT)  # readouts of an answer as it is
