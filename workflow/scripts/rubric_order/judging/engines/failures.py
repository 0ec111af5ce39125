"""Reasons why a call has no usable answer."""

from rubric_order.judging.engines import PASSING

MOST_CHARACTERS = 300  # longest message


class CallError(Exception):
    """A call without a usable answer.

    Attributes:
        reason: one word, see `engines.PASSING`.
        again: whether the call may succeed if it is repeated later.
        billed: whether the call may have been charged.
        sent: False where nothing has reached the endpoint.
        after: seconds that the endpoint asks to wait; 0 if it does not ask.
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
    """A message on one line, cut to `MOST_CHARACTERS`, with any secrets in it replaced."""
    for value in secrets:
        text = text.replace(value, "***")
    return " ".join(text.split())[:MOST_CHARACTERS]
