"""Advice on a further study, from the reads of an existing study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rubric_order.base.errors import InputError, nearest
from rubric_order.base.readouts import READ, Readout
from rubric_order.extras.one_read.agreement.advice import estimate as advice
from rubric_order.extras.one_read.methods.advice import goals
from rubric_order.library import estimates, results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rubric_order.intake.scales import Scale
    from rubric_order.library.results import Reads

SHOWN = (
    *("judge", "readout", "rank", "design", "reads_budget", "orderings", "repeats", "groups", "items", "calls", "cost"),
    *("estimate", "ci_low", "ci_high", "value", "meets", "affordable", "config", "flag"),
)
HEADS = ("strategy", "groups", "items", "calls", "cost", "predicted", "r or mean", "beyond")
NAMES = {Readout.HARD: "written scores", Readout.SOFT: "expected scores"}
SIZES: Mapping[str, Any] = {"panel_height_in": 2.2}


@dataclass(frozen=True, repr=False)
class Advice:
    """Options of a further study.

    Attributes:
        goal: goal of the study.
        table: one row per option; for each judge and readout, the best option first. Its columns say how items are
            read, and have the numbers of groups, items and calls, the cost, and the predicted precision.
        refused: dictionary from each judge and readout without a prediction to the reason.
        statistics: table of all estimates, see ``docs/statistics.md``.
    """

    goal: str
    table: pd.DataFrame
    refused: Mapping[str, str]
    statistics: Mapping[str, pd.DataFrame]
    _draw: Callable[[], Figure]

    @property
    def title(self) -> str:
        """The goal in words."""
        return f"{goals.GOALS[self.goal][0].upper()}{goals.GOALS[self.goal][1:]}"

    @property
    def notes(self) -> list[str]:
        """Sentences on judges and readouts without a prediction, and on variances that count as 0."""
        notes = [f"{name}: {reason}." for name, reason in self.refused.items()]
        flags = [flag for flag in self.table["flag"].unique() if flag]
        return [*notes, *(f"Counted as 0, {flag}." for flag in flags)]

    def lines(self, most: int = 10) -> dict[str, list[tuple[str, ...]]]:
        """Dictionary from judge and readout to their `most` best options as people read them, with columns `HEADS`."""
        lines: dict[str, list[tuple[str, ...]]] = {}
        for row in self.table[self.table["rank"] <= most].to_dict("records"):
            missed = [name for name, column in (("target", "meets"), ("budget", "affordable")) if row[column] == 0]
            reads = "" if pd.isna(row["reads_budget"]) else f" {row['reads_budget']:.0f}"
            precision = f"{row['estimate']:.3f} [{row['ci_low']:.3f}, {row['ci_high']:.3f}]"
            sizes = (
                f"{row['groups']:,.0f}",
                f"{row['items']:.3g}",
                f"{row['calls']:,.0f}",
                _written(row["cost"], ",.2f"),
            )
            line = (f"{row['design']}{reads}", *sizes, precision, _written(row["value"], ".3f"), ", ".join(missed))
            lines.setdefault(f"{row['judge']}, {NAMES[row['readout']]}", []).append(line)
        return lines

    def config(self, place: int = 0, *, study: str = "advised") -> str:
        """Block of config of one option, in YAML, to paste into a config.

        Args:
            place: index of a row of `table`, from 0.
            study: id of the study.

        Returns:
            A block `studies`. Judge and dataset have the names that they have in the reads. The dataset of a plain
            table is called ``reads``.
        """
        row = self.table.iloc[place]
        budget = "" if pd.isna(row["reads_budget"]) else f"    budget: {row['reads_budget']:.0f}\n"
        same = "as in the pilot" if row["like_pilot"] else "fewer than in the pilot: leave others out of the dataset"
        return (
            f"studies:\n  {study}:\n    datasets: [{row['dataset']}]\n    judges: [{row['judge']}]\n"
            f"    scales: [{row['n']}]\n    strategies: [{row['design']}]\n{budget}"
            f"    sample: {row['groups']:.0f} # groups of {row['items']:.3g} items, {same}; {row['calls']:,.0f} calls\n"
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """Options as ``rubric-order advise --json`` prints them; null stands for a value that is not known."""
        rows = self.table.to_dict("records")
        return [{key: None if pd.isna(value) else value for key, value in row.items()} for row in rows]

    def __repr__(self) -> str:
        """The table as text."""
        return self.table[[*SHOWN]].to_string(index=False, float_format="{:.3g}".format, na_rep="")

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        return self.table[[*SHOWN]].to_html(index=False, float_format="{:.3g}".format, na_rep="")

    def plot(self) -> Figure:
        """Draw the precision against the number of calls."""
        return self._draw()


def advise(
    reads: Reads,
    *,
    goal: str,
    target: float | None = None,
    budget: float | None = None,
    price: float | None = None,
    readout: str | None = None,
    columns: Mapping[str, str] | None = None,
    scale: Sequence[str] | str | Scale | None = None,
) -> Advice:
    """Options of a further study, each with the precision that the reads of a pilot predict.

    Args:
        reads: reads of a pilot, as a table or a file; see `position_bias`. All items are read in the same orderings,
            such as those of strategy balanced.
        goal: the precision that is predicted. For ``r``, ``mean`` and ``preference``, it is the half-width of an
            interval: of r with people, of the mean score (points), or of the preference for a position (log-odds). For
            ``ranked``, it is the share of pairs of items that are in the order of their means over all orderings. For
            ``equivalent``, it is the share of studies whose card says equivalent if the judge has no bias. For ``bias``
            and ``shift``, it is the smallest effect that 80% of studies find: a preference for a position (log-odds),
            or a shift by the usual ordering (points).
        target: value that the precision should reach.
        budget: greatest number of calls, or of money if there is a price.
        price: price of one call.
        readout: ``hard`` for written scores, or ``soft`` for expected scores; by default every readout that the reads
            have. Goals of cards (``equivalent``, ``bias``, ``shift``) ignore this argument, and take the readouts that
            decide a card.
        columns, scale: see `position_bias`.

    Returns:
        The options of each judge and readout, the best first. With a target, options that reach it within the budget
        come first, sorted by calls. With a budget and no target, each option spends the budget, and the most precise
        comes first. With neither, options are sorted by calls.

    Raises:
        InputError: an argument or the reads are not as described, or nothing can be predicted from the reads.

    Examples:
        >>> advice = ro.advise(rated, goal="r", target=0.1)
        >>> advice.table[["design", "groups", "calls"]].iloc[-1].tolist()
        ['balanced', 50.0, 500.0]
    """
    if goal not in goals.GOALS:
        raise InputError(
            f"goal: expected one of {', '.join(goals.GOALS)}, found {goal!r:.60}{nearest(goal, goals.GOALS)}"
        )
    for name, value in (("target", target), ("budget", budget), ("price", price)):
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"{name}: expected a number above 0, found {value:g}")
    if goal in goals.RISING and target is not None and not target < 1:
        raise InputError(f"target: {goal} is a share; expected a number below 1, found {target:g}")
    if readout is not None and readout not in set(READ):
        raise InputError(f"readout: expected 'hard' or 'soft', found {readout!r:.60}")
    where: object = reads if isinstance(reads, str | Path) else "reads"
    scores = estimates.scores_of(reads, columns=columns, scale=scale)
    rows = advice.estimate(
        scores,
        goal=goal,
        target=target,
        budget=budget,
        call_prices=dict.fromkeys(scores["judge"].unique(), price),
        points=estimates.POINTS,
        log_odds=estimates.LOG_ODDS,
        margin=estimates.SPREAD,
        confidence=estimates.CONFIDENCE,
        seed=estimates.SEED,
    )
    if readout is not None and goal not in goals.OF_CARDS:
        rows = rows[rows["readout"] == readout]
        if rows.empty:
            raise InputError(f"{where}: no scores by readout {readout!r}; expected probabilities p_1 to p_n")
    refused = rows[rows["kind"] == advice.REFUSED]
    reasons = {f"{row['judge']}, {row['readout']}": row["flag"] for row in refused.to_dict("records")}
    chosen = rows[rows["kind"] == advice.OPTION].reset_index(drop=True)
    if chosen.empty:
        name, reason = next(iter(reasons.items()), ("", "no reads"))
        raise InputError(f"{where}: {name}: {goal} cannot be predicted: {reason}")
    first = chosen["readout"].iloc[0]
    statistics = {"advice": rows}
    return Advice(
        goal, chosen, reasons, statistics, lambda: results.drawn("advice", statistics, readout=first, **SIZES)
    )


def _written(value: float, form: str) -> str:
    return "" if pd.isna(value) else f"{value:{form}}"
