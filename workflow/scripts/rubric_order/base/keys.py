"""Keys of an estimate: names and values that stages share. Importing the module costs little."""

from collections.abc import Collection, Iterable

from rubric_order.base.readouts import Readout

BASELINE = "baseline"  # condition of prompts in which only the order varies

# Columns that identify a group of reads: a study's reads of a dataset by a judge under a profile and a condition, with
# one strategy and one number of levels.
KEYS = ["study", "judge", "profile", "condition", "dataset", "strategy", "n"]

# Clusters that resampling may draw: groups of items that share a prompt, an article or a story; or single items.
CLUSTERS = ("group", "item")

# Column of a read's score for each readout: the selected score, and the score expected from the probabilities.
VALUES = {Readout.HARD: "score", Readout.SOFT: "expected_score"}
CALIBRATED_SCORE = "calibrated_score"  # only in a table of scores that was calibrated, see statistic `calibration`
OF_READOUT = {**VALUES, Readout.CALIBRATED: CALIBRATED_SCORE}

FEW_CLUSTERS = 30  # with fewer, intervals of clustered reads are known to be somewhat too short

EVERY = "all"  # as a study, dataset, criterion, position or reason: all of them together
MEAN = "mean"  # as a dataset: the mean over datasets
MACRO = "macro"  # as a criterion: the mean over criteria
NO_SCORES = "none"  # as the source of a dataset's scores: nobody gave scores
HUMAN_SCORES = (1, 2, 3, 4, 5)  # scores whose shares are given in a dataset's description
DEFAULT_PROFILE = "default"  # a judge without the changes of any profile
WRITING, REVIEWING = "reference_writing", "reference_reviewing"  # profiles of the roles of reference answers


def values_in(columns: Collection[str]) -> dict[Readout, str]:
    """Column of each readout of some scores: `VALUES`, and the calibrated score if the scores have it."""
    return {readout: column for readout, column in OF_READOUT.items() if readout in VALUES or column in columns}


def stream(key: Iterable[object]) -> list[object]:
    """Key of the random numbers of a group of reads, without `BASELINE`: studies without conditions draw as before
    them.
    """
    return [part for part in key if part != BASELINE]
