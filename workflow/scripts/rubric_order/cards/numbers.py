"""Numbers of cards, as sentences write them."""

import math
from collections.abc import Iterable

from rubric_order.base.intervals import Interval

WRITTEN_AS_0 = 0.005  # smaller values are written as 0 with two decimals
ROUNDING = 1e-12  # smaller values are rounding errors


def interval_text(value: Interval, form: str) -> str:
    """An estimate and its interval. If two decimals would wrongly show 0, two significant digits are given."""
    numbers = [abs(number) for number in (value.estimate, value.low, value.high) if not math.isnan(number)]
    largest = max(numbers, default=0.0)
    if ROUNDING < largest < WRITTEN_AS_0:
        form = form.replace("z.2f", ".2f").replace(".2f", f".{1 - math.floor(math.log10(largest))}f")
    elif ROUNDING < (least := min(numbers, default=0.0)) < WRITTEN_AS_0 and (value.low > 0 or value.high < 0):
        form = form.replace(".2f", f".{-math.floor(math.log10(least))}f")  # an end that is not 0 is not written as 0
    ends = f" [{value.low:{form}}, {value.high:{form}}]" if value.bounded else ""
    return f"{value.estimate:{form}}{ends}"


def list_text(values: Iterable[float]) -> str:
    """Values beside each other: two decimals, more if all would be written as 0, and no sign of a 0."""
    numbers = list(values)
    largest = max((abs(value) for value in numbers if not math.isnan(value)), default=0.0)
    decimals = 1 - math.floor(math.log10(largest)) if ROUNDING < largest < WRITTEN_AS_0 else 2
    texts = (f"{value:+z.{decimals}f}" if not math.isnan(value) else "not known" for value in numbers)
    return ", ".join(text.lstrip("+") if text.strip("+0.") == "" else text for text in texts)


def p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def percent(share: float) -> str:
    """A share in words; 0% and 100% are written only where they are exact."""
    if 0.995 <= share < 1:
        return "more than 99%"
    return "0%" if share == 0 else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def written(value: Interval, form: str, reason: str = "") -> str:
    """An estimate with its interval, as people read it. An unknown estimate is written with its reason, if known."""
    if not value.known:
        return unknown(reason)
    return interval_text(value, form) + ("" if value.bounded else " [no interval]")


def unknown(reason: str) -> str:
    return f"not known: {reason}" if reason else "not known"


def number(value: float) -> float | None:
    """A number as JSON has it."""
    return None if value is None or math.isnan(value) else float(value)
