"""Correlations without the noise of human scores: by hand, as planted, and in the table."""

import numpy as np
import pandas as pd
import pytest
from factories import score_table, simulated_reads

from rubric_order.analyses.agreement.human_agreement import estimate as human_agreement
from rubric_order.analyses.agreement.human_agreement import table as tables
from rubric_order.methods.agreement import attenuation

OPTIONS = {"confidence": 0.95}


def test_reliability_is_that_of_the_one_way_analysis_of_variance():
    raters = np.array([[1, 2], [3, 3], [4, 5], [2, 4], [5, 4.0]])
    judge = np.array([1, 3, 4, 2, 5.0])
    human, noise = raters.mean(axis=1), raters.var(axis=1, ddof=1) / 2
    found = attenuation.corrected(judge, human, noise, np.arange(5), 0.95)
    between, within = 2 * human.var(ddof=1), raters.var(axis=1, ddof=1).mean()
    reliability = (between - within) / between
    assert found["human_reliability"][0] == pytest.approx(reliability)
    assert found["pearson_corrected"][0] == pytest.approx(np.corrcoef(judge, human)[0, 1] / np.sqrt(reliability))
    low, high = found["pearson_corrected"][1:]
    assert low < found["pearson_corrected"][0] < high


def test_it_finds_the_correlation_with_scores_without_noise_and_covers_it():
    rng, found = np.random.default_rng(1), []
    for _ in range(300):
        group = np.repeat(np.arange(50), 4)
        quality = 0.5 * rng.normal(size=50)[group] + np.sqrt(0.75) * rng.normal(size=200)
        raters = quality[:, None] + rng.normal(size=(200, 3))
        judge = 0.8 * quality + 0.6 * rng.normal(size=200)
        noise = raters.var(axis=1, ddof=1) / 3
        found.append(attenuation.corrected(judge, raters.mean(axis=1), noise, group, 0.95)["pearson_corrected"])
    value, low, high = np.array(found).T
    assert abs(value.mean() - 0.8) < 0.01
    assert 0.91 < ((low <= 0.8) & (high >= 0.8)).mean() < 0.985


@pytest.mark.parametrize("severity", [0.5, 1.0])
def test_severity_of_raters_who_score_all_items_is_no_noise(severity):
    rng, values = np.random.default_rng(1), []
    true = 0.8 * 1 / np.sqrt(0.64 + 0.36)  # of the judge with quality, computed without the estimator
    for _ in range(300):
        group = np.repeat(np.arange(50), 4)
        quality = 0.5 * rng.normal(size=50)[group] + np.sqrt(0.75) * rng.normal(size=200)
        raters = quality[:, None] + severity * rng.normal(size=3) + 0.75 * rng.normal(size=(200, 3))
        judge = 0.8 * quality + 0.6 * rng.normal(size=200)
        noise, _ = attenuation.rater_noise(raters)
        values.append(attenuation.corrected(judge, raters.mean(axis=1), noise, group, 0.95)["pearson_corrected"])
    value, low, high = np.array(values).T
    assert abs(value.mean() - true) < 0.005
    assert 0.92 < ((low <= true) & (high >= true)).mean() < 0.985


def test_columns_that_no_rater_keeps_are_not_taken_for_raters():
    rng = np.random.default_rng(1)
    severe = rng.normal(size=(2000, 3)) + np.array([-1.0, 0.0, 1.0])
    assert attenuation.rater_noise(severe)[1]
    noise, told = attenuation.rater_noise(rng.permuted(severe, axis=1))
    assert not told
    assert noise.mean() == pytest.approx((1 + 1.0) / 3, rel=0.1)  # error and severity


def test_raters_that_only_make_noise_leave_nothing_to_correct():
    found = attenuation.corrected(np.arange(4.0), np.array([1, 2, 1, 2.0]), np.full(4, 5.0), np.arange(4), 0.95)
    assert np.isnan(found["pearson_corrected"]).all()


def test_the_table_has_it_for_items_with_several_raters():
    table = simulated_reads(groups=20, strategies=["balanced"])
    known = table.drop_duplicates("item_id")
    signs = [1, -1] * (len(known) // 2)  # who is above the other differs from item to item
    scores = [[score - sign / 2, score + sign / 2] for score, sign in zip(known["human_score"], signs, strict=True)]
    items = pd.DataFrame({"dataset": "d", "item_id": known["item_id"], "criterion": "c", "human_scores": scores})
    found = human_agreement.estimate(table, **OPTIONS, items=items)
    rows = tables.TABLE.table(found, study="s", n=5)
    noise = 0.25 * len(known) / (len(known) - 1)
    reliability = 1 - noise / known["human_score"].var(ddof=1)
    assert rows["human_reliability"].iloc[0] == pytest.approx(reliability)
    assert rows["pearson_corrected"].iloc[0] == pytest.approx(rows["pearson"].iloc[0] / np.sqrt(reliability))
    assert "[" in tables.TABLE.printout(rows)["r without rater noise"].iloc[0]
    single = items.assign(human_scores=[[score] for score in known["human_score"]])
    assert rows["raters"].iloc[0] == human_agreement.RATERS_UNKNOWN  # nothing tells the first from the second
    severe = items.assign(human_scores=[[score - 0.5, score + 0.5] for score in known["human_score"]])
    told = tables.TABLE.table(human_agreement.estimate(table, **OPTIONS, items=severe), study="s", n=5)
    assert told["human_reliability"].iloc[0] == pytest.approx(1)
    assert told["raters"].iloc[0] == "told apart"
    for of in (single, None):
        without = human_agreement.estimate(table, **OPTIONS, items=of)
        assert "pearson_corrected" not in set(without["quantity"])
        assert tables.TABLE.printout(tables.TABLE.table(without, study="s", n=5))["r without rater noise"].iloc[0] == ""


def test_only_items_with_several_raters_count():
    table = score_table([[k % 5 + 1] * 2 for k in range(12)], human=[k % 4 + 1 for k in range(12)])
    lists = [[k % 4 + 0.5, k % 4 + 1.5] if k < 8 else [k % 4 + 1] for k in range(12)]
    items = pd.DataFrame({"dataset": "d", "item_id": [f"i{k:04d}" for k in range(12)], "criterion": "c"})
    items["human_scores"] = lists
    found = human_agreement.estimate(table, **OPTIONS, items=items)
    assert set(found[found["quantity"] == "pearson_corrected"]["n_items"]) == {8}
    assert set(found[found["quantity"] == "pearson"]["n_items"]) == {12}


def test_items_with_unlike_numbers_of_scores_have_the_one_way_analysis():
    table = score_table([[k % 5 + 1] * 2 for k in range(12)], human=[k % 4 + 1 for k in range(12)])
    lists = [[k % 4 + 0.5, k % 4 + 1.5] if k < 8 else [k % 4, k % 4 + 1, k % 4 + 2] for k in range(12)]
    items = pd.DataFrame({"dataset": "d", "item_id": [f"i{k:04d}" for k in range(12)], "criterion": "c"})
    found = human_agreement.estimate(table, **OPTIONS, items=items.assign(human_scores=lists))
    rows = found[found["quantity"] == "human_reliability"]
    noise = (8 * 0.5 / 2 + 4 * 1 / 3) / 12  # variances of the raters over their numbers
    assert rows["estimate"].iloc[0] == pytest.approx(1 - noise / np.var([k % 4 + 1 for k in range(12)], ddof=1))
    assert set(rows["flag"]) == {human_agreement.RATERS_UNKNOWN}
