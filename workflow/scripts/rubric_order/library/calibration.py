"""Correction of the scores of single reads, learnt from reads of the same judge in many orderings.

This module and its imports at the top need numpy only, so that a service loads a calibration in little time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rubric_order.base.errors import InputError, nearest
from rubric_order.base.readouts import READ, Readout
from rubric_order.methods.calibration.model import Calibration

if TYPE_CHECKING:
    import pandas as pd

    from rubric_order.library.reads import Single
    from rubric_order.methods.calibration.learning import Evidence
    from rubric_order.methods.position.blocks import Block

    Reads: TypeAlias = pd.DataFrame | str | Path

FORMAT, VERSION = "rubric-order calibration", 1
COLUMN = "calibrated_score"


@dataclass(frozen=True)
class Calibrations(Mapping[str, Calibration]):
    """Dictionary from a judge's name to its calibration; made by `calibrate` or `load_calibration`.

    Attributes:
        judges: the calibration of each judge.
    """

    judges: Mapping[str, Calibration]

    def __getitem__(self, judge: str) -> Calibration:
        return self.judges[judge]

    def __iter__(self) -> Iterator[str]:
        return iter(self.judges)

    def __len__(self) -> int:
        return len(self.judges)

    def score(
        self,
        ordering: Sequence[int],
        *,
        probabilities: Sequence[float] | None = None,
        score: float | None = None,
        judge: str | None = None,
    ) -> float:
        """Calibrated score of one read, for example in a service. It needs numpy only.

        Args:
            ordering: score at each position of the prompt.
            probabilities: probabilities of the scores 1 to n, in this order.
            score: the written score, if no probabilities are given.
            judge: name of the judge; by default the only judge.

        Returns:
            Score from 1 to n.

        Raises:
            InputError: an argument is not as described, or the calibration of this judge has no such readout.
        """
        given = {"probabilities": probabilities, "score": score}
        rows = {name: None if value is None else np.asarray(value, dtype=float)[None] for name, value in given.items()}
        return float(self.scores([ordering], probabilities=rows["probabilities"], scores=rows["score"], judge=judge)[0])

    def scores(
        self,
        orderings: Sequence[Sequence[int]] | np.ndarray,
        *,
        probabilities: np.ndarray | None = None,
        scores: np.ndarray | None = None,
        judge: str | None = None,
    ) -> np.ndarray:
        """Calibrated scores of many reads of one judge.

        Args:
            orderings: score at each position, shape (m, n).
            probabilities: probabilities of the scores 1 to n, shape (m, n); NaN if unknown.
            scores: written scores, if no probabilities are given, shape (m,); NaN if there is none.
            judge: name of the judge; by default the only judge.

        Returns:
            Scores from 1 to n, shape (m,); NaN if nothing is known.

        Raises:
            InputError: see `score`.
        """
        calibration = self._of(judge)
        n = calibration.n
        shown = np.asarray(orderings)
        if shown.ndim != 2 or shown.shape[1] != n or (np.sort(shown, axis=1) != np.arange(1, n + 1)).any():
            raise InputError(f"orderings: expected the scores 1 to {n}, each once, found {_first(shown, n)}")
        if (probabilities is None) == (scores is None):
            raise InputError("expected either probabilities or written scores")
        if scores is not None:
            written = np.asarray(scores, dtype=float)
            bad = ~np.isnan(written) & ~((written >= 1) & (written <= n) & (written % 1 == 0))
            if written.shape != shown.shape[:1] or bad.any():
                value = written[bad][0] if bad.any() else written
                raise InputError(f"scores: expected whole numbers from 1 to {n}, one per read, found {value!r:.60}")
            return self._written(calibration, written, shown)
        shares = np.asarray(probabilities, dtype=float)
        if shares.shape != shown.shape or (shares < 0).any() or np.isinf(shares).any():
            raise InputError(f"probabilities: expected {n} numbers from 0 on a read, found {shares!r:.60}")
        return self._expected(calibration, np.take_along_axis(shares, shown - 1, axis=1), shown)

    def apply(
        self, reads: Reads, *, readout: str | None = None, columns: Mapping[str, str] | None = None
    ) -> pd.DataFrame:
        """A table of reads with the column `calibrated_score`.

        All scores of a judge are calibrated by the same readout, because the two readouts are different quantities.

        Args:
            reads: a table of reads, or a file of them. Its columns are ordering; score, or p_1 to p_n; and judge, if
                there are several judges. Other columns are kept as they are.
            readout: ``soft``, from option probabilities, or ``hard``, from the written score. The default for a judge
                is ``soft`` if all its reads with a score have probabilities, and its calibration was learnt from
                probabilities. Otherwise the default is ``hard``.
            columns: names that the table has for its columns, see `position_bias`.

        Returns:
            The rows as they were. `calibrated_score` is NaN if a read lacks the readout.

        Raises:
            InputError: the reads are not as described (the message names row and field); or a judge has no calibration,
                a calibration for another number of levels, or none by this readout.
        """
        from rubric_order.library import reads as reads_table

        if readout is not None and readout not in set(READ):
            raise InputError(f"readout: expected 'hard' or 'soft', found {readout!r:.60}")
        where = "reads" if not isinstance(reads, str | Path) else reads
        table = reads_table.read_file(reads) if isinstance(reads, str | Path) else reads
        values = np.full(len(table), np.nan)
        for part in reads_table.single_reads(table, where, columns):
            calibration = self._of(part.judge if part.judge is not None else None)
            if part.orderings.shape[1] != calibration.n:
                levels = f"{calibration.n} levels, found orderings of {part.orderings.shape[1]}"
                raise InputError(f"{where}: judge {part.judge or next(iter(self))!r:.60}: expected {levels}")
            values[part.rows] = self._of_part(calibration, part, readout)
        return table.assign(**{COLUMN: values})

    def save(self, path: str | Path) -> None:
        """Write a JSON file, which `load_calibration` reads."""
        from rubric_order.base import files

        judges = {judge: calibration.to_dict() for judge, calibration in self.judges.items()}
        with files.atomic(path) as temporary:
            text = json.dumps({"format": FORMAT, "version": VERSION, "judges": judges}, ensure_ascii=False)
            temporary.write_text(text + "\n", encoding="utf-8")

    def _of(self, judge: str | None) -> Calibration:
        if judge is None:
            if len(self.judges) != 1:
                raise InputError(f"judge: expected one of {', '.join(self.judges):.200}, found none")
            return next(iter(self.judges.values()))
        if judge not in self.judges:
            raise InputError(f"judge {judge!r:.60} has no calibration{nearest(judge, self.judges)}")
        return self.judges[judge]

    def _of_part(self, calibration: Calibration, part: Single, readout: str | None) -> np.ndarray:
        """Calibrated scores of one judge's rows of a table."""
        if readout is None:
            probable = ~np.isnan(part.probabilities[:, 0])
            all_known = bool(probable.any()) and bool(probable[~np.isnan(part.scores)].all())
            readout = Readout.SOFT if all_known and calibration.position is not None else Readout.HARD
        if readout == Readout.SOFT:
            return self._expected(calibration, part.probabilities, part.orderings)
        return self._written(calibration, part.scores, part.orderings)

    def _expected(self, calibration: Calibration, probabilities: np.ndarray, orderings: np.ndarray) -> np.ndarray:
        if calibration.position is None:
            raise InputError("the calibration was learnt without option probabilities; expected readout 'hard'")
        return calibration.of_probabilities(probabilities, orderings)

    def _written(self, calibration: Calibration, scores: np.ndarray, orderings: np.ndarray) -> np.ndarray:
        if calibration.expected is None:
            raise InputError("the calibration was learnt without written scores; expected readout 'soft'")
        return calibration.of_scores(scores, orderings)


