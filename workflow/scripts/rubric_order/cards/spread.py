"""Effects of the order on single items for a card: numbers from statistic `order_spread`, and sentences about them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.readouts import READ, Readout
from rubric_order.methods.uncertainty import equivalence

NAME = "order_spread"  # the statistic
NEARLY_ALL = 0.995  # larger shares are written as 100%
ENDS = ("", "_low", "_high")  # endings of names in JSON: for an estimate, and for the ends of its interval
AT_MOST = "at most "
REPEATS = "repeats of each ordering that are no copies, or option probabilities"
SMALL_SHARE = 0.1  # shares below it are written with a decimal
LEAST = 0.0005  # smaller shares are written as 0.0%


@dataclass(frozen=True)
class Spread:
    """Effects of orderings on single items, by one readout, ``soft`` if known; `sd` in points.

    `reach`: end that is compared with the margin, of all reads (chance included) if they are small and `sd` is unknown.
    `scores`, `best`: share of items and prompts that change beyond chance under another ordering than the usual one.
    `one_read`: distance of a random read from the mean over all, in points; `needed`: random orderings within the
    margin, inf beyond all `orderings` (0 if items share none); bounds if `at_most`. `sd` has `confidence`, `reach` 1 -
    2 * `level`.
    """

    readout: str = ""
    sd: Interval = UNKNOWN
    reach: float = math.nan
    margin: float = math.nan
    verdict: str = ""
    scores: Interval = UNKNOWN
    best: Interval = UNKNOWN
    confidence: float = math.nan
    level: float = math.nan
    logarithm: bool = False
    one_read: Interval = UNKNOWN
    needed: Interval = UNKNOWN
    orderings: int = 0
    at_most: bool = False

    @property
    def shown(self) -> bool:
        """True if single items are shown to move by less than the margin."""
        return self.verdict == equivalence.SHOWN


NOTHING = Spread()


def gather(rows: list[dict[str, Any]] | None, readouts: Sequence[Readout] = READ[::-1]) -> Spread:
    """Effects from the rows of `order_spread` about one group of reads, by the first readout that has rows."""
    by = {(row["readout"], row["quantity"]): row for row in rows or ()}
    readout = next((name for name in readouts if (name, "spread") in by), None)
    if readout is None:
        return NOTHING
    spread_row, whole = by[readout, "spread"], by[readout, "within"]
    intervals = {quantity: Interval.of(row) for (name, quantity), row in by.items() if name == readout}
    sd = intervals.get("spread", UNKNOWN)
    row = by.get((readout, "needed"))
    bound = spread_row if sd.known or whole["verdict"] != equivalence.SHOWN else whole
    return Spread(
        readout=readout,
        sd=sd,
        reach=float(bound["high"]) if sd.known or bound is whole else math.nan,
        margin=float(spread_row["margin"]),
        verdict=str(bound["verdict"]),
        scores=intervals.get("changed", UNKNOWN),
        best=intervals.get("best_changed", UNKNOWN),
        confidence=float(spread_row["confidence"]),
        level=float(spread_row["level"]),
        logarithm=bool(spread_row["logarithm"]),
        one_read=intervals.get("one_read", UNKNOWN),
        needed=intervals.get("needed", UNKNOWN),
        orderings=int(row["n_orderings"]) if row else 0,
        at_most=bool(row and not row["known_from"]),
    )


def said_first(of: Spread) -> Iterator[str]:
    """The sentence on the share of single items that change; none if nothing is known. `verdict.judge` places it."""
    parts = []
    if of.scores.known and of.readout == Readout.HARD:
        parts.append(f"the score of {least_text(of)}{share_text(of.scores)} of the items")
    elif of.scores.known:
        parts.append(f"{share_text(of.scores)} of the scores by the option probabilities")
    if of.best.known:
        parts.append(f"the best candidate of {share_text(of.best)} of the groups")
    if parts:
        yield f"Beyond chance, another ordering than the usual one changes {' and '.join(parts)}."


def calls(of: Spread, most: int) -> str:
    """Sentence on the cost of averaging over all orderings (`most` calls), and on how many orderings are enough, if
    known.

    >>> calls(Spread(Readout.HARD, margin=0.1, needed=Interval(5, 4, 6), orderings=10), 10)
    '5 [4, 6] random orderings per text come within 0.1 points of the mean of all.'
    >>> calls(NOTHING, 10)
    'Averaging takes 10 calls per text.'
    """
    if not of.needed.known or not 1 < of.needed.estimate < of.orderings:
        return f"Averaging takes {most:,} call{'' if most == 1 else 's'} per text."
    few = _needed(of).removesuffix(f" of {of.orderings}").removeprefix(AT_MOST)
    fewer = ", or fewer," if of.at_most else ""
    return f"{few} random orderings per text{fewer} come within {of.margin:g} points of the mean of all."


def bias_sentences(of: Spread) -> Iterator[str]:
    """The sentence on single items that move by the margin or more, which means do not show."""
    if of.verdict == equivalence.NOT_SHOWN:
        yield f"An ordering moves single items, up or down, by {_points(of.sd)} points (SD; margin {of.margin:g})."


def least_text(of: Spread) -> str:
    """Words before a share of items that repeats show, which is the least share; none before 100%."""
    return "at least " if of.readout == Readout.HARD and of.scores.estimate < NEARLY_ALL else ""


def facts(of: Spread, *, competing: bool = True) -> list[tuple[str, str]]:
    """Lines of a card's table; `competing`: some group has several candidates."""
    unknown = (
        f"not known: needs {REPEATS if of.readout else 'several orderings that show every score in every position'}"
    )
    best = unknown if competing else "not known: no group has several candidates"
    share = f"{least_text(of)}{share_text(of.scores)}" if of.scores.known else unknown
    by = ", by option probabilities" if of.readout == Readout.SOFT else ""
    near = "near" if math.isnan(of.margin) else f"within {of.margin:g} points of"
    scores = "Scores that" if of.readout == Readout.SOFT else "Items whose score"
    return [
        (f"{scores} another ordering than the usual one changes, beyond chance{by}", share),
        (f"Groups whose best candidate it changes, beyond chance{by}", share_text(of.best) if of.best.known else best),
        (f"What an ordering does to single items, SD between items, points{by}", _points(of.sd) or unknown),
        (f"Orderings, chosen at random, that are enough to come {near} the mean of all{by}", _needed(of)),
    ]


