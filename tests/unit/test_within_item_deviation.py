"""Variation within items: by hand, against plain analysis of variance, and over many simulated data sets."""

import statistics

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.methods import blocks
from rubric_order.prompts import orderings
from rubric_order.statistics import within_item_deviation

BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 3}


def test_the_deviation_of_an_item_by_hand():
    values = np.array([[1.0, 3, np.nan], [2, 2, 2], [4, np.nan, np.nan]])
    count, variance, sd = within_item_deviation.item_moments(values).T
    assert count.tolist() == [2, 3, 1]
    np.testing.assert_allclose(variance, [2, 0, np.nan])
    np.testing.assert_allclose(sd, [2**0.5, 0, np.nan])


def test_a_split_by_hand():
    # Two orderings: the second gives item 1 two points more and item 2 none. Repeats of the first vary by 1/2.
    crossed, repeated = np.array([[1.0, 3], [4, 4]]), np.array([[1.0, 2], [4, 5]])
    found = within_item_deviation.split(within_item_deviation.parts(crossed, repeated).sum(axis=0))
    # Variances within items: 2 and 0, mean 1, of which 1/2 is repetition; that of two orderings is half of the rest.
    assert found["repetition"] == 0.5
    assert found["ordering"] == pytest.approx((1 - 0.5) / 2)
    assert found["ordering_share"] == pytest.approx(0.25 / 0.75)
    # Means of the orderings: 2.5 and 3.5, variance 1/2; the variance about them is 1 - 1/2, so chance gives 1/2 of it.
    assert found["shift"] == pytest.approx((0.5 - 0.5) / 2)
    assert found["interaction"] == pytest.approx(0.25)


def test_the_split_is_the_two_way_analysis_of_variance():
    rng = np.random.default_rng(2)
    m, d, r = 30, 6, 4
    crossed, repeated = rng.normal(size=(m, d)) + rng.normal(size=d), rng.normal(size=(m, r))
    found = within_item_deviation.split(within_item_deviation.parts(crossed, repeated).sum(axis=0))
    grand, rows, columns = crossed.mean(), crossed.mean(axis=1), crossed.mean(axis=0)
    ms_ordering = m * sum((c - grand) ** 2 for c in columns) / (d - 1)
    residual = [(crossed[i, o] - rows[i] - columns[o] + grand) ** 2 for i in range(m) for o in range(d)]
    ms_residual = sum(residual) / ((m - 1) * (d - 1))
    error = statistics.mean(statistics.variance(row) for row in repeated.tolist())
    population = (d - 1) / d
    assert found["repetition"] == pytest.approx(error)
    assert found["shift"] == pytest.approx(population * (ms_ordering - ms_residual) / m)
    assert found["interaction"] == pytest.approx(population * (ms_residual - error))
    assert found["ordering"] == pytest.approx(found["shift"] + found["interaction"])


def planted(seed, *, items=40, d=10, repeats=10, shift=0.3, interaction=0.5, noise=0.7):
    """Scores under d orderings and in repeats of the first one, with effects whose variances are known."""
    rng = np.random.default_rng(seed)
    common = shift * np.sqrt(2) * np.cos(2 * np.pi * np.arange(d) / d)  # variance shift^2 over the d orderings
    own = interaction * rng.normal(size=(items, d)) * np.sqrt(d / (d - 1))
    own -= own.mean(axis=1, keepdims=True)
    mean = 3 + rng.normal(size=(items, 1)) + common + own
    crossed = mean + noise * rng.normal(size=(items, d))
    return crossed, mean[:, :1] + noise * rng.normal(size=(items, repeats))


def test_components_are_unbiased():
    found = []
    for seed in range(400):
        sums = within_item_deviation.parts(*planted(seed)).sum(axis=0)
        found.append({name: float(value) for name, value in within_item_deviation.split(sums).items()})
    found = pd.DataFrame(found)
    truth = {"repetition": 0.49, "shift": 0.09, "interaction": 0.25, "ordering": 0.34}
    for name, value in truth.items():
        assert abs(found[name].mean() - value) < 3 * found[name].std() / np.sqrt(len(found)), name
    assert found["ordering_share"].mean() == pytest.approx(0.34 / 0.83, abs=0.01)


def test_without_an_order_effect_components_are_0_on_average_and_so_negative_half_the_time():
    found = pd.DataFrame(
        [
            {
                k: float(v)
                for k, v in within_item_deviation.split(
                    within_item_deviation.parts(*planted(s, shift=0, interaction=0)).sum(0)
                ).items()
            }
            for s in range(400)
        ]
    )
    for name in ("ordering", "shift", "interaction"):
        assert abs(found[name].mean()) < 3 * found[name].std() / 20
        assert 0.3 < (found[name] < 0).mean() < 0.7


