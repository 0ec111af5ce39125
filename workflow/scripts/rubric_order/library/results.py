"""Results of the library: tables that a notebook shows, with a method that draws them.

The examples have one judge. It reads 40 texts in all balanced orderings, and gives a quarter of the texts the score
that stands first.

    >>> import pandas as pd
    >>> import rubric_order as ro
    >>> reads = pd.DataFrame(
    ...     {"item": item, "ordering": order, "score": order[0] if item % 4 == 0 else 1 + item % 5}
    ...     for item in range(40)
    ...     for order in ro.orderings("balanced").tolist()
    ... )
    >>> rated = reads.assign(human_score=1 + reads["item"] % 5)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from rubric_order import catalogue
from rubric_order.base.errors import InputError
from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.base.readouts import READ, Readout
from rubric_order.cards.card import Card
from rubric_order.cards.card import cards as make_cards
from rubric_order.cards.record import CardRecord
from rubric_order.figures import view
from rubric_order.intake import scales
from rubric_order.library import estimates
from rubric_order.methods.position import blocks
from rubric_order.parsing.choices import EMPTY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Reads: TypeAlias = pd.DataFrame | str | Path
SIZE: Mapping[str, Any] = {"width_in": 6.4, "columns": 3}


@dataclass(frozen=True, repr=False)
class Result:
    """Estimates of one question, with groups of items as the sample.

    Attributes:
        table: one row per estimate, see ``docs/statistics.md``. `statistics` has more.
        statistics: dictionary from a statistic's name to the table of all its estimates, also with items as the sample.
    """

    table: pd.DataFrame
    statistics: Mapping[str, pd.DataFrame]
    _draw: Callable[[], Figure]

    def __repr__(self) -> str:
        """The table as text."""
        return repr(self.table)

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        return self.table.to_html(index=False, float_format="{:.3g}".format, na_rep="")

    def plot(self) -> Figure:
        """Draw the estimates, or say why nothing can be drawn."""
        return self._draw()


@dataclass(frozen=True, repr=False)
class BiasCards(Sequence[Card]):
    """Bias cards, one per judge, in the order of the judges' names.

    Attributes:
        cards: the cards.
        statistics: the tables that the cards rest on.
    """

    cards: tuple[Card, ...]
    statistics: Mapping[str, pd.DataFrame]
    _draw: Callable[[], Figure] | None = None

    def __getitem__(self, place: int) -> Card:  # type: ignore[override]
        return self.cards[place]

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[Card]:
        return iter(self.cards)

    def to_dicts(self) -> list[CardRecord]:
        """Cards as ``rubric-order audit --json`` prints them: one object per judge."""
        return [card.to_dict() for card in self.cards]

    def __repr__(self) -> str:
        """The cards as text."""
        return "\n\n".join(map(repr, self.cards))

    def _repr_html_(self) -> str:
        return "".join(card._repr_html_() for card in self.cards)

    def plot(self) -> Figure:
        """Draw the share of each position, or say why nothing can be drawn."""
        return self._draw() if self._draw else _nothing("These cards come without their statistics.")


def position_bias(
    reads: Reads, *, columns: Mapping[str, str] | None = None, scale: Sequence[str] | str | None = None
) -> Result:
    """Selection of positions, and preference for them: shares, Cramer's V, chi-square and log-odds.

    Args:
        reads: a table of reads, or a file of them; columns item, ordering, score and, where known, judge, group,
            p_1 to p_n and human_score.
        columns: names that the table has for its columns, such as ``{"item": "sample_id", "score": "grading.score"}``.
        scale: the levels as they are written, lowest first, such as ``"0-10"`` or ``["E", "D", "C", "B", "A"]``; by
            default the levels that the orderings list.

    Raises:
        InputError: the reads are not as described; the message names row and field.

    Examples:
        >>> table = ro.position_bias(reads).table
        >>> table.loc[table["quantity"] == "share", ["position", "estimate"]].round(2).to_numpy().tolist()
        [[1, 0.4], [2, 0.15], [3, 0.15], [4, 0.15], [5, 0.15]]
    """
    scores = estimates.scores_of(reads, columns=columns, scale=scale)
    estimated = {name: estimates.estimate(name, scores) for name in ("position_selection", "position_preference")}
    parts = [part.dropna(axis=1, how="all") for part in estimated.values() if len(part)]
    joined = pd.concat(parts, ignore_index=True) if parts else estimated["position_selection"]
    return Result(shown(joined), estimated, lambda: _drawn_positions(estimated, scores))


def score_effects(
    reads: Reads, *, columns: Mapping[str, str] | None = None, scale: Sequence[str] | str | None = None
) -> Result:
    """Points by which the order of the score levels moves the scores. Arguments as for `position_bias`.

    Examples:
        >>> table = ro.score_effects(reads).table
        >>> table.loc[table["quantity"] == "usual_minus_balanced", ["estimate", "ci_low", "ci_high"]].round(2).values
        array([[-0.5 , -0.78, -0.22]])
    """
    scores = estimates.scores_of(reads, columns=columns, scale=scale)
    estimated = {"score_effects": estimates.estimate("score_effects", scores)}
    options = {"readouts": list(READ), "row_height_in": 0.2, "dataset": "all"}

    def draw() -> Figure:
        return drawn("score_effects", estimated, empty=_empty_reason(scores), **options)

    return Result(shown(estimated["score_effects"]), estimated, draw)


def agreement(
    reads: Reads, *, columns: Mapping[str, str] | None = None, scale: Sequence[str] | str | None = None
) -> Result:
    """Agreement of each item's mean score with its human score. Arguments as for `position_bias`.

    Raises:
        InputError: see `position_bias`; or no item has a human score.

    Examples:
        >>> table = ro.agreement(rated).table
        >>> dict(zip(table["quantity"], table["estimate"].round(2), strict=True))
        {'pearson': 0.87, 'spearman': 0.86, 'kendall': 0.81, 'kappa': 0.86}
    """
    scores = _rated(estimates.scores_of(reads, columns=columns, scale=scale), reads)
    estimated = {name: estimates.estimate(name, scores) for name in ("human_agreement", "budget_curve")}
    return Result(shown(estimated["human_agreement"]), estimated, lambda: _drawn_budget(estimated))


def budget_curve(
    reads: Reads, *, columns: Mapping[str, str] | None = None, scale: Sequence[str] | str | None = None
) -> Result:
    """Mean correlation with human scores, for each number of reads that are averaged. Arguments as for `agreement`.

    Examples:
        >>> table = ro.budget_curve(rated).table
        >>> table.loc[(table["statistic"] == "pearson") & (table["quantity"] == "r"), "estimate"].round(2).tolist()
        [0.78, 0.83, 0.84, 0.85, 0.85, 0.86, 0.86, 0.86, 0.86, 0.87]
    """
    scores = _rated(estimates.scores_of(reads, columns=columns, scale=scale), reads)
    estimated = {"budget_curve": estimates.estimate("budget_curve", scores)}
    return Result(shown(estimated["budget_curve"]), estimated, lambda: _drawn_budget(estimated))


def bias_card(
    reads: Reads,
    *,
    where: str | Path = "reads",
    columns: Mapping[str, str] | None = None,
    scale: Sequence[str] | str | None = None,
    margin_points: float = estimates.POINTS,
    margin_log_odds: float = estimates.LOG_ODDS,
) -> BiasCards:
    """A card for each judge: biased, equivalent to a judge without bias within the margins, or cannot tell.

    Args:
        reads, columns, scale: see `position_bias`.
        where: name of a table in errors; a file is called by its own name.
        margin_points: a smaller shift of the mean score counts as none.
        margin_log_odds: a smaller preference for a position counts as none.

    Examples:
        >>> card = ro.bias_card(reads)[0]
        >>> card.verdict.word, round(card.to_dict()["usual_minus_balanced"], 6)
        ('biased', -0.5)
    """
    scores = estimates.scores_of(reads, where=where, columns=columns, scale=scale)
    cache = estimates.kept(scores)
    estimated = estimates.card_statistics(cache, points=margin_points, log_odds=margin_log_odds)
    by_judge = {block.keys["judge"]: block for block in cache.blocks}
    cards = [
        replace(card, notes=_notes(by_judge[card.judge], scores.loc[scores["judge"] == card.judge, "unparsed"]))
        for card in make_cards(estimated)
    ]
    return BiasCards(tuple(cards), estimated, lambda: _drawn_positions(estimated, cache))


def _notes(block: blocks.Block, unparsed: pd.Series) -> tuple[str, ...]:
    """Facts that a reader should know about the reads of a judge; `unparsed`: reason for no score, in the order of the
    file.
    """
    table, notes = block.table, []
    if unread := table["unread_judges"].iloc[0]:
        notes.append(unread)
    if not table["named_groups"].iloc[0]:
        notes.append("No groups are named: each item counts as independent of the others.")
    notes += _scale_sentences(scales.parse(table["scale"].iloc[0]))
    notes += _failure_sentences(unparsed)
    score = table["score"].to_numpy(dtype=int, na_value=0)
    cell = block.item * len(block.orderings[0]) + block.orderings[1]
    repeats = len(table) - len(np.unique(cell * (block.n + 1) + score))
    if repeats:
        text = "row repeats" if repeats == 1 else "rows repeat"
        counted = "they count as repeated reads, and each ordering counts once for each item"
        notes.append(f"{repeats:,} {text} item, ordering and score of an earlier one; {counted}.")
    return tuple(notes)


def _scale_sentences(scale: scales.Scale) -> Iterator[str]:
    """A sentence about levels that are not the numbers 1 to n."""
    if scale.usual:
        return
    if scale.numeric:
        apart = "" if scale.step == 1 else f", {scale.step:g} of a written score"
        yield f"Scores are written {scale.words}; a point on this card is one level{apart}."
    else:
        yield f"Levels from the lowest to the highest: {', '.join(scale.labels)}. --scale says it if they are others."


def _failure_sentences(unparsed: pd.Series) -> Iterator[str]:
    counts = unparsed[unparsed.notna() & (unparsed != EMPTY)].value_counts()
    if len(counts):
        listed = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
        yield f"{counts.sum():,} answers were read and give no score: {listed}."


def _rated(scores: pd.DataFrame, reads: Reads) -> pd.DataFrame:
    if scores["human_score"].isna().all():
        where = reads if isinstance(reads, str | Path) else "reads"
        raise InputError(f"{where}: no item has a human score; expected column 'human_score'")
    return scores


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the one dataset by groups, without constant columns; rows of all datasets would repeat them."""
    same = ["study", "profile", "condition", "dataset", "cluster", "seed", "confidence"]
    chosen = table[(table["cluster"] == "group") & (table["dataset"] != EVERY)].drop(columns=same, errors="ignore")
    return chosen.dropna(axis=1, how="all").reset_index(drop=True)


