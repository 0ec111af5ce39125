"""Bias cards of each criterion by itself, beside the one of all."""

import json
import types

import jsonschema
import numpy as np
import pandas as pd
import pytest
from factories import ROOT, simulated_reads

from rubric_order.analyses.position.decisiveness import estimate as decisiveness
from rubric_order.base.errors import InputError
from rubric_order.base.labels import Labels
from rubric_order.base.of_cards import REQUIRED as OF_CARDS
from rubric_order.cards import by_criterion, summary
from rubric_order.jobs.estimate_by_criterion import estimate_by_criterion
from rubric_order.jobs.render_summary import render_summary
from rubric_order.library import estimates
from rubric_order.run.core import Run
from rubric_order.run.pages import Pages
from rubric_order.run.results import Statistics

WILDCARDS = types.SimpleNamespace()


@pytest.fixture(scope="module")
def reads():
    """A judge that prefers the first place under one criterion alone."""
    options = {"groups": 60, "candidates": 1, "strategies": ("balanced",)}
    planted = simulated_reads(**options, preference=[2, 0, 0, 0, 0], seed=1).assign(criterion="plot")
    fair = simulated_reads(**options, seed=2).assign(criterion="style")
    return pd.concat([planted, fair.assign(item_id=fair["item_id"] + "-style")], ignore_index=True)


def test_scores_are_split_by_criterion_and_those_of_one_criterion_are_left_out(reads):
    parts = list(by_criterion.split([reads, reads[reads["criterion"] == "plot"]]))
    assert [part["dataset"].unique().tolist() for part in parts] == [["d/plot"], ["d/style"]]
    assert sum(map(len, parts)) == len(reads)


def test_each_criterion_has_the_card_that_its_reads_alone_have(reads, tmp_path):
    whole = estimates.card_statistics(reads)
    single = estimates.card_statistics(pd.concat(by_criterion.split([reads])))
    paths = {}
    for name, table in {**whole, **{f"one_{name}": table for name, table in single.items()}}.items():
        paths[name] = tmp_path / f"{name}.parquet"
        table.to_parquet(paths[name])
    data, page = tmp_path / "summary.json", tmp_path / "summary.html"
    render_summary(
        {name: paths[name] for name in OF_CARDS},
        {"tables": [], "figures": []},
        Labels({"j": "Judge"}, {"d": "Data"}),
        {},
        {},
        data,
        page,
        by_criterion={name: paths[f"one_{name}"] for name in OF_CARDS},
    )
    content = json.loads(data.read_text())
    jsonschema.validate(content, summary.schema())
    assert [card["dataset"] for card in content["cards"]] == ["d"]
    made = {card["criterion"]: card for card in content["cards_by_criterion"]}
    assert {criterion: card["dataset"] for criterion, card in made.items()} == {"plot": "d", "style": "d"}
    assert made["plot"]["verdict"] == "biased"
    assert made["style"]["verdict"] != "biased"
    (alone,) = summary.made(estimates.card_statistics(reads[reads["criterion"] == "plot"]))
    assert made["plot"]["v"] == pytest.approx(alone.to_dict()["v"])
    assert made["plot"]["n_reads"] == made["style"]["n_reads"] == 600
    html = page.read_text()
    assert "<h3>Judge, Data, criterion plot</h3>" in html
    assert html.index("<h3>Judge, Data</h3>") < html.index("Cards by criterion")


def test_the_script_estimates_a_statistic_of_each_criterion(reads, tmp_path):
    path, output = tmp_path / "scores.parquet", tmp_path / "decisiveness.parquet"
    reads.assign(pattern=None).astype({"pattern": "string"}).to_parquet(path)
    estimate_by_criterion(decisiveness.__name__, {"scores": [path]}, {}, output)
    assert pd.read_parquet(output)["dataset"].unique().tolist() == ["d/plot", "d/style"]


def test_scores_of_a_criterion_on_a_scale_from_0_are_counted_from_0(reads, tmp_path):
    path, output = tmp_path / "scores.parquet", tmp_path / "decisiveness.parquet"
    reads = reads.assign(lowest=np.int8(0))
    reads.assign(pattern=None).astype({"pattern": "string"}).to_parquet(path)
    estimate_by_criterion(decisiveness.__name__, {"scores": [path]}, {}, output)
    alone = decisiveness.estimate(reads[reads["criterion"] == "plot"].assign(dataset="d/plot"))
    made = pd.read_parquet(output).query("dataset == 'd/plot'")
    assert made["commonest_score"].tolist() == alone["commonest_score"].tolist()


def config(**settings):
    dataset = {"adapter": "simulated", "options": {"n_groups": 3, "criteria": ["plot", "style"]}}
    judge = {"engine": "simulated", "model": "m", "answer_format": "score", "sampling": {"temperature": 0}}
    study = {"datasets": ["sim"], "judges": ["j"], "strategies": ["balanced"], **settings.pop("study", {})}
    return {"datasets": {"sim": dataset}, "judges": {"j": judge}, "studies": {"s": study}, **settings}


def test_statistics_of_single_criteria_read_each_other_and_only_where_config_asks():
    usual = Run.load(config(), ROOT, refuse=InputError)
    assert Pages(usual).criterion_card_files(WILDCARDS) == []
    asked = Run.load(config(cards_by_criterion=True), ROOT, refuse=InputError)
    files = Pages(asked).criterion_card_files(WILDCARDS)
    assert files == [f"results/statistics/by_criterion/{name}.parquet" for name in OF_CARDS]
    inputs = Statistics(asked)._inputs_by_criterion("equivalence")
    assert inputs["score_effects"] == ["results/statistics/by_criterion/score_effects.parquet"]
    assert Statistics(asked)._inputs_by_criterion("decisiveness")["scores"] == ["results/scores/s/sim/j.parquet"]
    several = config(cards_by_criterion=True, study={"probe": "criterion_order"})
    pages = Pages(Run.load(several, ROOT, refuse=InputError))
    assert pages.criterion_card_files(WILDCARDS) == []
    assert pages.card_files(WILDCARDS) == ["results/statistics/criterion_order.parquet"]
