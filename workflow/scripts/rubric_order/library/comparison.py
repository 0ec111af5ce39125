"""Two judges compared on the items that both have read."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.analyses.position.judge_comparison import estimate as judge_comparison
from rubric_order.base.errors import InputError
from rubric_order.base.intervals import Interval
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.cards.card import Card, facts
from rubric_order.cards.verdict import READ_AS
from rubric_order.intake import scales
from rubric_order.intake.columns import Columns
from rubric_order.library import estimates
from rubric_order.library.results import Reads
from rubric_order.methods.position import uniformity
from rubric_order.methods.uncertainty import multiplicity
from rubric_order.pages import page as pages

FORMAT, VERSION = "rubric-order comparison", 1
LEVEL = 0.05  # of all tests of a comparison together
QUANTITIES = {
    "first_last": ("first less last position", "log-odds"),
    "ends_middle": ("first and last less the middle", "log-odds"),
    "usual_minus_balanced": ("usual ordering less mean of all orderings", "points"),
}  # each in words, with its unit
DIFFERENT, NOT_FOUND, CANNOT_TELL = OUTCOMES = ("different", "no difference found", "cannot tell")
READOUTS: dict[str, str] = {Readout.HARD: "written", Readout.SOFT: "probabilities"}


class Difference(NamedTuple):
    """One quantity of both judges (hard or soft), and their difference, `of_one` minus `of_other`; NaN without interval
    or p.

    `n_groups` contribute to the difference; `p_holm` is adjusted for all differences.
    """

    quantity: str
    readout: str
    of_one: float
    of_other: float
    estimate: float
    low: float
    high: float
    p_holm: float
    n_groups: int

    @property
    def unit(self) -> str:
        return QUANTITIES[self.quantity][1]

    @property
    def words(self) -> tuple[str, str, str, str, str, str]:
        """The row as people read it: quantity, readout, both estimates, the difference with its interval, and p."""
        ends = "no interval" if math.isnan(self.low) else f"{self.low:+z.2f}, {self.high:+z.2f}"
        p = "-" if math.isnan(self.p_holm) else "< .001" if self.p_holm < 0.001 else f"{self.p_holm:.3f}".lstrip("0")
        sides = (f"{self.of_one:+z.2f}", f"{self.of_other:+z.2f}", f"{self.estimate:+z.2f} [{ends}]")
        return (", ".join(QUANTITIES[self.quantity]), READOUTS[self.readout], *sides, p)


class Comparison(NamedTuple):
    """Differences between two judges, `one` minus `other`, with one of `OUTCOMES`; counts are of what both have
    read.
    """

    one: str
    other: str
    verdict: str
    reasons: tuple[str, ...]
    differences: tuple[Difference, ...]
    n_items: int
    n_groups: int

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON has it, with name and version of the format; an unknown value is None."""
        rows = [{k: None if v != v else v for k, v in difference._asdict().items()} for difference in self.differences]
        return (
            {"format": FORMAT, "version": VERSION}
            | self._asdict()
            | {"reasons": list(self.reasons), "differences": rows}
        )


def page(found: Comparison, cards: Iterable[Card]) -> str:
    """Page of a comparison, one file that loads nothing else; each card is made from all reads of its side."""
    judge_names, cards = (found.one, found.other), list(cards)
    card_of = {card.judge: card for card in cards}  # two runs of one judge are renamed, and found by their order
    reach: dict[str, float] = {}  # from a unit to the largest value on its axis
    for difference in found.differences:
        ends = [abs(end) for end in (difference.estimate, difference.low, difference.high) if not math.isnan(end)]
        reach[difference.unit] = max([reach.get(difference.unit, 0.0), *ends])
    rows = [
        {"words": difference.words, "bar": _bar(difference, reach[difference.unit])} for difference in found.differences
    ]
    sides = [
        {
            "name": name,
            "word": card.verdict.word,
            "reasons": card.verdict.reasons,
            "advice": card.verdict.advice,
            "facts": facts(card.evidence),
        }
        for name, card in zip(
            judge_names, [card_of.get(*side) for side in zip(judge_names, cards, strict=True)], strict=True
        )
    ]
    return pages.render("comparison.html.jinja", found=found, rows=rows, sides=sides, level=LEVEL)


def _bar(each: Difference, reach: float) -> dict[str, float] | None:
    """Percent of the width; 0 is in the middle."""
    if math.isnan(each.low) or not reach:
        return None
    low, high, at = (50 + 48 * end / reach for end in (each.low, each.high, each.estimate))
    return {"low": round(low, 2), "width": round(high - low, 2), "at": round(at, 2)}


