"""Answers in the store that requests miss by little: by the name of a model, or by blank lines at a prompt's end."""

import logging

import numpy as np
import pandas as pd

from rubric_order import probes
from rubric_order.base.errors import InputError
from rubric_order.base.text_columns import is_among
from rubric_order.contracts.responses import STORE
from rubric_order.judging.engines import Response
from rubric_order.judging.engines.delivery import MAX_REFUSED_IN_A_ROW
from rubric_order.judging.store import Store
from rubric_order.planning.requests import namer
from rubric_order.settings.judges.decisions import Decisions
from rubric_order.settings.judges.judge import Judge

log = logging.getLogger(__name__)

STOPPED = r"stopped: wrong_model: "  # failure of an answer with which a job ended
FAILED = rf"(?:{STOPPED}|wrong_model: )"
SAMPLE = 20  # requests that are compared with earlier ones
MOST_LINES = 4
FIELDS = [name for name in STORE.schema.names if name != "engine"]


def take_accepted(results: pd.DataFrame, judge: Judge, store: Store) -> None:
    """Store the answers of models that config accepts by now as answers. They were paid for, and cost nothing more.

    Args:
        results: `request_id` and `error` of the requests in the store.
        judge: the judge's settings.
        store: the judge's response store.

    Raises:
        InputError: a job ended with answers of a model that config does not accept. To ask again would be paid, too.
    """
    failures = results[results["error"].str.match(FAILED).fillna(False).astype(bool)]
    if failures.empty:
        return
    rows = store.read(failures["request_id"]).astype(object)
    rows = rows.where(rows.notna(), None)
    accepted = rows["model"].isin(judge.accepted_names)
    usable = rows["text"].notna() & rows["refusal"].isna() & (rows["finish_reason"] != "content_filter")
    if isinstance(judge, Decisions):
        usable &= rows["option_logprobs"].notna()
    for engine, part in rows[accepted & usable].groupby("engine", dropna=False):
        taken = part[FIELDS].assign(error=None, attempts=0, tokens=0, cost=None)
        store.append([Response(**row) for row in taken.to_dict("records")], engine=engine)
    left = rows[~accepted & rows["error"].str.match(STOPPED)]
    if len(left) >= MAX_REFUSED_IN_A_ROW and not judge.retry_failed:
        names = ", ".join(sorted(set(left["model"].astype(str))))
        raise InputError(
            f"judge: {len(left)} paid requests asked for {judge.shown_name}, but were answered by {names}; set"
            f" accept_models: [{names}] to take these answers, or retry_failed: true to ask again"
        )


def warn_of_blank_lines(requests: pd.DataFrame, results: pd.DataFrame, judge: Judge, store: Store) -> None:
    """Warn if open requests have answers under prompts that differ in blank lines at their end alone."""
    left = requests[~is_among(requests["request_id"], results["request_id"])]
    places = np.unique(np.linspace(0, len(left) - 1, min(SAMPLE, len(left))).round().astype(int))
    earlier: list[str] = []
    for row in left.iloc[places].itertuples():
        name = namer(judge.under(row.profile), row.n, probes.load(row.probe))
        prompts = (row.prompt.rstrip("\n") + "\n" * lines for lines in range(MOST_LINES))
        if name(row.prompt.encode(), row.repeat) == row.request_id:
            earlier += [name(prompt.encode(), row.repeat) for prompt in prompts if prompt != row.prompt]
    if earlier and store.read(earlier, [])["error"].isna().any():
        log.warning(
            "%s: prompts were answered that differ from those of %d requests in blank lines at their end alone; with"
            " the end of the template as it was, nothing is asked again",
            store.folder,
            len(left),
        )
