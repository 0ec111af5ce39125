"""Agreement with people under each criterion: against numpy, and paired differences between strategies."""

import math

import numpy as np
import pandas as pd
import pytest
from factories import CRITERIA, criteria_table

from rubric_order.analyses.criteria.criteria_agreement import estimate as criteria_agreement
from rubric_order.prompts import orderings

OPTIONS = {"resamples": 200, "confidence": 0.95, "seed": 1}
SHOWN = orderings.balanced(3)


def estimate(reads, **options):
    found = criteria_agreement.estimate(reads, **{**OPTIONS, **options})
    return found.set_index(["readout", "cluster", "quantity", "strategy", "other", "criterion"]).sort_index()


def judged(seed, *, n_texts=40, noise=(0.3, 1.5), failing=0.0, groups=None):
    """A strategy with little noise and one with much, about the same texts, and human scores."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(n_texts, 1, 3))
    human = np.clip(np.round(3 + quality[:, 0] + 0.3 * rng.normal(size=(n_texts, 3))), 1, 5)
    parts = []
    for strategy, spread in zip(("balanced", "fixed"), noise, strict=True):
        values = np.clip(np.round(3 + quality + spread * rng.normal(size=(n_texts, 6, 3))), 1, 5)
        values[rng.random(values.shape) < failing] = np.nan
        parts.append(criteria_table(values, SHOWN, human=human, strategy=strategy, groups=groups))
    return pd.concat(parts, ignore_index=True), human


@pytest.mark.parametrize("failing", [0.0, 0.5])
def test_each_criterion_has_pearsons_r_and_macro_is_their_mean(failing):
    reads, human = judged(1, failing=failing)
    found = estimate(reads)["estimate"]
    for strategy in ("balanced", "fixed"):
        values = reads[reads["strategy"] == strategy]
        means = values.astype({"score": float}).pivot_table(index="unit_id", columns="criterion", values="score")
        expected = []
        for place, name in enumerate(CRITERIA[:3]):
            known = means[name].dropna()
            rows = [int(text[1:]) for text in known.index]
            expected.append(np.corrcoef(known, human[rows, place])[0, 1])
            assert found["hard", "item", "pearson", strategy].droplevel(0)[name] == pytest.approx(expected[-1])
        macro = found["hard", "item", "pearson", strategy].droplevel(0)["macro"]
        assert macro == pytest.approx(np.mean(expected))


def test_a_difference_is_over_the_texts_that_both_strategies_scored():
    reads, _ = judged(2)
    lost = (reads["strategy"] == "fixed") & (reads["unit_id"] < "t0010")
    reads.loc[lost, "score"] = pd.NA
    found = estimate(reads)["estimate"]["hard", "item"]
    kept = estimate(reads[reads["unit_id"] >= "t0010"])["estimate"]["hard", "item"]
    difference = found["pearson_difference", "balanced", "fixed", "macro"]
    assert difference == pytest.approx(kept["pearson_difference", "balanced", "fixed", "macro"])
    alone = kept["pearson", "balanced"].droplevel(0)["macro"] - kept["pearson", "fixed"].droplevel(0)["macro"]
    assert difference == pytest.approx(alone)


@pytest.mark.slow
def test_a_better_strategy_is_found_and_equal_ones_are_not_told_apart():
    better = estimate(judged(3)[0]).loc[("hard", "item", "pearson_difference", "balanced", "fixed", "macro")]
    assert better["ci_low"] > 0.05
    assert better["p"] < 0.02
    held = []
    for seed in range(40):
        row = estimate(judged(seed, noise=(0.6, 0.6))[0], resamples=300)
        row = row.loc[("hard", "item", "pearson_difference", "balanced", "fixed", "macro")]
        held.append(row["ci_low"] <= 0 <= row["ci_high"])
    assert np.mean(held) >= 0.85


def test_the_same_scores_differ_by_exactly_0():
    reads, _ = judged(4)
    one = reads[reads["strategy"] == "balanced"]
    found = estimate(pd.concat([one, one.assign(strategy="random")]))
    rows = found.xs("pearson_difference", level="quantity")
    assert rows[["estimate", "ci_low", "ci_high"]].to_numpy() == pytest.approx(0)
    assert rows["p"].eq(1).all()


def test_groups_of_texts_are_drawn_together():
    reads, _ = judged(5, groups=[f"g{number // 10}" for number in range(40)])
    found = estimate(reads).xs("macro", level="criterion").xs("balanced", level="strategy")
    assert set(found.xs("group", level="cluster")["n_clusters"]) == {4}
    assert set(found.xs("item", level="cluster")["n_clusters"]) == {40}
    one = estimate(judged(5, groups=["g"] * 40)[0])
    assert one.xs("group", level="cluster")["ci_low"].isna().all()
    assert one.xs("item", level="cluster")["ci_low"].notna().all()


def test_a_criterion_that_the_judge_scores_alike_is_left_out_of_the_mean():
    reads, _ = judged(6)
    reads.loc[reads["criterion"] == "wit", "score"] = 3
    found = estimate(reads)
    rows = found.loc[("hard", "item", "pearson", "balanced")].droplevel(0)
    assert math.isnan(rows.loc["wit", "estimate"])
    assert rows.loc["macro", "estimate"] == pytest.approx(rows.loc[["plot", "style"], "estimate"].mean())
    assert rows.loc["macro", "n_criteria"] == 2


def test_where_too_few_resamples_have_a_difference_there_is_neither_interval_nor_p():
    found = estimate(judged(2, n_texts=6, failing=0.93)[0])
    differences = found.xs("pearson_difference", level="quantity")
    assert differences["ci_low"].isna().any()
    assert (differences["ci_low"].isna() == differences["p"].isna()).all()