def compare(
    one: Reads,
    other: Reads | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    scale: str | None = None,
) -> Comparison:
    """Compare the effects of the order on two judges, prompts or settings: of two tables or files, or of one with two
    judges.

    Position preference (log-odds) and the usual ordering's effect (points), paired by group; Holm's adjustment keeps
    all tests together at `LEVEL` for equal judges.
    """
    mapping = None if columns is None else Columns(dict(columns)).checked("columns")
    sides = _sides(one, other, mapping, None if scale is None else scales.parse(scale))
    judge_names = [side["judge"].iloc[0] for side in sides]
    if len(set(judge_names)) < 2:
        places = (
            ["one", "other"]
            if isinstance(one, pd.DataFrame)
            else [Path(file).stem for file in (one, other) if file is not None]
        )
        places = ["one", "other"] if places[0] == places[1] else places
        judge_names = [f"{name} ({place})" for name, place in zip(judge_names, places, strict=True)]
    levels = [int(side["n"].iloc[0]) for side in sides]
    if levels[0] != levels[1]:
        raise InputError(f"judges have {levels[0]} and {levels[1]} score levels; expected the same number")
    shared = set(sides[0]["item_id"]) & set(sides[1]["item_id"])
    if not shared:
        raise InputError("the two judges have no item in common; items are the same where their names are")
    # Both sides get the same strategy and grouping, since only such reads are compared. Each side keeps its own
    # orderings.
    both = [side.loc[side["item_id"].isin(shared), judge_comparison.COLUMNS["scores"]] for side in sides]
    strategy = both[0]["strategy"].iloc[0] if both[0]["strategy"].iloc[0] == both[1]["strategy"].iloc[0] else "recorded"
    groups = both[0].drop_duplicates("item_id").set_index("item_id")["group_id"]
    scores = [
        side.assign(judge=f"j{place}", strategy=strategy, group_id=side["item_id"].map(groups))
        for place, side in enumerate(both)
    ]
    rows = judge_comparison.differences(scores, confidence=estimates.CONFIDENCE, clusters=["group"])
    differences = _differences([row for row in rows if row["quantity"] in QUANTITIES])
    word, reasons = verdict(differences, groups.nunique())
    return Comparison(judge_names[0], judge_names[1], word, reasons, differences, len(shared), groups.nunique())


def _sides(one: Reads, other: Reads | None, columns: Columns | None, scale: scales.Scale | None) -> list[pd.DataFrame]:
    tables = [estimates.scores_of(reads, columns=columns, scale=scale) for reads in (one, other) if reads is not None]
    judges = [table[table["judge"] == judge] for table in tables for judge in table["judge"].unique()]
    if len(judges) != 2:
        listed = ", ".join(str(part["judge"].iloc[0]) for part in judges)
        raise InputError(f"expected two judges, one per file or both in one, found {len(judges)}: {listed:.100}")
    return judges


def _differences(rows: Sequence[Row]) -> tuple[Difference, ...]:
    """The differences in some rows, with p-values adjusted for the number of rows."""
    adjusted = multiplicity.holm(np.array([row["p"] for row in rows], dtype=float))
    differences = []
    for row, p in zip(rows, adjusted, strict=True):
        interval, sides = Interval.of(row), (float(row["of_one"]), float(row["of_other"]))
        interval, sides = (interval, sides) if row["one"] == "j0" else (-interval, sides[::-1])
        differences.append(
            Difference(row["quantity"], str(row["readout"]), *sides, *interval, float(p), int(row["n_clusters"]))
        )
    return tuple(differences)


def verdict(differences: Sequence[Difference], n_groups: int) -> tuple[str, tuple[str, ...]]:
    """One of `OUTCOMES`, and reasons. Differences of fewer than `uniformity.FEW_CLUSTERS` groups are found too often:
    left out.
    """
    if not differences:
        return CANNOT_TELL, ("Nothing can be compared: see the cards of both for what their reads do not tell.",)
    tested = [diff for diff in differences if diff.n_groups >= uniformity.FEW_CLUSTERS and not math.isnan(diff.p_holm)]
    if not tested:
        fewest = max(diff.n_groups for diff in differences)
        return CANNOT_TELL, tuple(_too_few(fewest, n_groups))
    significant = [diff for diff in tested if diff.p_holm <= LEVEL]
    if not significant:
        return NOT_FOUND, ("No difference is found. That does not show that there is none: see the intervals.",)
    return DIFFERENT, tuple(
        f"They differ in {', '.join(QUANTITIES[diff.quantity])}{READ_AS[diff.readout]}: {diff.of_one:+z.2f} and "
        f"{diff.of_other:+z.2f}, a difference of {diff.estimate:+z.2f} [{diff.low:+z.2f}, {diff.high:+z.2f}]."
        for diff in significant
    )


def _too_few(telling: int, n_groups: int) -> Iterator[str]:
    enough = uniformity.FEW_CLUSTERS
    if telling >= enough:
        yield "The scores of both hardly vary, so that no difference has a p-value."
        return
    have = "1 group" if n_groups == 1 else f"{n_groups} groups"
    tell = "" if telling == n_groups else f", of which {telling} tell something"
    yield f"Both have read {have} of items{tell}; with fewer than {enough} no verdict is given."
    yield "With so few, p-values and intervals err more often than they say: what the table shows is no finding."
