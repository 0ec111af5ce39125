"""Calibrated scores of a study's own reads: each group is corrected by position effects in other groups.

A score is never corrected by a calibration that has seen the score's group. So groups are divided into folds, and the
reads of a fold are corrected by a calibration learnt from the balanced reads of the other folds. The same calibrations
correct the reads of other strategies, such as a single read in the usual order.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import CALIBRATED_SCORE, KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.methods.calibration import learning
from rubric_order.methods.calibration.evidence import Laid, lay_out
from rubric_order.methods.calibration.model import Calibration
from rubric_order.methods.position import blocks
from rubric_order.methods.position.blocks import Block
from rubric_order.methods.position.selections import READOUTS
from rubric_order.strategies import EVERY_POSITION, RECORDED

COLUMNS = [*blocks.COLUMNS, *READOUTS.values()]
NAME = "calibration"  # column with the name of the calibration
FEWEST_GROUPS = 3  # with fewer, a group would have fewer than two other groups to learn from
WITHOUT_STRATEGY = [key for key in KEYS if key != "strategy"]


def calibrated(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, folds: int, interactions: bool, seed: int
) -> Iterator[pd.DataFrame]:
    """Add the columns `calibrated_score` and `calibration` to tables of scores; other columns stay as they are.

    Args:
        scores: reads with their scores, one row per read; or several such tables. The reads of a study, judge and
            dataset lie in one table.
        folds: number of folds of the groups. If there are few groups, each group is a fold.
        interactions: True to let position effects differ between scores, as far as the reads support it.
        seed: seed of the folds.

    Returns:
        The tables with two more columns.

        `calibrated_score` is from 1 to n. It is computed from the option probabilities if all of the judge's reads with
        a score have probabilities, else from the written score. It is NaN for a read that lacks the readout from which
        it is computed. It is also NaN if there is nothing to learn from: no strategy gives complete reads in balanced
        orderings, see `evidence.lay_out`, of at least `FEWEST_GROUPS` groups.

        `calibration` names the strategy and the readout from which the calibration was learnt, and the number of folds.
        It is empty if there is no calibration.
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
            own = part["group_id"].map(of_group).fillna(-1).to_numpy(dtype=int)
            values[rows] = _applied(part, readout, own, models)
            calibrations[rows] = f"{strategy}, {readout}, {len(models) - 1} folds"
        yield table.assign(**{CALIBRATED_SCORE: values, NAME: calibrations})


def _readout(part: pd.DataFrame) -> Readout:
    """Readout to calibrate, chosen as in `Calibrations.apply`."""
    column = READOUTS[Readout.SOFT]
    if column not in part or part[column].isna().all():
        return Readout.HARD
    written = part["score"].notna() & part["failure"].isna() if "failure" in part else part["score"].notna()
    return Readout.SOFT if part.loc[written, column].notna().all() else Readout.HARD


def _learnt_from(part: pd.DataFrame, readout: Readout) -> tuple[str, Laid, list[str]] | None:
    """Strategy to learn from, its complete reads, and the names of their groups; None without enough groups."""
    own: dict[str, Block] = {str(block.keys["strategy"]): block for block in blocks.blocks(part)}
    for strategy in (*EVERY_POSITION, RECORDED):
        if strategy not in own or (laid := lay_out(own[strategy], readout)) is None:
            continue
        if int(laid.group.max()) + 1 >= FEWEST_GROUPS:
            return strategy, laid, sorted(own[strategy].items.loc[laid.rows, "group_id"].unique())
    return None


def _models(
    laid: Laid, *, folds: int, interactions: bool, seed: int, name: str
) -> tuple[np.ndarray, dict[int, Calibration]]:
    """Fold of each group, and a dictionary from each fold to the calibration learnt from the other folds.

    Key -1 has the calibration learnt from all groups.
    """
    evidence, count = laid.evidence(), int(laid.group.max()) + 1
    few = count < 2 * learning.FEWEST_GROUPS  # with two folds, one could have too few groups to learn from
    fold = learning.folds(count, count if few else folds, seed=seed, name=name)
    chosen = {-1: np.arange(count)} | {int(one): np.flatnonzero(fold != one) for one in np.unique(fold)}
    return fold, {one: learning.learn(evidence, groups, interactions=interactions) for one, groups in chosen.items()}


def _applied(part: pd.DataFrame, readout: Readout, fold: np.ndarray, models: dict[int, Calibration]) -> np.ndarray:
    """Calibrated score of each read, shape (n_reads,)."""
    values = np.full(len(part), np.nan)
    n = int(part["n"].iloc[0])
    shown = blocks.matrix_of(part["ordering"].to_numpy()).reshape(len(part), n)
    is_read = part[READOUTS[Readout.SOFT] if readout == Readout.SOFT else VALUES[readout]].notna().to_numpy()
    for one, model in models.items():
        rows = np.flatnonzero(is_read & (fold == one))
        if not len(rows):
            continue
        if readout == Readout.SOFT:
            shares = blocks.matrix_of(part[READOUTS[readout]].to_numpy()[rows])
            values[rows] = model.of_probabilities(shares, shown[rows])
        else:
            written = part[VALUES[readout]].to_numpy(dtype=float, na_value=np.nan)[rows]
            values[rows] = model.of_scores(written, shown[rows])
    return values
