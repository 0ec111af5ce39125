"""Variation within items: by hand, against plain analysis of variance, and over many simulated data sets."""

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.analyses.position.within_item_deviation import estimate as within_item_deviation
from rubric_order.methods.position import blocks, repetition
from rubric_order.prompts import orderings
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

OPTIONS = {"confidence": 0.95}


def test_the_deviation_of_an_item_by_hand():
    values = np.array([[1.0, 3, np.nan], [2, 2, 2], [4, np.nan, np.nan]])
    count, variance, sd = within_item_deviation.item_moments(values).T
    assert count.tolist() == [2, 3, 1]
    np.testing.assert_allclose(variance, [2, 0, np.nan])
    np.testing.assert_allclose(sd, [2**0.5, 0, np.nan])


def split_of(reads, noise, **options):
    """The split of some items' reads, each item a unit of resampling."""
    table = within_item_deviation.parts(reads, np.broadcast_to(noise, len(reads)))
    sums = within_item_deviation.unit_parts(table, np.arange(len(table))).sum(axis=0)
    return {name: float(value) for name, value in within_item_deviation.split(sums, **options).items()}


def test_a_split_by_hand():
    # Two orderings: the second gives item 1 two points more and item 2 none. Repetition varies by 1/2.
    found = split_of(np.array([[1.0, 3], [4, 4]]), [0.25, 0.75])
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
    reads = rng.normal(size=(m, d, r)) + rng.normal(size=(d, 1))
    crossed, error = reads.mean(axis=2), reads.var(axis=2, ddof=1).mean()
    found = split_of(crossed, reads.var(axis=2, ddof=1).mean(axis=1), repeats=r)
    grand, rows, columns = crossed.mean(), crossed.mean(axis=1), crossed.mean(axis=0)
    ms_ordering = m * sum((c - grand) ** 2 for c in columns) / (d - 1)
    residual = [(crossed[i, o] - rows[i] - columns[o] + grand) ** 2 for i in range(m) for o in range(d)]
    ms_residual = sum(residual) / ((m - 1) * (d - 1))
    population = (d - 1) / d
    assert found["repetition"] == pytest.approx(error)
    assert found["shift"] == pytest.approx(population * (ms_ordering - ms_residual) / m)
    assert found["interaction"] == pytest.approx(population * (ms_residual - error / r))
    assert found["ordering"] == pytest.approx(found["shift"] + found["interaction"])
    unsplit = split_of(crossed, np.nan, known=False)
    assert unsplit == {"shift": found["shift"], "rest": pytest.approx(ms_residual)}


def planted(seed, *, items=40, d=10, repeats=2, shift=0.3, interaction=0.5, noise=0.7):
    """Scores under d orderings, each read several times, with effects whose variances are known.

    The first ordering is answered without any noise: it stands for no other.
    """
    rng = np.random.default_rng(seed)
    common = shift * np.sqrt(2) * np.cos(2 * np.pi * np.arange(d) / d)  # variance shift^2 over the d orderings
    own = interaction * rng.normal(size=(items, d)) * np.sqrt(d / (d - 1))
    own -= own.mean(axis=1, keepdims=True)
    size = noise * np.sqrt(d / (d - 1)) * (np.arange(d) > 0)
    mean = 3 + rng.normal(size=(items, 1)) + common + own
    return mean[..., None] + size[:, None] * rng.normal(size=(items, d, repeats))


def split_of_repeats(reads):
    return split_of(reads.mean(axis=2), reads.var(axis=2, ddof=1).mean(axis=1), repeats=reads.shape[2])


def test_components_are_those_that_were_planted():
    found = pd.DataFrame([split_of_repeats(planted(seed)) for seed in range(400)])
    truth = {"repetition": 0.49, "shift": 0.09, "interaction": 0.25, "ordering": 0.34}
    for name, value in truth.items():
        assert abs(found[name].mean() - value) < 3 * found[name].std() / np.sqrt(len(found)), name
    assert found["ordering_share"].mean() == pytest.approx(0.34 / 0.83, abs=0.01)


