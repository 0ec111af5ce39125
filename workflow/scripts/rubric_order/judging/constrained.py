"""Second requests, for answers that give no score: the same prompt and answer, to be ended by a score alone.

The first answer stays what it was, with its log-probabilities: those of a constrained answer are shared out among the
scores, so that they no longer say how likely the judge was to write a score at all.
"""

import hashlib
from collections.abc import Mapping

import pandas as pd

from rubric_order.scoring.scores import parse_answer


def second_requests(requests: pd.DataFrame, responses: pd.DataFrame, judge: Mapping) -> pd.DataFrame:
    """A request for each of those that were answered without a score; not where a prompt asks for several scores.

    Args:
        requests: see `plan.render_requests`.
        responses: to these requests, in their order.
        judge: the judge's settings.

    Returns:
        The rows of `requests`, under names of their own and with `begun`: how the answer begins. A free feedback is
        kept and its result asked for; an answer of format `score` begins anew. `first_id` names the first request.
    """
    rows = zip(responses["text"], responses["error"], responses["finish_reason"], requests["n"], strict=True)
    scoreless = [
        not isinstance(error, str) and parse_answer(text, finish, n, judge["answer_prefix"]).score is None
        for text, error, finish, n in rows
    ]
    scoreless = pd.Series(scoreless, requests.index, dtype=bool) & requests["criteria"].isna()
    second = requests[scoreless].rename(columns={"request_id": "first_id"})
    texts = responses.set_index("request_id")["text"].reindex(second["first_id"])
    feedback = judge["answer_format"] == "feedback"
    begun = [f"{text.rstrip()}\n[RESULT] " if feedback else judge["answer_prefix"] for text in texts.fillna("")]
    return second.assign(request_id=[second_id(name) for name in second["first_id"]], begun=begun)


def second_id(first_id: str) -> str:
    """Name of the second request of a first one."""
    return hashlib.blake2b(f"constrained\x1f{first_id}".encode(), digest_size=16).hexdigest()