def _first(shown: np.ndarray, n: int) -> str:
    """Text for an error: an array's shape if it is no table of orderings, else the first row that is no ordering."""
    if shown.ndim != 2 or shown.shape[1] != n:
        return f"an array of shape {shown.shape}"
    bad = (np.sort(shown, axis=1) != np.arange(1, n + 1)).any(axis=1)
    return str(shown[bad][0].tolist())[:60]


def calibrate(reads: Reads, *, interactions: bool = True, columns: Mapping[str, str] | None = None) -> Calibrations:
    """Learn from reads in many orderings how to correct single reads of the same judge, prompt and rubric.

    From option probabilities, the function learns the preference for each position. From written scores, it learns a
    mean for each score and position: the mean score of the items that got this score at this position.
    ``docs/calibration.md`` says how much this helps, and how many groups are enough.

    Args:
        reads: a table of reads, or a file of them; columns as for `position_bias`. Written scores are used if all items
            are read in the same orderings, such as ``orderings("balanced")``.
        interactions: let the preference for a position differ between scores, if the reads support it.
        columns: names that the table has for its columns, see `position_bias`.

    Returns:
        The calibration of each judge.

    Raises:
        InputError: the reads are not as described (the message names row and field); the items of a judge are of fewer
            than two groups; or the reads do not distinguish positions from scores.

    Examples:
        >>> import numpy as np, pandas as pd, rubric_order as ro
        >>> shown, rows = ro.orderings("balanced", 3), []
        >>> for item in range(12):
        ...     opinion = -(np.arange(1, 4) - 1 - item / 6) ** 2 / 2
        ...     for ordering in shown:
        ...         weight = np.exp(opinion[ordering - 1] + [0.9, 0, 0])  # the judge prefers the first position
        ...         p = dict(zip([f"p_{score}" for score in ordering], weight / weight.sum()))
        ...         row = {"item": f"i{item}", "ordering": ordering.tolist(), "score": ordering[weight.argmax()]}
        ...         rows.append(row | p)
        >>> reads = pd.DataFrame(rows)
        >>> calibration = ro.calibrate(reads)
        >>> calibration["judge"].position.round(2).tolist()
        [0.6, -0.3, -0.3]
        >>> one = calibration.apply(reads[reads["item"] == "i6"])
        >>> one["calibrated_score"].round(3).tolist()
        [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
        >>> round(calibration.score([1, 2, 3], probabilities=one.iloc[0][["p_1", "p_2", "p_3"]]), 3)
        2.0
    """
    from rubric_order.library import estimates, scales
    from rubric_order.library import reads as reads_table
    from rubric_order.methods.calibration import learning
    from rubric_order.methods.position import blocks

    judges = {}
    scores = estimates.scores_of(reads, columns=columns)
    written = [scales.parse(text) for text in scores["scale"].unique()]
    reads_table.check_usual([scale for scale in written if not scale.usual], "reads")
    for block in blocks.blocks(scores):
        judge = str(block.keys["judge"])
        evidence = _evidence(block)
        if evidence is None:
            raise InputError(
                f"judge {judge!r:.60}: nothing to learn from; expected items that are read in several orderings, such"
                ' as orderings("balanced"), with option probabilities or with a score in each'
            )
        groups = np.flatnonzero(evidence.items)
        if len(groups) < learning.FEWEST_GROUPS:
            raise InputError(
                f"judge {judge!r:.60}: expected at least {learning.FEWEST_GROUPS} groups to learn from,"
                f" found {len(groups)}"
            )
        judges[judge] = learning.learn(evidence, groups, interactions=interactions)
    return Calibrations(judges)


