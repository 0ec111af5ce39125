"""Selected scores by position: by hand, against loops, and for judges whose preference is known."""

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.analyses.position.score_position import estimate as score_position
from rubric_order.methods.position import blocks, selections

BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 3}


def test_two_reads_by_hand():
    # Both orderings of two levels; the judge says 1 wherever it stands, and once nothing.
    table = simulated_reads(groups=1, candidates=2, n=2, strategies=["balanced"])
    table["score"] = pd.array([1, 1, 1, 1, 1, 1, 1, None], dtype="Int8")
    table["position"] = pd.array([list(o).index(1) + 1 for o in table["ordering"]], dtype="Int8")
    table.loc[7, "position"] = pd.NA
    found = score_position.estimate(table, **BOOTSTRAP).query("cluster == 'item' and dataset == 'd'")
    share, rate = (
        found[found["quantity"] == quantity].pivot(index="score", columns="position", values="estimate")
        for quantity in ("share", "rate")
    )
    # Canonical, reversed, reversed, canonical: of seven reads, three have 1 first and four have it last.
    np.testing.assert_allclose(share, [[3 / 7, 4 / 7], [np.nan, np.nan]])
    np.testing.assert_allclose(rate, [[1, 1], [0, 0]])
    assert found.groupby("score")["n_selected"].first().tolist() == [7, 0]
    assert set(found["n_reads"]) == {7}


def counted(table, n):
    selected, chances = np.zeros((n, n)), np.zeros((n, n))
    for row in table[table["score"].notna()].itertuples():
        selected[row.score - 1, row.position - 1] += 1
        for place, score in enumerate(row.ordering):
            chances[score - 1, place] += 1
    return selected, chances


@pytest.mark.parametrize("n", [3, 5])
def test_shares_and_rates_are_those_of_a_loop(n):
    table = simulated_reads(groups=8, n=n, failing=0.1, preference=np.linspace(1, 0, n))
    found = score_position.estimate(table.sample(frac=1, random_state=1), **BOOTSTRAP)
    assert set(found["strategy"]) == {"balanced", "random"}
    for strategy, rows in found.query("cluster == 'group' and dataset == 'd'").groupby("strategy"):
        selected, chances = counted(table[table["strategy"] == strategy], n)
        expected = {"share": selected / selected.sum(axis=1, keepdims=True), "rate": selected / chances}
        for quantity, values in expected.items():
            ours = rows[rows["quantity"] == quantity].pivot(index="score", columns="position", values="estimate")
            np.testing.assert_allclose(ours, values)
        assert set(rows["n_reads"]) == {int(chances.sum() / n)}


def test_probabilities_are_summed_where_each_score_stands():
    table = simulated_reads(groups=6, soft=True, failing=0.1)
    balanced = table[table["strategy"] == "balanced"]
    (block,) = blocks.blocks(balanced)
    selected, chances = selections.score_selections(block, "soft").sum(axis=1)
    expected = np.zeros((5, 5))
    for ordering, probabilities in zip(balanced["ordering"], balanced["position_probabilities"], strict=True):
        expected[np.array(ordering) - 1, np.arange(5)] += probabilities
    np.testing.assert_allclose(selected, expected)
    assert chances.tolist() == np.full((5, 5), len(balanced) / 5).tolist()
    found = score_position.estimate(table, **BOOTSTRAP)
    assert set(found["readout"]) == {"hard", "soft"}


def test_datasets_are_pooled_by_reads_and_drawn_apart():
    parts = [
        simulated_reads(
            groups=groups, dataset=dataset, strategies=["balanced"], seed=groups, preference=[1, 0, 0, 0, 0]
        )
        for groups, dataset in ((10, "one"), (30, "two"))
    ]
    found = score_position.estimate(iter(parts), **BOOTSTRAP).query("quantity == 'share' and cluster == 'item'")
    selected = sum(counted(part, 5)[0] for part in parts)
    pooled = found[found["dataset"] == "all"]
    np.testing.assert_allclose(
        pooled.pivot(index="score", columns="position", values="estimate"),
        selected / selected.sum(axis=1, keepdims=True),
    )
    assert set(pooled["n_items"]) == {160}
    width = found.assign(width=found["ci_high"] - found["ci_low"]).groupby("dataset")["width"].mean()
    assert width["all"] < width["two"] < width["one"]


def test_equally_large_datasets_are_drawn_independently():
    one = simulated_reads(groups=40, dataset="one", strategies=["balanced"], noise=1)
    # Were both drawn alike, the pooled intervals of a data set and its copy would be as wide as those of one of them.
    found = score_position.estimate([one, one.assign(dataset="two")], **BOOTSTRAP | {"resamples": 400})
    rows = found.query("quantity == 'share' and cluster == 'item'")
    width = rows.assign(width=rows["ci_high"] - rows["ci_low"]).groupby("dataset")["width"].mean()
    assert width["all"] / width["one"] == pytest.approx(2**-0.5, rel=0.1)


@pytest.mark.slow
def test_an_unbiased_judge_has_uniform_shares_within_their_intervals():
    inside = []
    for seed in range(20):
        table = simulated_reads(groups=60, strategies=["balanced"], seed=seed)
        rows = score_position.estimate(table, **BOOTSTRAP).query(
            "quantity == 'share' and cluster == 'item' and dataset == 'd'"
        )
        assert rows.groupby("score")["estimate"].sum().to_numpy() == pytest.approx(np.ones(5))
        inside.append(((rows["ci_low"] <= 0.2) & (rows["ci_high"] >= 0.2)).mean())
    assert 0.85 < np.mean(inside) < 0.99


def test_a_judge_that_takes_the_first_option_has_all_shares_there():
    table = simulated_reads(groups=10, preference=[99, 0, 0, 0, 0], strategies=["balanced"])
    assert [o[p - 1] for o, p in zip(table["ordering"], table["position"], strict=True)] == table["score"].tolist()
    rows = score_position.estimate(table, **BOOTSTRAP).query("dataset == 'd'")
    assert (rows[rows["position"] == 1]["estimate"] == 1).all()
    assert (rows[rows["position"] > 1]["estimate"] == 0).all()
