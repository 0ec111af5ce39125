"""Doubt about a judge that no verdict on the order covers: its scores are not shown to agree with people."""

from rubric_order.base.gold import OTHERS
from rubric_order.base.intervals import Interval
from rubric_order.cards.evidence import Agreement

LOW = 0.3  # agreement is low if the whole interval of r lies below this value


def reason(found: Agreement | None) -> str:
    """Sentence that agreement is not shown, or is low, by the readout that agrees better; empty without doubt or
    labels.

    >>> reason(Agreement(mean=Interval(0.05, -0.22, 0.3), n_items=20))
    'Agreement with people is not shown to be above 0: r = 0.05 [-0.22, 0.30] over 20 items, mean of all reads.'
    >>> reason(Agreement(mean=Interval(0.6, 0.5, 0.7), n_items=20))
    ''
    """
    r = _best(found)
    if found is None or r is None or not _word(r):
        return ""
    written, expected = (f"{r.estimate:.2f} [{r.low:.2f}, {r.high:.2f}]" for r in (found.mean, found.expected))
    both = f"{written} by its written scores and {expected} by its expected ones" if found.expected.bounded else written
    size = f"r = {both} over {found.n_items:,} items, mean of all reads"
    return f"Agreement with {OTHERS[found.gold]} is {_word(r)}: {size}."


def advice(found: Agreement | None) -> str:
    """First sentences of the advice if agreement is in doubt, see `reason`; else empty."""
    r = _best(found)
    if found is None or r is None or not _word(r):
        return ""
    first = (
        f"First test another judge or prompt against people: agreement with {OTHERS[found.gold]} is {_word(r)}, and "
        "averaging over orderings does not mend that."
    )
    return first if r.high < LOW else f"{first} More labelled items would narrow the interval of r."


def _best(found: Agreement | None) -> Interval | None:
    """The r with the highest lower end."""
    bounded = [r for r in (found.mean, found.expected) if r.bounded] if found else []
    return max(bounded, key=lambda r: r.low, default=None)


def _word(r: Interval) -> str:
    if r.high < 0:
        return "below 0"
    return "not shown to be above 0" if r.low <= 0 else "low" if r.high < LOW else ""
