"""Readouts of a judge's answer."""

from enum import StrEnum


class Readout(StrEnum):
    """Readout of an answer.

    Attributes:
        HARD: the option that was written.
        SOFT: the probabilities of all options.
        CALIBRATED: the hard or the soft readout, corrected for position effects that are learnt from other groups; only
            if config asks for it.
    """

    HARD = "hard"
    SOFT = "soft"
    CALIBRATED = "calibrated"


READ = (Readout.HARD, Readout.SOFT)  # readouts of an answer as it is