def test_without_an_order_effect_components_are_0_on_average_and_so_negative_half_the_time():
    found = pd.DataFrame([split_of_repeats(planted(seed, shift=0, interaction=0)) for seed in range(400)])
    for name in ("ordering", "shift", "interaction"):
        assert abs(found[name].mean()) < 3 * found[name].std() / 20
        assert 0.3 < (found[name] < 0).mean() < 0.7


def test_effects_that_groups_share_are_no_shift_where_groups_are_the_sample():
    shifts = {"group": [], "item": []}
    for seed in range(300):
        rng = np.random.default_rng(seed)
        of_group = np.repeat(rng.normal(size=(12, 10)), 8, axis=0)  # what an ordering does to all items of a group
        table = within_item_deviation.parts(of_group + rng.normal(size=(96, 10)), np.full(96, np.nan))
        for cluster, unit in (("group", np.arange(96) // 8), ("item", np.arange(96))):
            sums = within_item_deviation.unit_parts(table, unit).sum(axis=0)
            shifts[cluster].append(float(within_item_deviation.split(sums, known=False)["shift"]))
    assert abs(np.mean(shifts["group"])) < 3 * np.std(shifts["group"]) / np.sqrt(300)
    assert np.mean(shifts["item"]) > 0.05


# A judge of which all is known: the share of the order in the variance of a read, by strategy and readout.


def true_share(reads, *, drawn):
    """Share of the ordering in the variance of a score that is drawn, from the probabilities of every read.

    Args:
        drawn: whether the orderings of an item are draws of all there are.
    """
    mean = (reads.probabilities * reads.shown).sum(axis=2)
    noise = repetition.variance_of_draw(reads.probabilities, reads.shown)
    ordering = mean.var(axis=1, ddof=int(drawn)).mean()
    return ordering / (ordering + noise.mean()), noise


@pytest.mark.parametrize(
    ("judge", "wrong"),
    [
        # The usual ordering puts the last option, which is preferred, where a severe judge does not look.
        (Simulation(preference="last", preference_strength=3.0, leniency=-1.0, decisiveness=0.5), 0.05),
        (Simulation(usual_decisiveness=4.0), 0.05),  # no preference, but the usual ordering is answered more surely
        (Simulation(usual_decisiveness=0.25, preference="first"), 0.05),
    ],
)
def test_the_share_of_the_order_does_not_depend_on_how_surely_the_usual_ordering_is_answered(judge, wrong):
    strategies = ["balanced", "fixed", "random", "repeated_rotations"]
    reads = studies.read_items(judge, n=5, strategies=strategies, groups=600, candidates=2, seed=5)
    scores = studies.as_scores(reads, candidates=2)
    known = within_item_deviation.estimate(scores, **OPTIONS, temperatures={"simulated": {"default": 1.0}})
    repeated = within_item_deviation.estimate(scores, **OPTIONS)
    of_fixed = np.nanvar(reads["fixed"].scores, axis=1, ddof=1).mean()
    for strategy, found in (("balanced", known), ("random", known), ("repeated_rotations", repeated)):
        share, noise = true_share(reads[strategy], drawn=strategy == "random")
        rows = found.query("strategy == @strategy and cluster == 'group' and readout == 'hard'").set_index("quantity")
        assert rows["estimate"]["ordering_share"] == pytest.approx(share, abs=0.02), strategy
        assert rows["estimate"]["repetition"] == pytest.approx(noise.mean(), rel=0.05), strategy
        assert abs(of_fixed - noise.mean()) > wrong  # repeats of the usual ordering alone say something else
    soft = known.query("strategy == 'balanced' and readout == 'soft' and cluster == 'group'").set_index("quantity")
    assert soft["estimate"]["ordering_share"] == 1
    unsplit = repeated.query("strategy == 'balanced' and readout == 'hard'")
    assert set(unsplit["quantity"]) == {"mean_sd", "variance", "shift", "rest"}
    assert set(unsplit["repetition_from"]) == {""}


def as_reads(reads, shown):
    """Reads with the given scores, items by orderings by repeats, as `scores.score_reads` returns them."""
    items, d, repeats = reads.shape
    table = simulated_reads(groups=items, candidates=1, n=shown.shape[1], strategies=["fixed"], reads=d * repeats)
    table["strategy"] = "repeated_rotations"
    table["ordering"] = [shown[read % d] for read in table["read_index"]]
    table["score"] = np.moveaxis(reads, 1, 2).ravel()
    return table


@pytest.mark.slow
def test_intervals_cover_what_was_planted():
    truth = {"repetition": 0.49, "shift": 0.09, "interaction": 0.25, "ordering": 0.34, "ordering_share": 0.34 / 0.83}
    covered = []
    for seed in range(120):
        table = as_reads(planted(seed, items=60), orderings.balanced(5))
        found = within_item_deviation.estimate(table, **OPTIONS)
        rows = found.query("cluster == 'item'").set_index("quantity")
        covered.append([rows["ci_low"][name] <= value <= rows["ci_high"][name] for name, value in truth.items()])
    assert (np.mean(covered, axis=0) > 0.9).all(), dict(zip(truth, np.mean(covered, axis=0), strict=True))


def test_two_levels_have_two_orderings_that_are_read_twice():
    rng = np.random.default_rng(1)
    crossed = rng.integers(1, 3, (30, 4, 1)).astype(float)
    table = as_reads(crossed, orderings.balanced(2)).assign(strategy="balanced")
    rows = within_item_deviation.estimate(table, **OPTIONS).query("cluster == 'item'")
    assert set(rows["repetition_from"]) == {"", repetition.REPEATS}
    rows = rows.set_index("quantity")["estimate"]
    # Canonical, reversed, reversed, canonical.
    pairs = np.stack([crossed[:, [0, 3], 0], crossed[:, [1, 2], 0]])
    error = pairs.var(axis=2, ddof=1).mean()
    assert rows["repetition"] == pytest.approx(error)
    assert rows["ordering"] == pytest.approx((pairs.mean(axis=2).var(axis=0, ddof=1).mean() - error / 2) / 2)
    assert rows["variance"] == pytest.approx(crossed[..., 0].var(axis=1, ddof=1).mean())


def test_what_reads_cannot_tell_apart_is_not_split():
    table = simulated_reads(groups=10, failing=0.1, preference=[1, 0, 0, 0, 0])
    found = within_item_deviation.estimate(table, **OPTIONS).query("cluster == 'item'")
    quantities = {strategy: set(rows["quantity"]) for strategy, rows in found.groupby("strategy")}
    spread = {"mean_sd", "variance"}
    assert quantities == {"fixed": spread, "random": spread, "balanced": spread | {"shift", "rest"}}
    values = next(b for b in blocks.blocks(table) if b.keys["strategy"] == "balanced").matrix("score")
    balanced = found[(found["strategy"] == "balanced") & (found["quantity"] == "shift")].iloc[0]
    assert balanced["n_items"] == (~np.isnan(values)).all(axis=1).sum() < 40


def test_the_mean_deviation_is_that_of_pandas():
    table = simulated_reads(groups=10, failing=0.1)
    found = within_item_deviation.estimate(table.sample(frac=1, random_state=2), **OPTIONS)
    plain = table.groupby(["strategy", "item_id"])["score"].std().groupby("strategy").mean()
    rows = found.query("quantity == 'mean_sd' and cluster == 'group'").set_index("strategy")["estimate"]
    np.testing.assert_allclose(rows[plain.index], plain.to_numpy(dtype=float))


def test_a_judge_that_repeats_itself_varies_by_ordering_alone():
    strategies = ["repeated_rotations"]
    table = simulated_reads(groups=20, noise=0, preference=[1.5, 0, 0, 0, 0], strategies=strategies)
    options = OPTIONS | {"temperatures": {"j": {"default": 0.0}}}  # else its repeats look like copies
    rows = within_item_deviation.estimate(table, **options).query("cluster == 'item'").set_index("quantity")["estimate"]
    assert rows["repetition"] == 0
    assert rows["ordering_share"] == 1
    still = simulated_reads(groups=20, noise=0, strategies=strategies)
    rows = within_item_deviation.estimate(still, **OPTIONS).set_index("quantity")["estimate"]
    assert np.isnan(rows["ordering_share"]).all()
    assert (rows["mean_sd"] == 0).all()
