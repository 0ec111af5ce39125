"""Values that a field of a recorded answer may hold.

Each function returns the value to keep, or raises a ValueError that says what was expected.
"""

import re
from string import ascii_uppercase


def text(value: object) -> str:
    """Text that a file can hold, perhaps empty."""
    if not isinstance(value, str):
        raise ValueError("text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("text without half of a surrogate pair") from None
    return value


def name(value: object) -> str:
    if not (word := text(value)).strip():
        raise ValueError("a name")
    return word


def count(value: object) -> int:
    # Parquet files written from pandas hold whole numbers as floats where some are missing.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a whole number from 0")
    return value


def number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    return float(value)


def boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def two_names(value: object) -> list[str]:
    if not isinstance(value, list) or len(value) != 2 or value[0] == value[1]:
        raise ValueError("a list of two names")
    return [name(entry) for entry in value]


def options(value: object) -> list[str]:
    expected = "two or three different capital letters, the last of three for a tie"
    if not isinstance(value, list) or len(value) not in (2, 3) or len({*map(str, value)}) != len(value):
        raise ValueError(expected)
    if not all(isinstance(entry, str) and re.fullmatch("[A-Z]", entry) for entry in value):
        raise ValueError(expected)
    return value


def key(value: object) -> str:
    """A name, or a whole number in place of a name."""
    return str(count(value)) if isinstance(value, int | float) and not isinstance(value, bool) else name(value)


def lengths(value: object) -> list[float]:
    if not isinstance(value, list):
        raise ValueError("a list of numbers, in the order in which the answers were shown")
    return [number(entry) for entry in value]


def names(value: object) -> list[str]:
    if not isinstance(value, list) or not 2 <= len(value) <= 9:
        raise ValueError("a list of 2 to 9 names, in the order in which the answers were shown")
    return [name(entry) for entry in value]


def labels(value: object) -> list[str] | dict[str, str]:
    """Letters of the options in the order in which they were shown, or a map from written labels to options."""
    if not isinstance(value, dict):
        if isinstance(value, list) and len(value) > 1 and value == [*ascii_uppercase[: len(value)]]:
            return value
        return options(value)
    if not value or not all(isinstance(option, str) and option.strip() for option in value.values()):
        raise ValueError("letters, or a map from written labels to A, B, tie, none or the name of a candidate")
    return {str(label): option for label, option in value.items()}


def ordering(value: object) -> list[int]:
    expected = "a list that holds each of 1 to n once, n from 2 to 11"
    if not isinstance(value, list) or not 2 <= len(value) <= 11:
        raise ValueError(expected)
    try:
        scores = [count(entry) for entry in value]
    except ValueError:
        raise ValueError(expected) from None
    if sorted(scores) != list(range(1, len(scores) + 1)):
        raise ValueError(expected)
    return scores
