"""Check for values that no setting takes. Jobs read their settings as JSON, and people read them in pages."""

import math
from collections.abc import Iterator, Mapping

from rubric_order.base.errors import InputError
from rubric_order.settings import secrets

LARGEST = 2**63 - 1  # our files and the engines hold no greater number


def check(config: Mapping[str, object]) -> None:
    """Check that each value of a config of any shape can be passed on; no message shows a secret key."""
    if problems := list(secrets.problems(config)):
        raise InputError("config: " + "\nconfig: ".join(problems))
    for path, value in _values(config):
        if (problem := _problem(value)) is not None:
            place = (path or "top level") if isinstance(value, Mapping) else path
            raise InputError(f"config: {place}: {problem}")


def _problem(value: object) -> str | None:
    """Expected form of a value; None if the value has this form. Values within the value are not checked."""
    if isinstance(value, Mapping):
        if wrong := [key for key in value if not isinstance(key, str)]:
            return f"expected a name as key, found {wrong[0]!r}; put it in quotes"
        unfit = ((key, _unfit(key)) for key in value)
        return next((f"key {key!r:.60}: {expected}" for key, expected in unfit if expected), None)
    if isinstance(value, str):
        expected = _unfit(value)
        return f"{expected}, found {value!r:.80}" if expected else None
    if isinstance(value, float) and not math.isfinite(value):
        return f"expected a finite number, found {value}"
    if isinstance(value, int | float) and abs(value) > LARGEST:
        return f"expected a number of at most {LARGEST} in size, found {value!r:.40}"
    if not isinstance(value, list | int | float | None):
        expected = "expected text, a number, true, false, null, a list or a mapping"
        return f"{expected}, found {value!r:.80}; put it in quotes"
    return None


def _values(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    yield path, value
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _values(part, f"{path}/{key}".lstrip("/"))


def _unfit(text: str) -> str | None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "expected text without lone surrogates"
    if any((character < " " and character not in "\t\n\r") or "\x7f" <= character <= "\x9f" for character in text):
        return "expected text without control characters"
    return None
