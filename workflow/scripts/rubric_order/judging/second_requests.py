"""Second requests, for answers that choose no label: prompt and answer are sent again, to be completed with a label.

The first answer and its log-probabilities are kept. The log-probabilities of a constrained answer add up to 1 over the
labels, so they do not say how likely the judge was to write any label.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order import probes
from rubric_order.probes import Probe, Question
from rubric_order.settings.judges import Judge


def second_requests(requests: pd.DataFrame, responses: pd.DataFrame, *, judge: Judge, probe: Probe) -> pd.DataFrame:
    """A second request for each request whose answer chooses no label. Prompts with several questions get none.

    Args:
        requests: see `requests.render_requests`.
        responses: responses to these requests, in the order of the requests.
        judge: the judge's settings.
        probe: probe that reads the answers.

    Returns:
        Rows of `requests` with new request ids, `first_id` (id of the first request) and `begun` (beginning of the
        answer). In answer format `feedback`, `begun` is the first answer and the mark ``[RESULT]``, behind which the
        judge writes a label. In other formats, `begun` is the judge's `answer_prefix`, and the answer is written anew.
    """
    rows = zip(responses["text"], responses["error"], responses["finish_reason"], requests["questions"], strict=True)
    unread = [
        len(questions) == 1
        and not isinstance(error, str)
        and not _chooses(text, finish, questions, judge.answer_prefix, probe)
        for text, error, finish, questions in rows
    ]
    second = requests[pd.Series(unread, requests.index, dtype=bool)].rename(columns={"request_id": "first_id"})
    texts = responses.set_index("request_id")["text"].reindex(second["first_id"])
    feedback = judge.answer_format == "feedback"
    begun = [f"{text.rstrip()}\n[RESULT] " if feedback else judge.answer_prefix for text in texts.fillna("")]
    request_ids = [second_id(name, start) for name, start in zip(second["first_id"], begun, strict=True)]
    return second.assign(request_id=request_ids, begun=begun)


def of_studies(requests: pd.DataFrame, responses: pd.DataFrame, *, judge: Judge) -> pd.DataFrame:
    """Second requests of several studies, see `second_requests`; column `probe` names the probe of each request."""
    nothing = requests.iloc[:0].rename(columns={"request_id": "first_id"}).assign(request_id="", begun="")
    parts = (
        second_requests(requests.loc[rows], responses.loc[rows], judge=judge, probe=probes.load(probe))
        for probe, rows in requests.groupby("probe", sort=False).groups.items()
    )
    return pd.concat([nothing, *parts], ignore_index=True)


def _chooses(text: object, finish_reason: object, records: list[Mapping[str, Any]], prefix: str, probe: Probe) -> bool:
    questions = [Question(record["name"], tuple(record["labels"]), record["names"]) for record in records]
    (choice,) = probe.read(completed(text, prefix), questions, truncated=finish_reason == "length")
    return choice.label is not None


def completed(text: object, prefix: str) -> str:
    """An answer with the prefix that the judge was made to begin it with.

    The judge did not choose the prefix. So an answer that adds nothing to the prefix is empty, like a null text.
    """
    answer = text if isinstance(text, str) else ""
    return prefix + answer if answer.strip() else ""


def second_id(first_id: str, begun: str) -> str:
    """Id of a second request: a hash of the first request's id and the beginning of the answer."""
    return hashlib.blake2b(f"constrained\x1f{first_id}\x1f{begun}".encode(), digest_size=16).hexdigest()
