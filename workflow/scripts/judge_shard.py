"""Answer the requests of one shard of a judge."""

import contextlib
import functools
import logging
from pathlib import Path

import pandas as pd
import pyarrow as pa

from rubric_order.base import command_line, files, locks
from rubric_order.config import judges
from rubric_order.judging import answers, devices, engines, number_formats, open_calls, versions
from rubric_order.judging import shard as judging
from rubric_order.judging.second_requests import of_studies
from rubric_order.judging.store import Store
from rubric_order.planning.requests import read_shard

log = logging.getLogger(__name__)


def main(
    requests: list[Path],
    probes: list[str],
    shard: int,
    shards: int,
    judge: dict,
    endpoint: dict,
    model_folder: Path | None,
    weights: Path | None,
    gpus: int,
    store: Path,
    output: Path,
) -> None:
    """Ask what the store does not know, then write the responses of the shard in the order of its requests.

    Args:
        requests: the requests of each study that uses the judge, in a folder of its name. A shard has its part of each.
        probes: the probe of each of these studies.
        shard: from 1 to `shards`.
        shards: their number.
        judge: what the judge's answers depend on.
        endpoint: how it is asked over an endpoint.
        model_folder: weights that the workflow converted.
        weights: what its weights are, as a JSON file; none where nothing has to be found out.
        gpus: their number.
        store: the judge's response store.
        output: file of the responses.
    """
    kept = Store(store)
    judge |= files.read_json(weights) if weights else {}
    files.remove_leftovers(store)
    files.remove_leftovers(output.parent)
    with locks.only_writer(output), contextlib.ExitStack() as claimed:

        def start_engine() -> engines.Engine:
            if slow := number_formats.warning(store.name, {**judge, "gpu": gpus}):
                log.warning(slow)
            if needed := engines.gpus_to_claim(judge, gpus):
                claimed.enter_context(devices.claim(needed))
            settings = {**judge, **endpoint, "gpu": gpus}
            if endpoint.get("base_url"):  # its limits hold for all jobs together: they take turns
                claimed.enter_context(locks.only_writer(store / "calls"))
                calls = store / "open_calls.jsonl"
                open_calls.book(calls, kept)
                claimed.callback(open_calls.book, calls, kept)
                settings |= {"spent": kept.spent(), "sent": store / "sent.json", "open_calls": calls}
            return engines.load(settings, model_folder=model_folder)

        names = {judges.shown_name(judge), *endpoint.get("accept_models", ())}
        parts = [read_shard(path, shard, shards) for path in requests]
        studies = [path.parent.name for path, part in zip(requests, parts, strict=True) for _ in range(len(part))]
        asked = (part.assign(probe=probe) for part, probe in zip(parts, probes, strict=True))
        responses = judging.judge(
            pd.concat(asked, ignore_index=True),
            kept,
            start_engine,
            accept_failures=judge["accept_failures"],
            retry_failed=judge["retry_failed"],
            refuse_mixed=None if judge["accept_mixed"] else functools.partial(versions.check, names=names),
            second_requests=functools.partial(of_studies, judge=judge) if judge["second_request"] else None,
        )
        table = pa.Table.from_pandas(responses, preserve_index=False)
        files.write_parquet(
            files.in_row_groups(table),
            output,
            judge=judges.identity(judge, judges.FORMATS),
            studies=answers.of_studies(responses, studies),
            versions=versions.counts(responses[responses["error"].isna()], names=names),
        )


if __name__ == "__main__":  # vLLM starts processes that import this file
    command_line.run(main)