def content(of: Spread) -> dict[str, Any]:
    """The spread as JSON has it: null stands for a value that is not known."""
    entries: dict[str, Any] = {"readout": str(of.readout) or None, "smaller_than_margin": of.verdict or None}
    intervals = {"sd": of.sd, "scores_changed": of.scores, "best_changed": of.best, "one_read": of.one_read}
    for name, values in intervals.items():
        for end, value in zip(ENDS, values, strict=True):
            entries[f"{name}{end}"] = number(value)
    for end, value in zip(ENDS, of.needed, strict=True):
        entries[f"orderings_needed{end}"] = int(value) if math.isfinite(value) else None
    has_number = of.needed.known
    entries["orderings_read"] = of.orderings if has_number else None
    entries["orderings_suffice"] = math.isfinite(of.needed.estimate) if has_number else None
    entries["orderings_at_most"] = of.at_most if has_number else None
    return entries | {"reach": number(of.reach), "margin": number(of.margin)}


def number(value: float) -> float | None:
    """A value as JSON has it."""
    return None if math.isnan(value) else float(value)


def share_text(share: Interval) -> str:
    """A share with its interval, cut off at 0."""
    value, low, high = (max(value, 0) for value in share)
    form = ".1%" if value < SMALL_SHARE else ".0%"
    return f"{value:{form}}" + (f" [{low:{form}}, {high:{form}}]" if share.bounded else "")


def _points(sd: Interval) -> str:
    if not sd.known:
        return ""
    return f"{sd.estimate:.2f}" + (f" [{sd.low:.2f}, {sd.high:.2f}]" if sd.bounded else "")


def _needed(of: Spread) -> str:
    """Number of orderings that suffice, in words; no number if even all orderings that were read do not suffice."""
    if not of.needed.known:
        return "not known: needs items that share their orderings, and repeats that are no copies"
    value, low, high = (f"{end:.0f}" if math.isfinite(end) else "more" for end in of.needed)
    interval = f" [{low}, {high}]" if of.needed.bounded and math.isfinite(of.needed.low) else ""
    if math.isinf(of.needed.estimate):
        if of.at_most:
            return f"not known: needs {REPEATS}"
        return f"more than the {of.orderings} that were read{interval}"
    return f"{AT_MOST if of.at_most else ''}{value}{interval} of {of.orderings}"
