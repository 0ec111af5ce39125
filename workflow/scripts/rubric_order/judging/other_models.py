"""Answers of another model than was asked: stored as failures, and used once config accepts the model."""

from collections.abc import Iterable

from rubric_order.base.errors import InputError
from rubric_order.contracts.responses import STORE
from rubric_order.judging.engines import Response
from rubric_order.judging.engines.delivery import MAX_REFUSED_IN_A_ROW
from rubric_order.judging.store import Store
from rubric_order.settings.judges import Decisions, Judge

STOPPED = r"stopped: wrong_model: "  # failure of an answer with which a job ended
FAILED = rf"(?:{STOPPED}|wrong_model: )"
FIELDS = [name for name in STORE.schema.names if name != "engine"]


def take_accepted(request_ids: Iterable[str], judge: Judge, store: Store) -> None:
    """Store the answers of models that config accepts by now as answers. They were paid for, and cost nothing more.

    Raises:
        InputError: a job ended with answers of a model that config does not accept. To ask again would be paid, too.
    """
    failures = store.read(request_ids, [])
    failures = failures[failures["error"].str.match(FAILED).fillna(False).astype(bool)]
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
            f"judge: {len(left)} requests were answered and paid for, but asked for {judge.shown_name} and answered by"
            f" {names}; set accept_models: [{names}] to take these answers, or retry_failed: true to ask again"
        )
