"""The budget curve: against loops over subsets and resamples, scipy, and finite differences."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads
from scipy import stats

from rubric_order.analyses.agreement.budget_curve import estimate as budget_curve
from rubric_order.analyses.agreement.budget_curve import figure
from rubric_order.analyses.agreement.budget_curve import table as layout
from rubric_order.base.labels import Labels
from rubric_order.figures import view
from rubric_order.methods.agreement import subsets
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import resampling

OPTIONS = {"confidence": 0.9, "seed": 3}


def scores_of(items, k, seed, levels=5):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=items)
    scores = np.clip(np.rint(3 + quality[:, None] + rng.normal(size=(items, k))), 1, levels)
    return scores, np.rint(3 * (3 + quality + rng.normal(size=items))) / 3


def every_subset(k):
    return [subset for size in range(1, k + 1) for subset in itertools.combinations(range(k), size)]


def test_up_to_the_limit_every_subset_is_there_once():
    chosen = subsets.draw(6, 20, rng=np.random.default_rng(0))
    masks, sizes = chosen.masks, chosen.sizes
    assert sizes.tolist() == [len(subset) for subset in every_subset(6)]
    assert [tuple(np.flatnonzero(mask)) for mask in masks] == every_subset(6)
    assert len(subsets.draw(10, 252, rng=np.random.default_rng(0))[0]) == 1023


def test_beyond_the_limit_subsets_are_different_ones_and_equally_likely():
    drawn = [subsets.draw(6, 6, rng=np.random.default_rng(seed)) for seed in range(400)]
    masks, sizes, _ = drawn[0]
    assert np.bincount(sizes).tolist() == [0, 6, 6, 6, 6, 6, 1]
    assert (masks.sum(axis=1) == sizes).all()
    assert len(np.unique(masks, axis=0)) == len(masks)
    pairs = np.concatenate([chosen.masks[chosen.sizes == 2] for chosen in drawn])
    counts = np.unique(pairs, axis=0, return_counts=True)[1]
    assert len(counts) == 15
    assert stats.chisquare(counts).pvalue > 0.001


def test_large_budgets_are_cut():
    chosen = subsets.draw(120, 5, rng=np.random.default_rng(0))
    assert chosen.sizes.max() == subsets.LARGEST_SUBSET


def test_two_reads_of_three_items_by_hand():
    # Reads (1, 2, 3) and (3, 2, 1) of items with human scores 1, 2, 3: r is 1 and -1, and their means do not vary.
    scores, human = np.array([[1.0, 3], [2, 2], [3, 1]]), np.array([1.0, 2, 3])
    chosen = subsets.draw(2, 9, rng=np.random.default_rng(0))
    sizes = chosen.sizes
    r = subsets.pearson_of_subsets(subsets.moments(scores, human).sum(axis=0), chosen)
    np.testing.assert_allclose(r, [1, -1, np.nan])
    np.testing.assert_allclose(subsets.mean_over_subsets(r, sizes), [0, np.nan])
    rho, _ = subsets.spearman_of_subsets(scores, human, chosen)
    np.testing.assert_allclose(rho, [1, -1, np.nan])


@pytest.mark.parametrize("shift", [0, 0.37])  # scores that are not whole numbers too
def test_correlations_of_subsets_are_those_of_a_loop(shift):
    scores, human = scores_of(40, 5, seed=1)
    scores = scores + shift * np.random.default_rng(2).random(scores.shape)
    chosen = subsets.draw(5, 252, rng=np.random.default_rng(0))
    r = subsets.pearson_of_subsets(subsets.moments(scores, human).sum(axis=0), chosen)
    rho, _ = subsets.spearman_of_subsets(scores, human, chosen)
    means = [scores[:, list(subset)].mean(axis=1).round(12) for subset in every_subset(5)]
    assert r == pytest.approx([np.corrcoef(mean, human)[0, 1] for mean in means], abs=1e-12)
    assert rho == pytest.approx([stats.spearmanr(mean, human)[0] for mean in means], abs=1e-12)


def test_equal_means_tie_although_floating_point_sums_of_thirds_differ():
    scores = np.array([[1.0, 2, 4], [4, 2, 1], [2, 4, 1], [5, 5, 5]])
    human = np.array([1.0, 2, 3, 4])
    chosen = subsets.draw(3, 3, rng=np.random.default_rng(0))
    rho = subsets.spearman_of_subsets(scores, human, chosen).rho[-1:]
    assert rho == pytest.approx([stats.spearmanr([2, 2, 2, 4], human)[0]])


def test_resampled_curves_are_those_of_a_loop_over_subsets_and_resamples():
    scores, human = scores_of(30, 4, seed=5)
    unit = np.repeat(np.arange(10), 3)
    chosen = subsets.draw(4, 252, rng=np.random.default_rng(0))
    sums = resampling.sum_units(subsets.moments(scores, human), unit)
    weights = resampling.bootstrap_weights(10, 20, rng=np.random.default_rng(1))
    ours = subsets.curve(weights.astype(float) @ sums, chosen)
    for curve, drawn in zip(ours, weights, strict=True):
        rows = np.repeat(np.arange(30), drawn[unit])
        for size in range(1, 5):
            sets = itertools.combinations(range(4), size)
            plain = [np.corrcoef(scores[rows][:, list(s)].mean(axis=1), human[rows])[0, 1] for s in sets]
            assert curve[size - 1] == pytest.approx(np.mean(plain), abs=1e-10)


def weighted_spearman(x, y, weight):
    """Correlation of mid-distribution functions; with equal weights, Spearman's rho."""
    weight = weight / weight.sum()
    u, v = (np.array([weight[z < value].sum() + weight[z == value].sum() / 2 for value in z]) - 0.5 for z in (x, y))
    return (weight * u * v).sum() / math.sqrt((weight * u * u).sum() * (weight * v * v).sum())


