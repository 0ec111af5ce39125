"""Reasons why a call has no usable answer."""

from rubric_order.judging.engines import PASSING

MOST_CHARACTERS = 300  # of a message


class CallError(Exception):
    """A call without a usable answer.

    Attributes:
        reason: one word, see `engines.PASSING`.
        again: whether the same call may succeed later.
        billed: whether the call may have been charged.
        sent: False where nothing has reached the endpoint.
        after: seconds that the endpoint asks to wait; None if it does not.
    """

    def __init__(
        self,
        reason: str,
        details: str = "",
        *,
        again: bool = True,
        billed: bool = False,
        sent: bool = True,
        after: float = 0.0,
    ) -> None:
        super().__init__(f"{reason}: {details}" if details else reason)
        self.reason = reason
        self.again = again and reason in PASSING
        self.billed = billed
        self.sent = sent
        self.after = after


def one_line(text: str, secrets: frozenset[str] | set[str] = frozenset()) -> str:
    """A message on one line, without anything secret that it may repeat."""
    for value in secrets:
        text = text.replace(value, "***")
    return " ".join(text.split())[:MOST_CHARACTERS]
