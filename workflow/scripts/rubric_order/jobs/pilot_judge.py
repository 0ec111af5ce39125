import json
from pathlib import Path

from rubric_order.base import command_line, files, locks
from rubric_order.contracts.reads import REQUESTS
from rubric_order.judging import jobs, pilot
from rubric_order.judging.engines import Resources
from rubric_order.judging.store import Store
from rubric_order.settings.judges.judge import Judge


def pilot_judge(
    requests: list[Path],
    probes: list[str],
    judge: Judge,
    model_folder: Path | None,
    weights: Path | None,
    gpus: int,
    store: Path,
    output: Path,
) -> None:
    """Ask a sample of the requests, of which the store answers some; the studies will use the answers.

    Arguments are as of `judge_shard`; `output` is JSON with numbers of requests, of failed ones, of answers counted and
    read.
    """
    REQUESTS.check(*requests)
    judge = judge.add_weights(files.read_json(weights)) if weights else judge
    files.remove_leftovers(store)
    with locks.only_writer(output):
        asked, _ = pilot.sample(requests, probes)
        answers = jobs.respond(asked, judge, Store(store), Resources(gpus, model_folder))
        readable, failed = pilot.read(asked, answers, judge), int(answers["error"].notna().sum())
        command_line.log.info("%d requests, %d failed, %s", len(asked), failed, readable)
        files.write_text(json.dumps({"requests": len(asked), "failed": failed, **readable.numbers}) + "\n", output)