def test_the_influence_on_spearman_is_the_derivative_by_an_items_weight():
    scores, human = scores_of(25, 3, seed=2)
    chosen = subsets.draw(3, 252, rng=np.random.default_rng(0))
    masks, sizes = chosen.masks, chosen.sizes
    influence = subsets.spearman_of_subsets(scores, human, chosen).influence

    def curve(weight):
        rho = [weighted_spearman(scores @ mask, human, weight) for mask in masks]
        return subsets.mean_over_subsets(np.array(rho), sizes)

    for item in (0, 7, 24):
        step = np.zeros(25)
        step[item] = 1e-5
        slope = (curve(np.ones(25) + step) - curve(np.ones(25) - step)) / 2e-5
        assert influence[item] / 25 == pytest.approx(slope, abs=1e-7)
    assert influence.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.slow
def test_the_jackknife_interval_of_spearman_is_as_wide_as_the_bootstraps():
    table = simulated_reads(groups=150, candidates=1, n=5, strategies=["fixed"], reads=3, noise=1.5)
    found = budget_curve.estimate(table, **OPTIONS).query("statistic == 'spearman' and cluster == 'item'")
    (block,) = blocks.blocks(table)
    scores, human = block.matrix("score"), block.items["human_score"].to_numpy()
    rng = np.random.default_rng(4)
    again = []
    for _ in range(300):
        rows = rng.integers(0, len(human), len(human))
        again.append(
            [
                np.mean([stats.spearmanr(scores[rows][:, s].sum(axis=1), human[rows])[0] for s in subsets])
                for subsets in ([[0], [1], [2]], [[0, 1], [0, 2], [1, 2]], [[0, 1, 2]])
            ]
        )
    r = found[found["quantity"] == "r"]
    width = (r["ci_high"] - r["ci_low"]).to_numpy() / 2 / stats.t.ppf(0.95, 149)
    assert width == pytest.approx(np.std(again, axis=0), rel=0.15)
    gain = np.std([curve[2] - curve[0] for curve in again])
    row = found.query("quantity == 'gain' and k == 3").iloc[0]
    assert (row["ci_high"] - row["ci_low"]) / 2 / stats.t.ppf(0.95, 149) == pytest.approx(gain, rel=0.2)


@pytest.fixture(scope="module")
def curve():
    table = simulated_reads(groups=12, candidates=3, criteria=("x", "y"), failing=0.02, seed=3, soft=True, reads=6)
    return table, budget_curve.estimate(table.sample(frac=1, random_state=1), **OPTIONS)