def _evidence(block: Block) -> Evidence | None:
    """Evidence from the reads of a judge, in all readouts that the reads have; None if they give no evidence."""
    from rubric_order.methods.calibration import evidence, learning
    from rubric_order.methods.position import preference, selections

    group = block.units("group")
    soft = hard = None
    counted: np.ndarray = np.zeros(len(block.items), dtype=bool)
    if Readout.SOFT in selections.readouts(block) and preference.identifies(block):
        of = preference.compared(block, Readout.SOFT)
        if isinstance(of, preference.Soft) and of.items:
            soft = learning.soft_sums(of.by_cluster(group))
            counted |= (~np.isnan(of.parts[0][0])).any(axis=(1, 2))
    laid = evidence.lay_out(block, Readout.HARD)
    if laid is not None:
        hard = laid._replace(group=group[laid.rows]).evidence().hard
        hard = None if hard is None else learning.padded(hard, int(group.max()) + 1)
        counted |= laid.rows
    if soft is None and hard is None:
        return None
    reads = np.bincount(block.item, minlength=len(block.items))
    items, reads = (np.bincount(group, weights=counted * of_item).astype(int) for of_item in (1, reads))
    return learning.Evidence(block.n, soft, hard, items, reads)


def load_calibration(path: str | Path) -> Calibrations:
    """Read a file that `Calibrations.save` wrote. It needs numpy only.

    Raises:
        InputError: the file is missing, or not as described; the message names the field.

    Examples:
        >>> import tempfile
        >>> mean = np.array([[1.5, 1.4, 1.2], [1.9, 2.0, 2.1], [2.5, 2.6, 2.8]])
        >>> saved = Calibrations({"mine": Calibration(3, np.array([1.0, 0, -1]), np.zeros((3, 3)), mean, 30, 60, 360)})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saved.save(f"{folder}/calibration.json")
        ...     calibration = load_calibration(f"{folder}/calibration.json")
        >>> calibration.score([3, 2, 1], score=3)  # written at the first position, which is preferred
        2.5
        >>> round(calibration.score([3, 2, 1], probabilities=[0.1, 0.3, 0.6]), 2)  # of scores 1 to 3: raw 2.5
        1.94
    """
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path}: malformed JSON: {error!s:.100}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path}: expected a file of format {FORMAT!r}, as Calibrations.save writes it")
    if content.get("version") != VERSION:
        raise InputError(f"{path}: field 'version': expected {VERSION}, found {content.get('version')!r:.60}")
    judges = content.get("judges")
    if not isinstance(judges, dict) or not judges:
        raise InputError(f"{path}: field 'judges': expected a mapping with at least one judge, found {judges!r:.60}")
    return Calibrations(
        {name: Calibration.from_dict(block, f"{path}: judges/{name}") for name, block in judges.items()}
    )
