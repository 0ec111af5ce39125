"""Ask a judge a sample of its requests, before all other requests."""

import json
from pathlib import Path

from rubric_order.base import command_line, files, locks
from rubric_order.contracts.reads import REQUESTS
from rubric_order.judging import jobs, pilot
from rubric_order.judging.engines import Resources
from rubric_order.judging.store import Store
from rubric_order.settings.judges import Judge


def main(
    requests: list[Path],
    probes: list[str],
    judge: Judge,
    model_folder: Path | None,
    weights: Path | None,
    gpus: int,
    store: Path,
    output: Path,
) -> None:
    """Choose a sample of the requests, and ask those that the store does not answer. The studies will use the answers.

    Args:
        requests: file of requests of each study that uses the judge, in a folder with the study's name.
        probes: the probe of each of these studies.
        judge: the judge that answers.
        model_folder: folder of the weights that the workflow converted; None for other judges.
        weights: JSON file that names the judge's weights, see ``describe_weights.py``; None if config names them.
        gpus: number of GPUs of the job.
        store: folder of the judge's response store.
        output: JSON file with the numbers of requests of the sample, of failed ones among them, of answers that were
            counted, and of those that could be read.
    """
    REQUESTS.check(*requests)
    kept = Store(store)
    judge = judge.with_weights(files.read_json(weights)) if weights else judge
    files.remove_leftovers(store)
    with locks.only_writer(output):
        asked, _ = pilot.sample(requests, probes)
        answers = jobs.respond(asked, judge, kept, Resources(gpus, model_folder))
        readable, failed = pilot.read(asked, answers, judge), int(answers["error"].notna().sum())
        command_line.log.info("%d requests, %d failed, %s", len(asked), failed, readable)
        files.write_text(json.dumps({"requests": len(asked), "failed": failed, **readable.numbers}) + "\n", output)


if __name__ == "__main__":  # vLLM starts processes that import this file
    command_line.run(main)
