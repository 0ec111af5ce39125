"""Correction of the scores of single reads, learnt from reads of the same judge in many orderings.

Imports at the top need numpy only, so that a service loads a calibration quickly.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rubric_order.base.errors import InputError, nearest
from rubric_order.base.readouts import READ, Readout
from rubric_order.extras.one_read.methods.calibration.model import Calibration
from rubric_order.methods.uncertainty import enough

if TYPE_CHECKING:
    import pandas as pd

    from rubric_order.extras.one_read.methods.calibration.learning import Evidence
    from rubric_order.intake.score_tables import Single
    from rubric_order.methods.position.blocks import Block

    Reads: TypeAlias = pd.DataFrame | str | Path

FORMAT, VERSION = "rubric-order calibration", 1
COLUMN = "calibrated_score"
NAMES, TEXTS = ("judge", "criterion", "condition"), ("rubric", "prompt", "model")
APART = 0.15  # distance of shares of levels, beyond chance, from which reads are not like those that were learnt from


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
        regression: bool = False,
        **use: str | None,
    ) -> float:
        """Calibrated score of one read, for example in a service. It needs numpy only.

        Args:
            ordering: score at each position of the prompt.
            probabilities: probabilities of the scores 1 to n, in this order.
            score: the written score, if no probabilities are given.
            regression, use: see `scores`.

        Returns:
            The score: from 1 to n by probabilities.

        Raises:
            InputError: an argument is not as described, or the calibration of this judge has no such readout.
        """
        if isinstance(score, bool | np.bool_):
            raise InputError(f"score: expected a whole number, found {score!r}")
        values = {"probabilities": probabilities, "score": score}
        rows = {name: None if value is None else np.asarray(value, dtype=float)[None] for name, value in values.items()}
        shares, written = rows["probabilities"], rows["score"]
        return float(self.scores([ordering], probabilities=shares, scores=written, regression=regression, **use)[0])

    def scores(
        self,
        orderings: Sequence[Sequence[int]] | np.ndarray,
        *,
        probabilities: np.ndarray | None = None,
        scores: np.ndarray | None = None,
        regression: bool = False,
        **use: str | None,
    ) -> np.ndarray:
        """Calibrated scores of many reads of one judge.

        Args:
            orderings: score at each position, shape (m, n).
            probabilities: probabilities of the scores 1 to n, shape (m, n); NaN if unknown.
            scores: written scores, if no probabilities are given, shape (m,); NaN if there is none.
            regression: True to draw written scores towards the mean too, see `Calibration.calibrate_scores`.
            use: `judge`, `criterion` and `condition` of the reads, needed where the file has several; and the texts
                `rubric`, `prompt` and `model`, which have to be those that `calibrate` was given.

        Returns:
            Shape (m,); NaN if nothing is known. From 1 to n by probabilities; a written score with its correction can
            lie a little outside.

        Raises:
            InputError: see `score`; or `regression` is asked for levels that were not learnt from.
        """
        calibration = self._of(use)
        n = calibration.n
        order = np.asarray(orderings)
        truths = not isinstance(orderings, np.ndarray) and any(isinstance(v, bool) for row in orderings for v in row)
        ordered = order.dtype.kind in "iu" and not truths and order.ndim == 2 and order.shape[1] == n
        if not ordered or (np.sort(order, axis=1) != np.arange(1, n + 1)).any():
            raise InputError(
                f"orderings: expected whole scores 1 to {n}, each once, found {_first(order, n) or str(orderings):.60}"
            )
        if (probabilities is None) == (scores is None):
            raise InputError("expected either probabilities or written scores")
        if scores is not None:
            written = np.asarray(scores, dtype=float)
            bad = ~np.isnan(written) & ~((written >= 1) & (written <= n) & (written % 1 == 0))
            if np.asarray(scores).dtype.kind == "b" or written.shape != order.shape[:1] or bad.any():
                value = written[bad][0] if bad.any() else np.asarray(scores)
                raise InputError(f"scores: expected whole numbers from 1 to {n}, one per read, found {value!r:.60}")
            return self._written(calibration, written, order, regression, "scores")
        shares = np.asarray(probabilities, dtype=float)
        if shares.shape != order.shape or (shares < 0).any() or np.isinf(shares).any():
            raise InputError(f"probabilities: expected {n} numbers from 0 on a read, found {shares!r:.60}")
        return self._expected(calibration, np.take_along_axis(shares, order - 1, axis=1), order)

    def apply(
        self,
        reads: Reads,
        *,
        readout: str | None = None,
        regression: bool = False,
        columns: Mapping[str, str] | None = None,
        **use: str | None,
    ) -> pd.DataFrame:
        """A table of reads with the column `calibrated_score`.

        All scores of a judge are calibrated by the same readout, because the two readouts are different quantities. A
        warning names judges that wrote levels which were not learnt from, or whose shares of levels are far from those
        that were learnt from.

        Args:
            reads: a table of reads, or a file of them. Its columns are ordering; score, or p_1 to p_n; and judge,
                criterion and condition, if there are several. Other columns are kept as they are.
            readout: ``soft``, from option probabilities, or ``hard``, from the written score. The default for a judge
                is ``soft`` if all its reads with a score have probabilities, and its calibration was learnt from
                probabilities. Otherwise the default is ``hard``.
            regression: True to draw written scores towards the mean of the texts that were learnt from. Single scores
                come nearer to their balanced means, but differences between systems shrink, often by half.
            columns: names that the table has for its columns, see `position_bias`.
            use: see `scores`.

        Returns:
            The rows as they were. `calibrated_score` is NaN if a read lacks the readout.

        Raises:
            InputError: the reads are not as described (the message names row and field); or a judge has no calibration,
                a calibration for another number of levels or another rubric, prompt or model, or none by this readout;
                or `regression` is asked for levels, or shares of levels, that were not learnt from.
        """
        from rubric_order.intake import score_tables

        if readout is not None and readout not in set(READ):
            raise InputError(f"readout: expected 'hard' or 'soft', found {readout!r:.60}")
        where = "reads" if not isinstance(reads, str | Path) else reads
        table = score_tables.read_file(reads) if isinstance(reads, str | Path) else reads
        values = np.full(len(table), np.nan)
        for part in score_tables.single_reads(score_tables.rename_columns(table, columns, where), where):
            calibration = self._of({**use, **part.about})
            judge = f"{where}: judge {part.about.get('judge') or next(iter(self))!r:.60}"
            if part.orderings.shape[1] != calibration.n:
                raise InputError(
                    f"{judge}: expected {calibration.n} levels, found orderings of {part.orderings.shape[1]}"
                )
            kind = readout or _readout(calibration, part)
            if kind == Readout.SOFT:
                _check_levels(calibration, part.scores, part.orderings, judge)
                values[part.rows] = self._expected(calibration, part.probabilities, part.orderings)
            else:
                values[part.rows] = self._written(calibration, part.scores, part.orderings, regression, judge)
        return table.assign(**{COLUMN: values})

    def save(self, path: str | Path) -> None:
        """Write a JSON file, which `load_calibration` reads."""
        from rubric_order.base import files

        judges = {judge: calibration.to_dict() for judge, calibration in self.judges.items()}
        with files.atomic(path) as temporary:
            text = json.dumps({"format": FORMAT, "version": VERSION, "judges": judges}, ensure_ascii=False)
            temporary.write_text(text + "\n", encoding="utf-8")

    def _of(self, use: Mapping[str, str | None]) -> Calibration:
        """The only calibration that is for this use.

        Raises:
            InputError: there is none, or several; or a text is another than the one that was learnt with.
        """
        _check_texts(use, (*NAMES, *TEXTS))
        chosen = {name: {"judge": name, **calibration.about} for name, calibration in self.judges.items()}
        for field in NAMES:
            there = dict.fromkeys(about[field] for about in chosen.values() if field in about)
            value = use.get(field)
            if value is None and len(there) > 1:
                raise InputError(f"{field}: expected one of {', '.join(there):.200}, found none")
            chosen = {
                name: about for name, about in chosen.items() if about.get(field, value) == (value or about.get(field))
            }
            if not chosen:
                raise InputError(f"{field} {value!r:.60} has no calibration{nearest(value, there)}")
        name, about = next(iter(chosen.items()))
        for field in TEXTS:
            digest = _digest(use.get(field))
            if digest and field in about and about[field] != digest:
                raise InputError(
                    f"{name}: {field}: the calibration was learnt with another {field} (digest {about[field]}, found"
                    f" {digest}); learn one from reads with this {field}"
                )
        return self.judges[name]

    def _expected(self, calibration: Calibration, probabilities: np.ndarray, orderings: np.ndarray) -> np.ndarray:
        if calibration.position is None:
            raise InputError("the calibration was learnt without option probabilities; expected readout 'hard'")
        return calibration.calibrate_probabilities(probabilities, orderings)

    def _written(
        self, calibration: Calibration, scores: np.ndarray, orderings: np.ndarray, regression: bool, where: str
    ) -> np.ndarray:
        if calibration.expected is None:
            raise InputError("the calibration was learnt without written scores; expected readout 'soft'")
        _check_levels(calibration, scores, orderings, where, refuse=regression)
        return calibration.calibrate_scores(scores, orderings, regression=regression)


def _readout(calibration: Calibration, part: Single) -> Readout:
    probable = ~np.isnan(part.probabilities[:, 0])
    all_known = bool(probable.any()) and bool(probable[~np.isnan(part.scores)].all())
    return Readout.SOFT if all_known and calibration.position is not None else Readout.HARD


def _check_texts(texts: Mapping[str, object], names: Sequence[str]) -> None:
    for name, text in texts.items():
        if name not in names:
            raise InputError(f"{name}: unknown argument; expected one of {', '.join(names)}")
        if not isinstance(text, str | None):
            raise InputError(f"{name}: expected a text, found {text!r:.60}")


def _digest(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode()).hexdigest()[:16]


def _check_levels(
    calibration: Calibration, scores: np.ndarray, orderings: np.ndarray, where: str, *, refuse: bool = False
) -> None:
    """Warn of (or refuse) levels that were not learnt from, and shares of levels `APART` from those that were, beyond
    chance.

    The expected share of a level in an ordering is proportional to the reads with this level that were learnt from,
    times the reads with a score at its position; the distance is half the sum of absolute differences.
    """
    scored = ~np.isnan(scores)
    if calibration.counts is None or not scored.any():
        return
    level, position = calibration.counts.sum(axis=1), calibration.counts.sum(axis=0)
    written, order = scores[scored].astype(int) - 1, orderings[scored]
    share = np.bincount(written, minlength=calibration.n) / len(written)
    weights = level[order - 1] * position
    expected = np.bincount((order - 1).ravel(), (weights / weights.sum(axis=1, keepdims=True)).ravel())
    by_chance = np.sqrt(2 * (calibration.n - 1) / np.pi * (1 / calibration.groups + 1 / len(written)))
    unread, apart = (level == 0) & (share > 0), np.abs(share - expected / len(written)).sum() / 2
    if unread.any() or apart > APART + by_chance:
        now, learnt = (" ".join(f"{part:.0%}" for part in of) for of in (share, level / level.sum()))
        unlike = f"{where}: shares of the scores 1 to {calibration.n}: {now}, where the calibration was learnt {learnt}"
        if refuse:
            raise InputError(f"{unlike}; regression to the mean of other texts needs texts like these")
        warnings.warn(f"{unlike}; learn a calibration from texts like these", stacklevel=4)


def _first(shown: np.ndarray, n: int) -> str:
    """Text for an error: the shape if this is no table of orderings, else the first row that is none, if any."""
    if shown.ndim != 2 or shown.shape[1] != n:
        return f"an array of shape {shown.shape}"
    bad = (np.sort(shown, axis=1) != np.arange(1, n + 1)).any(axis=1)
    return str(shown[bad][0].tolist())[:60] if bad.any() else ""


def calibrate(
    reads: Reads, *, interactions: bool = True, columns: Mapping[str, str] | None = None, **texts: str
) -> Calibrations:
    """Learn from reads in many orderings how to correct single reads of the same judge, prompt and rubric.

    From option probabilities, the function learns the preference for each position. From written scores, it learns
    what each position adds to each score, and to the mean of all scores. ``docs/calibration.md`` says how much this
    helps, and how many groups are enough.

    Args:
        reads: a table of reads, or a file of them; columns as for `position_bias`, and ``condition`` if prompts differ.
            Written scores are used if all items are read in the same orderings, such as ``orderings("balanced")``.
        interactions: let the preference for a position differ between scores, if the reads support it.
        columns: names that the table has for its columns, see `position_bias`.
        texts: `rubric`, `prompt` and `model` of the reads. The file keeps their digests, and `Calibrations.apply`
            refuses others.

    Returns:
        The calibration of each judge; of each criterion and condition of a judge where there are several.

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
    from rubric_order.intake import score_tables
    from rubric_order.library import estimates

    _check_texts(texts, TEXTS)
    where = reads if isinstance(reads, str | Path) else "reads"
    table = score_tables.read_file(reads, packed=True) if isinstance(reads, str | Path) else reads
    table = score_tables.rename_columns(table, columns, where)
    whole = estimates.scores_of(table, where=where)
    uses = [*score_tables.judge_rows(table)]
    judges = {}
    for about, rows in uses:
        scores = whole if len(uses) == 1 else estimates.scores_of(table.iloc[rows], where=where)
        about = {"judge": str(scores["judge"].iloc[0])} | about
        several = [field for field in NAMES[1:] if len({use.get(field) for use, _ in uses}) > 1]
        name = ", ".join([about["judge"], *(about.get(field, "") for field in several)])
        digests = {field: _digest(text) for field, text in texts.items()}
        judges[name] = _learnt(scores, name, interactions)._replace(about=about | digests)
    return Calibrations(judges)


