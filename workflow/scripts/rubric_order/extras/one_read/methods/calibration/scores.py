"""Calibrated scores of a study's own reads: each group is corrected by position effects in other groups.

Calibrations are learnt from the balanced reads of other folds, and correct the reads of all strategies.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import CALIBRATED_SCORE, KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.extras.one_read.methods.calibration import learning
from rubric_order.extras.one_read.methods.calibration.evidence import Laid, lay_out
from rubric_order.extras.one_read.methods.calibration.model import Calibration
from rubric_order.methods.position import blocks
from rubric_order.methods.position.blocks import Block
from rubric_order.methods.position.selections import READOUTS
from rubric_order.methods.uncertainty import resampling
from rubric_order.strategies import EVERY_POSITION, RECORDED

COLUMNS = [*blocks.COLUMNS, *READOUTS.values()]
NAME = "calibration"  # column with the name of the calibration
FEWEST_GROUPS = 3  # with fewer, a group would have fewer than two other groups to learn from
WITHOUT_STRATEGY = [key for key in KEYS if key != "strategy"]


def calibrated(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, folds: int, interactions: bool, seed: int
) -> Iterator[pd.DataFrame]:
    """Add `calibrated_score` and `calibration` (strategy, readout and folds that it is from, or empty) to tables, each
    with all reads of its studies, judges and datasets.

    From probabilities if all scored reads have them, else from written scores; NaN without the readout, or without
    `FEWEST_GROUPS` groups of complete balanced reads (`evidence.lay_out`).
    """
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        values = np.full(len(table), np.nan)
        calibrations: np.ndarray = np.full(len(table), "", dtype=object)
        parts = table.groupby(WITHOUT_STRATEGY, sort=True).indices if len(table) else {}
        for key, rows in parts.items():
            part = table.iloc[rows]
            readout = _readout(part)
            laid = _learnt_from(part, readout)
            if laid is None:
                continue
            strategy, reads, groups = laid
            name = "/".join(map(str, key))
            fold, models = _models(reads, folds=folds, interactions=interactions, seed=seed, name=name)
            of_group = dict(zip(groups, fold, strict=True))
            # A group without complete reads is in no fold: no calibration has seen it.
            index = part["group_id"].map(of_group).fillna(-1).to_numpy(dtype=int)
            values[rows] = _applied(part, readout, index, models)
            calibrations[rows] = f"{strategy}, {readout}, {len(models) - 1} folds"
        yield table.assign(**{CALIBRATED_SCORE: values, NAME: calibrations})


def _readout(part: pd.DataFrame) -> Readout:
    column = READOUTS[Readout.SOFT]
    if column not in part or part[column].isna().all():
        return Readout.HARD
    written = part["score"].notna() & part["failure"].isna() if "failure" in part else part["score"].notna()
    return Readout.SOFT if part.loc[written, column].notna().all() else Readout.HARD


def _learnt_from(part: pd.DataFrame, readout: Readout) -> tuple[str, Laid, list[str]] | None:
    """Strategy to learn from, its complete reads, and the names of their groups; None without enough groups."""
    by_strategy: dict[str, Block] = {str(block.keys["strategy"]): block for block in blocks.blocks(part)}
    for strategy in (*EVERY_POSITION, RECORDED):
        if strategy not in by_strategy or (laid := lay_out(by_strategy[strategy], readout)) is None:
            continue
        if int(laid.group.max()) + 1 >= FEWEST_GROUPS:
            return strategy, laid, sorted(by_strategy[strategy].items.loc[laid.rows, "group_id"].unique())
    return None


def _models(
    laid: Laid, *, folds: int, interactions: bool, seed: int, name: str
) -> tuple[np.ndarray, dict[int, Calibration]]:
    """Fold of each group, and the calibration learnt from the other folds by fold (-1: from all groups)."""
    evidence, count = laid.evidence(), int(laid.group.max()) + 1
    few = count < 2 * learning.FEWEST_GROUPS  # with two folds, one could have too few groups to learn from
    fold = resampling.folds(count, count if few else folds, seed=seed, name=name)
    chosen = {-1: np.arange(count)} | {int(one): np.flatnonzero(fold != one) for one in np.unique(fold)}
    return fold, {one: learning.learn(evidence, groups, interactions=interactions) for one, groups in chosen.items()}


def _applied(part: pd.DataFrame, readout: Readout, fold: np.ndarray, models: dict[int, Calibration]) -> np.ndarray:
    """Calibrated score of each read, shape (n_reads,)."""
    values = np.full(len(part), np.nan)
    n = int(part["n"].iloc[0])
    orderings = blocks.matrix_of(part["ordering"].to_numpy()).reshape(len(part), n)
    is_read = part[READOUTS[Readout.SOFT] if readout == Readout.SOFT else VALUES[readout]].notna().to_numpy()
    for one, model in models.items():
        rows = np.flatnonzero(is_read & (fold == one))
        if not len(rows):
            continue
        if readout == Readout.SOFT:
            shares = blocks.matrix_of(part[READOUTS[readout]].to_numpy()[rows])
            values[rows] = model.calibrate_probabilities(shares, orderings[rows])
        else:
            written = part[VALUES[readout]].to_numpy(dtype=float, na_value=np.nan)[rows]
            values[rows] = model.calibrate_scores(written, orderings[rows])
    return values
