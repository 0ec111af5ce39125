"""A study that `rubric-order relog` wrote from a log of Inspect, run by Snakemake."""

import json
from pathlib import Path

import pandas as pd
import pytest
from endpoint import Call, Reply, completion, running

from rubric_order.extras.logs import relog
from rubric_order.library import results

from .conftest import ROOT, Project


def most_lenient(call: Call) -> Reply:
    return Reply(completion("Well.\n\nGRADE: C", model="judge"))


@pytest.mark.slow
def test_the_workflow_asks_the_requests_of_relog_and_takes_its_answers(fresh: Project, tmp_path: Path):
    folder = tmp_path / "study"
    log = relog.look([ROOT / "tests/data/logs/grades.eval"])
    with running(most_lenient) as endpoint:
        order = relog.order_of(log.rubrics[0], None)
        settings = {"base_url": endpoint.base_url}
        study = relog.write(log, folder, rubric=log.rubrics[0], order=order, settings=settings)
        reads = relog.ask(study)
        asked = len(endpoint.calls)
        words = ["--directory", str(folder), "--configfile", str(folder / "config.yaml")]
        run = fresh.snakemake("all", "results/summary.html", *words, alone=True)
        assert run.returncode == 0, run.stdout + run.stderr
        assert len(endpoint.calls) == asked == 40
    scores = pd.read_parquet(folder / "results/scores/position_bias/relogged/judge.parquet")
    key = ["item_id", "request_id"]
    assert (
        scores.set_index(key)["score"].to_dict()
        == reads.rename(columns={"item": "item_id"}).set_index(key)["score"].to_dict()
    )
    (card,) = json.loads((folder / "results/summary.json").read_text())["cards"]
    ours = results.bias_card(reads).to_dicts()[0]
    for name in ("verdict", "usual_minus_balanced", "n_items", "n_reads"):
        assert card[name] == pytest.approx(ours[name]), name
