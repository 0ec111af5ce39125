"""A judge job: responses to requests, from the judge's store where it has them, else from the judge."""

import functools

import pandas as pd

from rubric_order.judging import shard, starting, versions
from rubric_order.judging.engines import Resources
from rubric_order.judging.progress import progress
from rubric_order.judging.second_requests import of_studies
from rubric_order.judging.shard import Watch
from rubric_order.judging.store import Store
from rubric_order.settings.judges import Judge


def respond(
    requests: pd.DataFrame,
    judge: Judge,
    store: Store,
    resources: Resources,
    *,
    second_requests: bool = False,
    watch: Watch = progress,
) -> pd.DataFrame:
    """Responses of a judge to all requests, in their order; answers are stored as they come.

    Args:
        requests: sorted so that neighbours share prefixes.
        judge: the judge, with what its weights are.
        store: its response store.
        resources: devices, weights and function of the job.
        second_requests: whether a judge that has them makes second requests; column `probe` of the requests then names
            the probe of each request's study.
        watch: see `shard.judge`.

    Returns:
        See `shard.judge`.

    Raises:
        InputError: the engine cannot answer such requests, answers come from several versions of the judge, or some
            requests failed for a reason that may pass. All answers are in the store.
    """
    mixed = None if judge.accept_mixed else functools.partial(versions.check, names=judge.accepted_names)
    second = functools.partial(of_studies, judge=judge) if second_requests and judge.second_request else None
    with starting.Starter(judge, store, resources) as start:
        starting.check(judge, requests)
        return shard.judge(
            requests,
            store,
            start,
            accept_failures=judge.accept_failures,
            retry_failed=judge.retry_failed,
            refuse_mixed=mixed,
            second_requests=second,
            watch=watch,
        )