def as_reads(crossed, repeated, shown):
    """Reads with the given scores, as `scores.score_reads` returns them."""
    table = simulated_reads(
        groups=len(crossed), candidates=1, n=shown.shape[1], strategies=["fixed"], reads=repeated.shape[1]
    )
    other = pd.concat([table[table["read_index"] == 0]] * crossed.shape[1]).sort_index(kind="stable")
    other["read_index"] = np.tile(np.arange(crossed.shape[1]), len(crossed))
    other["strategy"] = "balanced"
    other["ordering"] = [shown[read] for read in other["read_index"]]
    table["score"], other["score"] = repeated.ravel(), crossed.ravel()
    return pd.concat([table, other], ignore_index=True)


@pytest.mark.slow
def test_intervals_cover_what_was_planted():
    truth = {"repetition": 0.49, "shift": 0.09, "interaction": 0.25, "ordering": 0.34, "ordering_share": 0.34 / 0.83}
    covered = []
    for seed in range(120):
        table = as_reads(*planted(seed, items=60), orderings.balanced(5))
        found = within_item_deviation.estimate(table, **BOOTSTRAP | {"resamples": 200})
        rows = found.query("strategy == 'balanced' and cluster == 'item'").set_index("quantity")
        covered.append([rows["ci_low"][name] <= value <= rows["ci_high"][name] for name, value in truth.items()])
    assert (np.mean(covered, axis=0) > 0.87).all(), dict(zip(truth, np.mean(covered, axis=0), strict=True))


def test_two_levels_have_two_orderings_that_are_read_twice():
    rng = np.random.default_rng(1)
    crossed, repeated = rng.integers(1, 3, (30, 4)).astype(float), rng.integers(1, 3, (30, 5)).astype(float)
    found = within_item_deviation.estimate(as_reads(crossed, repeated, orderings.balanced(2)), **BOOTSTRAP)
    rows = found.query("strategy == 'balanced' and cluster == 'item'").set_index("quantity")["estimate"]
    # Canonical, reversed, reversed, canonical.
    cells = np.column_stack([crossed[:, [0, 3]].mean(axis=1), crossed[:, [1, 2]].mean(axis=1)])
    error = repeated.var(axis=1, ddof=1).mean()
    assert rows["repetition"] == pytest.approx(error)
    assert rows["ordering"] == pytest.approx((cells.var(axis=1, ddof=1).mean() - error / 2) / 2)
    assert rows["variance"] == pytest.approx(crossed.var(axis=1, ddof=1).mean())


def test_reads_in_orderings_of_their_own_have_no_common_shift():
    table = simulated_reads(groups=10, failing=0.1, preference=[1, 0, 0, 0, 0])
    found = within_item_deviation.estimate(table, **BOOTSTRAP).query("cluster == 'item'")
    quantities = {strategy: set(rows["quantity"]) for strategy, rows in found.groupby("strategy")}
    spread = {"mean_sd", "variance"}
    assert quantities["fixed"] == spread
    assert quantities["random"] == spread | {"repetition", "ordering", "ordering_share"}
    assert quantities["balanced"] == quantities["random"] | {"shift", "interaction"}
    matrices = {block.keys["strategy"]: block.matrix("score") for block in blocks.blocks(table)}
    random = found[found["strategy"] == "random"].set_index("quantity")
    variances = [np.nanvar(matrices[name], axis=1, ddof=1).mean() for name in ("random", "fixed")]
    assert random["estimate"]["ordering"] == pytest.approx(variances[0] - variances[1])
    complete = ~np.isnan(matrices["balanced"]).any(axis=1)
    balanced = found[(found["strategy"] == "balanced") & (found["quantity"] == "shift")].iloc[0]
    assert balanced["n_items"] == complete.sum() < 40


def test_the_mean_deviation_is_that_of_pandas():
    table = simulated_reads(groups=10, failing=0.1)
    found = within_item_deviation.estimate(table.sample(frac=1, random_state=2), **BOOTSTRAP)
    plain = table.groupby(["strategy", "item_id"])["score"].std().groupby("strategy").mean()
    rows = found.query("quantity == 'mean_sd' and cluster == 'group'").set_index("strategy")["estimate"]
    np.testing.assert_allclose(rows[plain.index], plain.to_numpy(dtype=float))


def test_a_judge_that_repeats_itself_varies_by_ordering_alone():
    table = simulated_reads(groups=20, noise=0, preference=[1.5, 0, 0, 0, 0])
    found = within_item_deviation.estimate(table, **BOOTSTRAP).query("cluster == 'item'")
    rows = found[found["strategy"] == "balanced"].set_index("quantity")["estimate"]
    assert rows["repetition"] == 0
    assert rows["ordering_share"] == 1
    still = simulated_reads(groups=20, noise=0)
    rows = within_item_deviation.estimate(still, **BOOTSTRAP).set_index("quantity")["estimate"]
    assert np.isnan(rows["ordering_share"]).all()
    assert (rows["mean_sd"] == 0).all()


def test_without_repeats_there_is_no_split_and_without_reads_no_row():
    table = simulated_reads(groups=4, strategies=["balanced", "single"])
    found = within_item_deviation.estimate(table, **BOOTSTRAP)
    assert set(found["quantity"]) == {"mean_sd", "variance"}
    assert set(found["strategy"]) == {"balanced"}
    assert within_item_deviation.estimate(table.iloc[:0], **BOOTSTRAP).columns.tolist() == found.columns.tolist()