def drawn(name: str, statistics: Mapping[str, pd.DataFrame], *, empty: str = "", **options: Any) -> Figure:
    """A figure of the catalogue, for strategy and scale of the first judge; `empty` is the reason if there is no
    estimate.

    It is closed in pyplot, so that a notebook shows it once, as the value of a cell.
    """
    import matplotlib.pyplot as plt

    table = statistics[name]
    if table.empty:
        return _nothing(empty or "There is no estimate to draw.")
    judges = {judge: judge for judge in table["judge"].unique()}
    first = table.iloc[0]
    selection = {"study": "reads", "strategy": first["strategy"], "n": int(first["n"])}
    labels = Labels(judges=judges, datasets={"reads": "reads"})
    with plt.rc_context():
        module = importlib.import_module(catalogue.module("figures", name))
        figure = view.draw(module, table, **selection, **SIZE, **options, labels=labels)
    plt.close(figure)
    return figure


def _nothing(reason: str) -> Figure:
    import matplotlib.pyplot as plt

    from rubric_order.figures import style

    figure = style.nothing(reason, view.Layout(width_in=SIZE["width_in"]))
    plt.close(figure)
    return figure


def _empty_reason(scores: pd.DataFrame | blocks.Kept) -> str:
    """Reason why reads give no estimate of an effect of the order."""
    parts = [*blocks.blocks(scores)]
    if all(block.table["score"].isna().all() for block in parts):
        return "No read has a score."
    most = max(len(block.orderings[0]) for block in parts)
    if most == 1:
        return "All reads are in one ordering: position and score are one thing."
    if not any(block.crossed for block in parts):
        return (
            f"Some score stands seldom or never in some position ({most} orderings): a preference for a score looks"
            " like one for a position. Read items in more orderings, such as those of strategy balanced."
        )
    return "Scores do not vary, or too few items are read in several orderings."


def _drawn_positions(statistics: Mapping[str, pd.DataFrame], scores: pd.DataFrame | blocks.Kept) -> Figure:
    options = {"readouts": list(READ), "panel_height_in": 2.2}
    return drawn("position_selection", statistics, empty=_empty_reason(scores), **options)


def _drawn_budget(statistics: Mapping[str, pd.DataFrame]) -> Figure:
    options = {"strategies": list(statistics["budget_curve"]["strategy"].unique()), "panel_height_in": 2.2}
    few = "Fewer than two items have a human score and a score from each of several reads: there is no curve."
    return drawn("budget_curve", statistics, empty=few, measure="pearson", readout=Readout.HARD, **options)