def test_only_complete_items_with_a_human_score_count(curve):
    table, found = curve
    for strategy, k in (("balanced", 10), ("random", 6), ("fixed", 6)):
        chosen = table[table["strategy"] == strategy]
        wide = chosen.pivot(index="item_id", columns="read_index", values="score").astype(float)
        complete = wide.dropna()
        assert len(complete) < len(wide)
        human = chosen.drop_duplicates("item_id").set_index("item_id")["human_score"][complete.index]
        rows = found.query("strategy == @strategy and readout == 'hard' and cluster == 'item'")
        assert (rows["n_items"] == len(complete)).all()
        assert (rows["n_rated"] == len(wide)).all()
        for statistic, plain in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            r = rows[(rows["statistic"] == statistic) & (rows["quantity"] == "r")].set_index("k")
            assert r["estimate"][k] == pytest.approx(plain(complete.sum(axis=1), human)[0])
            singles = [plain(complete[read], human)[0] for read in complete]
            assert r["estimate"][1] == pytest.approx(np.mean(singles))
            assert r.loc[1, ["range_low", "range_high"]].tolist() == pytest.approx(np.quantile(singles, [0.025, 0.975]))


def test_every_row_says_how_it_was_made(curve):
    _, found = curve
    assert set(found["cluster"]) == {"item", "group"}
    assert found.groupby("cluster")["n_clusters"].max().to_dict() == {"group": 12, "item": found["n_items"].max()}
    methods = [f"jackknife over {cluster}s, Student's t" for cluster in ("item", "group")]
    assert set(found["method"]) == {*methods, *(f"{method}, first order" for method in methods)}
    inside = found[found["k"] > 1]
    assert (inside["ci_low"] <= inside["estimate"]).mean() > 0.9
    assert (inside["ci_high"] >= inside["estimate"]).mean() > 0.9
    first = found.query("quantity == 'gain' and k == 1")
    assert (first[["estimate", "ci_low", "ci_high"]].abs() < 1e-12).all(axis=None)


def test_the_interval_of_r_is_that_of_a_plain_jackknife(curve):
    table, found = curve
    row = found.query(
        "strategy == 'balanced' and readout == 'hard' and cluster == 'group' and statistic == 'pearson' and k == 10"
    ).set_index("quantity")
    wide = table[table["strategy"] == "balanced"].pivot(index="item_id", columns="read_index", values="score")
    wide = wide.astype(float).dropna()
    about = table.drop_duplicates("item_id").set_index("item_id").loc[wide.index]

    def r_and_gain(rows):
        singles = [stats.pearsonr(wide[read][rows], about["human_score"][rows])[0] for read in wide]
        whole = stats.pearsonr(wide.mean(axis=1)[rows], about["human_score"][rows])[0]
        return np.arctanh(whole), whole - np.mean(singles)

    groups = about["group_id"].unique()
    left_out = np.array([r_and_gain(about["group_id"] != group) for group in groups])
    z, gain = r_and_gain(about["group_id"].notna())
    error = np.sqrt((len(groups) - 1) * ((left_out - [z, gain]) ** 2).mean(axis=0))
    df = resampling.degrees(about.groupby("group_id").size().to_numpy())
    assert len(groups) - 2 < df <= len(groups) - 1  # some items lack a score
    reach = stats.t.ppf(0.95, df) * error
    ends = np.tanh([z - reach[0], z + reach[0]])
    assert row.loc["r", ["ci_low", "ci_high"]].tolist() == pytest.approx(ends.tolist())
    assert row.loc["gain", ["ci_low", "ci_high"]].tolist() == pytest.approx([gain - reach[1], gain + reach[1]])


def test_a_judge_that_repeats_itself_gains_nothing():
    table = simulated_reads(groups=20, noise=0, strategies=["fixed"])
    found = budget_curve.estimate(table, **OPTIONS)
    r = found.query("quantity == 'r'")
    assert r.groupby("statistic")["estimate"].std().to_numpy() == pytest.approx([0, 0], abs=1e-12)
    assert r["range_low"].to_numpy() == pytest.approx(r["range_high"].to_numpy())


def test_a_judge_of_one_score_has_no_correlation_and_items_without_human_scores_no_rows():
    table = simulated_reads(groups=5, strategies=["fixed"], reads=3)
    table["score"] = pd.array([3] * len(table), dtype="Int8")
    found = budget_curve.estimate(table, **OPTIONS)
    assert found[["estimate", "ci_low", "ci_high", "range_low"]].isna().all(axis=None)
    assert (found["n_undefined"] == found["n_subsets"]).all()
    assert budget_curve.estimate(table.assign(human_score=np.nan), **OPTIONS).empty


