"""Ask a judge a sample of its requests, before all others."""

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
    """Ask what the store does not know of a sample; the answers are those that the study will use.

    Args:
        requests: the requests of each study that uses the judge, in a folder of its name.
        probes: the probe of each of these studies.
        judge: the judge that answers.
        model_folder: weights that the workflow converted.
        weights: what its weights are, as a JSON file; none where nothing has to be found out.
        gpus: their number.
        store: the judge's response store.
        output: JSON file with the number of requests and of those that failed.
    """
    REQUESTS.check(*requests)
    kept = Store(store)
    judge = judge.with_weights(files.read_json(weights)) if weights else judge
    files.remove_leftovers(store)
    with locks.only_writer(output):
        asked, _ = pilot.sample(requests, probes)
        answers = jobs.respond(asked, judge, kept, Resources(gpus, model_folder))
        failed = int(answers["error"].notna().sum())
        files.write_text(json.dumps({"requests": len(asked), "failed": failed}) + "\n", output)


if __name__ == "__main__":  # vLLM starts processes that import this file
    command_line.run(main)