def _learnt(scores: pd.DataFrame, name: str, interactions: bool) -> Calibration:
    """The calibration from the reads of one judge, criterion and condition."""
    from rubric_order.extras.one_read.methods.calibration import learning
    from rubric_order.intake import scales, score_tables
    from rubric_order.methods.position import blocks

    written = [scales.parse(text) for text in scores["scale"].unique()]
    score_tables.check_usual([scale for scale in written if not scale.usual], "reads")
    (block,) = blocks.blocks(scores)
    evidence = _evidence(block)
    if evidence is None:
        raise InputError(
            f"judge {name!r:.60}: nothing to learn from; expected items that are read in several orderings, such"
            ' as orderings("balanced"), with option probabilities or with a score in each'
        )
    groups = np.flatnonzero(evidence.items)
    if few := enough.LEARNING.refusal(len(groups), len(groups)):
        raise InputError(f"judge {name!r:.60}: {few}")
    return learning.learn(evidence, groups, interactions=interactions)


def _evidence(block: Block) -> Evidence | None:
    """Evidence from the reads of a judge, in all readouts that the reads have; None if they give no evidence."""
    from rubric_order.extras.one_read.methods.calibration import evidence, learning
    from rubric_order.methods.position import preference, selections

    group = block.units("group")
    soft = hard = None
    counted: np.ndarray = np.zeros(len(block.items), dtype=bool)
    if Readout.SOFT in selections.readouts(block) and preference.identifies(block):
        of = preference.compared(block, Readout.SOFT)
        if isinstance(of, preference.Soft) and of.items:
            soft = learning.soft_sums(of.regroup(group))
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
        >>> round(calibration.score([3, 2, 1], score=3), 2)  # written at the first position, which is preferred
        2.87
        >>> calibration.score([3, 2, 1], score=3, regression=True)  # the mean of texts with this score at this position
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