def test_one_group_has_no_interval_over_groups():
    found = budget_curve.estimate(simulated_reads(groups=1, candidates=8, strategies=["fixed"]), **OPTIONS)
    over_groups = found[found["cluster"] == "group"]
    assert over_groups["estimate"].notna().all()
    assert over_groups[["ci_low", "ci_high"]].isna().all(axis=None)
    over_items = found[(found["cluster"] == "item") & (found["statistic"] == "spearman")]
    assert over_items["ci_low"].notna().all()


def test_more_reads_than_fit_into_memory_are_left_out_and_named(caplog):
    table = simulated_reads(groups=3, strategies=["balanced", "random"], reads=budget_curve.MOST_READS + 1)
    found = budget_curve.estimate(table, **OPTIONS)
    assert set(found["strategy"]) == {"balanced"}
    assert "random 5: 121 reads per item; the curve is for at most 120" in caplog.text


def test_the_share_of_the_gain_is_1_with_all_reads_and_known_only_where_there_is_a_gain():
    noisy = simulated_reads(groups=150, strategies=("random",), noise=3.0, seed=4)
    found = budget_curve.estimate(noisy, confidence=0.95, seed=1).query("readout == 'hard' and cluster == 'group'")
    for statistic in ("pearson", "spearman"):
        of_one = found[found["statistic"] == statistic].pivot(index="k", columns="quantity", values="estimate")
        assert (of_one["gain_share"] == of_one["gain"] / of_one["gain"].iloc[-1]).all()
        assert of_one["gain_share"].iloc[[0, -1]].tolist() == [0, 1]
        row = found.query("statistic == @statistic and quantity == 'gain_share' and k == 3").iloc[0]
        assert row["ci_low"] < row["estimate"] < row["ci_high"] < 1
    (row,) = layout.TABLE.table(found, study="s", statistic="pearson", cluster="group").to_dict("records")
    assert (row["reads"], row["share_3"]) == (10, of_share(found, 3))
    assert 0.3 < row["share_3"] < row["share_5"] < 1
    same = simulated_reads(groups=30, strategies=("fixed",), noise=0.0, seed=4)  # repeats gain nothing
    nothing = budget_curve.estimate(same, confidence=0.95, seed=1)
    assert "gain_share" not in set(nothing["quantity"])
    rows = layout.TABLE.table(nothing, study="s", statistic="pearson", cluster="group")
    assert rows["share_3"].isna().all()
    assert layout.TABLE.printout(rows)["3 reads: % of the gain"].tolist() == [""]
    printed = layout.TABLE.printout(layout.TABLE.table(found, study="s", statistic="pearson", cluster="group"))
    assert printed["3 reads: % of the gain"].str.match(r"\d\d \[").all()


@pytest.mark.parametrize(
    ("rated", "reason"),
    [
        (True, "Curves of study s are of strategy fixed; the figure shows balanced (its key strategies)"),
        (False, "No two items of study s have human scores and a score from each of several reads"),
    ],
)
def test_an_empty_figure_says_why(rated, reason):
    reads = simulated_reads(groups=6, strategies=("fixed",), noise=1.0, seed=4)
    found = budget_curve.estimate(reads if rated else reads.assign(human_score=np.nan), confidence=0.95, seed=1)
    options = {"study": "s", "n": 5, "readout": "hard", "measure": "pearson", "labels": Labels({}, {})}
    drawn = view.draw(figure, found, **options, strategies=["balanced"], width_in=6.5)
    assert drawn.texts[0].get_text() == reason


def test_a_curve_of_recorded_orderings_can_be_drawn():
    reads = simulated_reads(groups=6, strategies=("balanced",), noise=1.0, seed=4).assign(strategy="recorded")
    found = budget_curve.estimate(reads, confidence=0.95, seed=1)
    options = {"study": "s", "n": 5, "readout": "hard", "measure": "pearson"}
    labels = Labels({judge: judge for judge in reads["judge"]}, {name: name for name in reads["dataset"]})
    drawn = view.draw(figure, found, **options, labels=labels, strategies=["recorded"], width_in=6.5, panel_height_in=2)
    assert drawn.axes


def of_share(found, k):
    return found.query("statistic == 'pearson' and quantity == 'gain_share' and k == @k")["estimate"].item()
