from pathlib import Path

from rubric_order.base import files, locks
from rubric_order.contracts.reads import REQUESTS
from rubric_order.judging import answers, jobs
from rubric_order.judging.engines import Resources
from rubric_order.judging.progress import progress
from rubric_order.judging.shard import Watch
from rubric_order.judging.store import Store
from rubric_order.planning.requests import read_studies
from rubric_order.settings.judges.judge import Judge


def judge_shard(
    requests: list[Path],
    probes: list[str],
    shard: int,
    shards: int,
    judge: Judge,
    model_folder: Path | None,
    weights: Path | None,
    gpus: int,
    store: Path,
    output: Path,
    *,
    watch: Watch = progress,
) -> None:
    """Ask the shard's requests that the store does not answer, and write its responses in the order of its requests.

    `requests`: one file a study, in a folder of its name; a shard (from 1) has a part of each. `model_folder`: weights
    that the workflow converted. `weights`: file of `describe_weights`; None if config names them.
    """
    REQUESTS.check(*requests)
    stored, output = Store(store), output.absolute()
    judge = judge.add_weights(files.read_json(weights)) if weights else judge
    files.remove_leftovers(store)
    files.remove_leftovers(output.parent)
    with locks.only_writer(output):
        asked, studies = read_studies(requests, probes, shard, shards)
        resources = Resources(gpus, model_folder)
        responses = jobs.respond(asked, judge, stored, resources, second_requests=True, watch=watch)
        answers.write(responses, output, studies=studies, judge=judge, names=judge.accepted_names)
