"""Second requests, for answers that choose no label: prompt and answer are sent again, to be completed with a label.

The first log-probabilities are kept: those of a constrained answer sum to 1 over the labels, whatever the judge would
have written.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order import probes
from rubric_order.probes import Probe, Question
from rubric_order.settings.judges.judge import Judge


def second_requests(requests: pd.DataFrame, responses: pd.DataFrame, *, judge: Judge, probe: Probe) -> pd.DataFrame:
    """A second request for each of one question whose answer chooses no label, with `first_id` and `begun`: with
    feedback the first answer and ``[RESULT]``, else `answer_prefix`, from which the answer is written anew.
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


def study_second_requests(requests: pd.DataFrame, responses: pd.DataFrame, *, judge: Judge) -> pd.DataFrame:
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
    """An answer with the prefix that the judge did not choose; empty if it adds nothing to the prefix."""
    answer = text if isinstance(text, str) else ""
    return prefix + answer if answer.strip() else ""


def second_id(first_id: str, begun: str) -> str:
    return hashlib.blake2b(f"constrained\x1f{first_id}\x1f{begun}".encode(), digest_size=16).hexdigest()
