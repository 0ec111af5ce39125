"""The rank of the canonical ordering: against loops of `numpy.corrcoef`, and by hand."""

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.analyses.agreement.canonical_rank import estimate as canonical_rank
from rubric_order.methods.position import blocks, shared_orderings
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings

BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 3}


def test_ranks_by_hand():
    r = np.array([[0.3, 0.5, 0.1], [0.3, 0.3, 0.1], [0.3, 0.3, 0.3], [0.3, np.nan, 0.4], [np.nan, 0.1, 0.2]])
    np.testing.assert_array_equal(shared_orderings.rank_of(r, 0), [2, 1.5, 2, 2, np.nan])


def test_the_canonical_ordering_is_found_wherever_it_stands():
    shown = orderings.balanced(5)
    assert shared_orderings.canonical_place(shown) == 0
    assert shared_orderings.canonical_place(shown[::-1]) == 9


def test_correlations_come_from_sums():
    rng = np.random.default_rng(1)
    values, human = rng.integers(1, 6, (30, 4)).astype(float), rng.normal(size=30)
    values[:, 2] = 3
    weights = rng.integers(0, 3, 30)
    table = shared_orderings.column_moments(values, human)
    r = shared_orderings.column_correlations(np.stack([table.sum(axis=0), weights @ table]))
    again = np.repeat(np.arange(30), weights)
    for row, items in zip(r, (np.arange(30), again), strict=True):
        assert np.isnan(row[2])
        for column in (0, 1, 3):
            assert row[column] == pytest.approx(np.corrcoef(values[items, column], human[items])[0, 1])


@pytest.mark.parametrize("n", [2, 5])
def test_the_table_is_that_of_a_loop_over_orderings(n):
    table = simulated_reads(groups=25, n=n, failing=0.03, strategies=["balanced", "fixed"], seed=n)
    found = canonical_rank.estimate(table.sample(frac=1, random_state=1), **BOOTSTRAP)
    assert set(found["strategy"]) == {"balanced"}
    wide = table[table["strategy"] == "balanced"].pivot(index="item_id", columns="read_index", values="score")
    complete = wide.astype(float).dropna()
    human = table.drop_duplicates("item_id").set_index("item_id")["human_score"][complete.index]
    names = [tuple(ordering) for ordering in orderings.balanced(n).tolist()]
    of_ordering = complete.T.assign(ordering=names).groupby("ordering").mean().T
    r = {ordering: np.corrcoef(of_ordering[ordering], human)[0, 1] for ordering in of_ordering}
    canonical = r[tuple(range(1, n + 1))]
    rows = found[found["cluster"] == "item"].set_index("quantity")
    assert rows["estimate"]["pearson_canonical"] == pytest.approx(canonical)
    assert rows["estimate"]["pearson_mean"] == pytest.approx(np.mean(list(r.values())))
    assert rows["estimate"]["advantage"] == pytest.approx(canonical - np.mean(list(r.values())))
    assert rows["estimate"]["rank"] == 1 + sum(value > canonical for value in r.values())
    assert (rows["n_items"] == len(complete)).all()
    assert (rows["n_rated"] == len(wide)).all()
    assert (rows["n_orderings"] == len(r)).all()


def test_the_distribution_of_the_rank_is_that_of_resampled_items():
    table = simulated_reads(groups=30, candidates=2, strategies=["balanced"], noise=1)
    found = canonical_rank.estimate(table, **BOOTSTRAP)
    (block,) = blocks.blocks(table)
    values, human = block.matrix("score"), block.items["human_score"].to_numpy()
    for cluster in ("item", "group"):
        shares = found[(found["quantity"] == "rank_share") & (found["cluster"] == cluster)].set_index("rank")[
            "estimate"
        ]
        assert shares.index.tolist() == list(range(1, 11))
        assert shares.sum() == pytest.approx(1)
        unit = block.units(cluster)
        counts = np.zeros(10)
        for weights in resampling.weights(unit.max() + 1, 100, 3, "canonical rank"):
            rows = np.repeat(np.arange(60), weights[unit].astype(int))
            r = [np.corrcoef(values[rows, place], human[rows])[0, 1] for place in range(10)]
            higher, equal = sum(x > r[0] + 1e-9 for x in r), sum(abs(x - r[0]) <= 1e-9 for x in r)
            rank = higher + (equal + 1) / 2
            counts[int(np.floor(rank)) - 1] += 0.5
            counts[int(np.ceil(rank)) - 1] += 0.5
        assert shares.tolist() == pytest.approx((counts / 100).tolist())


@pytest.mark.slow
def test_without_an_order_effect_every_rank_is_as_likely():
    ranks = []
    for seed in range(200):
        table = simulated_reads(groups=25, candidates=1, strategies=["balanced"], noise=1, seed=seed)
        found = canonical_rank.estimate(table, **BOOTSTRAP | {"resamples": 1})
        ranks.append(found[found["quantity"] == "rank"]["estimate"].iloc[0])
    assert np.mean(ranks) == pytest.approx(5.5, abs=3 * np.std(ranks) / np.sqrt(200))
    assert np.std(ranks) == pytest.approx(np.sqrt(99 / 12), rel=0.12)


def test_an_ordering_that_is_read_well_has_the_first_rank():
    table = simulated_reads(groups=40, strategies=["balanced"], noise=2, seed=1)
    canonical = table["read_index"] == 0
    table.loc[canonical, "score"] = np.clip(np.rint(table["human_score"][canonical]), 1, 5).astype(int)
    found = canonical_rank.estimate(table, **BOOTSTRAP)
    assert (found[found["quantity"] == "rank"][["estimate", "ci_low", "ci_high"]] == 1).all(axis=None)
    assert (found[(found["quantity"] == "rank_share") & (found["rank"] == 1)]["estimate"] == 1).all()


def test_one_score_throughout_has_no_rank():
    table = simulated_reads(groups=5, strategies=["balanced"])
    table["score"] = pd.array([4] * len(table), dtype="Int8")
    found = canonical_rank.estimate(table, **BOOTSTRAP)
    assert found["estimate"].isna().all()
    assert canonical_rank.estimate(table.assign(human_score=np.nan), **BOOTSTRAP).empty
