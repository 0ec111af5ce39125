"""The guard around each answer of a judge, and the reasons why a call has no usable answer."""

import json
from collections.abc import Callable, Collection

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import PASSING, Response

MOST_CHARACTERS = 300  # longest message
SHORTEST_SECRET = 8  # a shorter value, such as `none`, is not masked, since it may be a part of any text


class CallError(Exception):
    """A call without a usable answer.

    Attributes:
        reason: one word, see `engines.PASSING`.
        again: whether the call may succeed if repeated later.
        billed: whether it may have been charged.
        sent: False where nothing has reached the endpoint.
        after: seconds that the endpoint asks to wait.
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


def received(
    make: Callable[[], Response],
    secrets: Collection[str],
    *,
    reason: str = "bad_request",
    failure: str = "the answer cannot be read",
) -> Response:
    """The response that `make` makes from one answer, with secrets masked. No content of an answer ends a job:
    unforeseen errors are a CallError with `reason` and `failure`.
    """
    try:
        fields = vars(make())
        texts = {name: masked(value, secrets) for name, value in fields.items() if isinstance(value, str)}
        return Response(**{**fields, **texts, "request_id": fields["request_id"]})
    except (CallError, InputError):
        raise
    except (Exception, SystemExit) as error:
        raise CallError(
            reason, one_line(f"{failure}: {words_of(error) or type(error).__name__}", secrets), billed=True
        ) from None


def masked(text: str, secrets: Collection[str]) -> str:
    for value in sorted(secrets, key=len, reverse=True):
        if len(value) >= SHORTEST_SECRET:
            text = text.replace(value, "***").replace(json.dumps(value)[1:-1], "***")
    return text


def words_of(error: BaseException) -> str:
    try:
        return str(error)
    except (Exception, SystemExit) as second:
        return f"no message, since making it raised {type(second).__name__}"


def one_line(text: str, secrets: Collection[str] = ()) -> str:
    return " ".join(masked(text, secrets).split())[:MOST_CHARACTERS]
