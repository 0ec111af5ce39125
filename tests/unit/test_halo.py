"""Halo: correlations between criteria inside one prompt, judged alone, and of people."""

import math

import numpy as np
import pandas as pd
import pytest
from factories import ABOUT, CRITERIA, criteria_table, draw_criteria
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rubric_order.analyses.criteria.halo import estimate as halo

OPTIONS = {"confidence": 0.95}


def separate(values, *, prompts=None, **keys):
    """Reads of a study that judges one criterion at a time. Shape (U, R, C); no two have one prompt by default."""
    text, read, criterion = (axis.ravel() for axis in np.indices(values.shape))
    return pd.DataFrame(
        ABOUT
        | {"study": "alone", "strategy": "balanced", "n": 5}
        | keys
        | {
            "item_id": [f"t{number:04d}-{CRITERIA[name]}" for number, name in zip(text, criterion, strict=True)],
            "read_index": read,
            "ordering": [[number] for number in (read if prompts is None else np.asarray(prompts)[read])],
            "score": pd.array([pd.NA if math.isnan(x) else int(x) for x in values.ravel()], dtype="Int8"),
            "expected_score": np.nan,
        }
    )


def different_prompts(reads):
    """Reads inside one prompt, no two of a text with the same one."""
    return reads.assign(levels=[[number] for number in reads["read_index"]])


def estimate(reads, alone=(), **options):
    found = halo.estimate(reads, list(alone), **{**OPTIONS, **options})
    return found.set_index(["basis", "quantity"])


def plain_mean(values, weights):
    """Mean over pairs of np.corrcoef, each text repeated as often as it counts."""
    rows = np.repeat(values, weights, axis=0)
    found = []
    for one in range(values.shape[1]):
        for other in range(one + 1, values.shape[1]):
            pair = rows[:, [one, other]]
            pair = pair[~np.isnan(pair).any(axis=1)]
            if len(pair) > 1 and (np.ptp(pair, axis=0) > 0).all():
                found.append(np.corrcoef(pair.T)[0, 1])
    return np.mean(found) if found else math.nan


@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(2, 9))
def test_mean_correlation_agrees_with_a_plain_version(seed, n_criteria, n_texts):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 6, (n_texts, n_criteria)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    weights = rng.multinomial(n_texts, np.full(n_texts, 1 / n_texts), size=3)
    found = halo.mean_correlation(values, weights.astype(float))
    expected = [plain_mean(values, row) for row in weights]
    assert found.tolist() == pytest.approx(expected, abs=1e-7, nan_ok=True)
    stacked = halo.mean_correlation(np.stack([values, values[:, ::-1]]), weights.astype(float))
    assert stacked[:, 0].tolist() == pytest.approx(found.tolist(), nan_ok=True)
    assert stacked[:, 1].tolist() == pytest.approx(found.tolist(), abs=1e-7, nan_ok=True)


def test_criteria_that_always_agree_correlate_with_1_and_constants_not_at_all():
    values = np.array([[1, 1, 3], [2, 2, 3], [5, 5, 3.0]])
    assert halo.mean_correlation(values, np.ones((1, 3))) == pytest.approx([1])
    assert np.isnan(halo.mean_correlation(values[:, 1:], np.ones((1, 3)))).all()


def test_single_reads_and_means_of_a_hand_worked_case():
    # Read 1: both criteria score 1, 3, 5 (r = 1). Read 2: 1, 3, 5 against 5, 3, 1 (r = -1). Means: 1 3 5 and 3 3 3.
    values = np.array([[[1, 1], [1, 5]], [[3, 3], [3, 3]], [[5, 5], [5, 1]]], dtype=float)
    found = estimate(criteria_table(values, [[1, 2], [2, 1]], human=[[1, 2], [3, 3], [5, 1]]))["estimate"]
    assert found["read", "inside"] == pytest.approx(0)
    assert math.isnan(found["mean", "inside"])
    assert found["mean", "human"] == found["read", "human"] == pytest.approx(np.corrcoef([1, 3, 5], [2, 3, 1])[0, 1])


def planted(seed, *, shared, failing=0.0, n_texts=200):
    """Scores whose reads share a halo inside one prompt, and the same judged alone without it; humans."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(n_texts, 1, 3))
    impression = rng.normal(size=(n_texts, 1, 1))

    def scores(common):
        noisy = 3 + own + common + 0.3 * rng.normal(size=(n_texts, 6, 3))
        values = np.clip(np.round(noisy), 1, 5)
        values[rng.random(values.shape) < failing] = np.nan
        return values

    human = np.clip(np.round(3 + own[:, 0] + 0.3 * rng.normal(size=(n_texts, 3))), 1, 5)
    return scores(shared * impression), scores(0.0), human


@pytest.mark.parametrize("failing", [0.0, 0.2])
def test_a_planted_halo_is_found_inside_the_prompt_and_nowhere_else(failing):
    inside, apart, human = planted(1, shared=1.0, failing=failing)
    _, shown = draw_criteria(1, 3, rng=np.random.default_rng(0))
    found = estimate(criteria_table(inside, shown, human=human), [separate(apart)])
    for basis in halo.BASES:
        assert found.loc[(basis, "inside"), "estimate"] > 0.3
        assert abs(found.loc[(basis, "alone"), "estimate"]) < 0.15
        assert found.loc[(basis, "inside_minus_alone"), "ci_low"] > 0.2
        people = found.loc[(basis, "inside_minus_human")]
        assert people["estimate"] > 0.2
        assert np.isnan(people["ci_low"])
        assert people["flag"] == "not identified"
    if not failing:
        row = found["estimate"]["mean"]
        assert row["inside_minus_human"] == pytest.approx(row["inside"] - row["human"])


def test_one_read_a_text_shows_no_halo():
    inside, apart, human = planted(1, shared=1.0)
    reads = criteria_table(inside[:, :1], [[1, 2, 3]], human=human)
    found = estimate(reads, [separate(apart[:, :1])]).loc[("mean", "inside_minus_alone")]
    assert np.isnan(found["estimate"])
    assert found["flag"] == "not identified"


@pytest.mark.parametrize("basis", halo.BASES)
def test_repeats_of_a_prompt_count_as_one_read(basis):
    # What each of two prompts adds is in all of its three reads, alone; in one prompt, orderings 1 and 4 are the same.
    inside, apart, human = planted(8, shared=0.3, n_texts=60)
    shown = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 2, 3], [2, 1, 3], [3, 2, 1]])
    repeated = np.stack([apart[:, 0], apart[:, 1]] * 3, axis=1)
    found = estimate(criteria_table(inside, shown, human=human), [separate(repeated, prompts=[0, 1] * 3)])
    inside[:, 0] = (inside[:, 0] + inside[:, 3]) / 2
    one_each = np.delete(inside, 3, axis=1)
    soft = criteria_table(np.floor(one_each), np.delete(shown, 3, axis=0), human=human, soft=one_each)
    alone = separate(apart[:, :2]).assign(expected_score=apart[:, :2].ravel())
    expected = halo.estimate(soft, [alone], **OPTIONS).query("readout == 'soft'").set_index(["basis", "quantity"])
    columns = ["estimate", "ci_low", "ci_high", "p", "n_reads"]
    row = found.loc[(basis, "inside_minus_alone"), columns].astype(float)
    assert row.tolist() == pytest.approx(expected.loc[(basis, "inside_minus_alone"), columns].astype(float).tolist())
    assert row["n_reads"] == (2 if basis == "mean" else 1)


@pytest.mark.parametrize("basis", halo.BASES)
def test_reads_of_one_prompt_do_not_show_what_prompts_add(basis):
    inside, apart, human = planted(1, shared=1.0)
    reads = different_prompts(criteria_table(inside, np.tile([1, 2, 3], (6, 1)), human=human))
    assert estimate(reads, [separate(apart)]).loc[(basis, "inside_minus_alone"), "p"] < 1e-6
    one = estimate(reads, [separate(apart, prompts=[0] * 6)]).loc[(basis, "inside_minus_alone")]
    other = estimate(reads.assign(levels=[[]] * len(reads)), [separate(apart)]).loc[(basis, "inside_minus_alone")]
    for row in (one, other):
        assert row["flag"] == "not identified"
        assert row[["estimate", "ci_low", "ci_high", "p"]].isna().all()


@pytest.mark.parametrize("basis", halo.BASES)
def test_two_levels_show_no_halo_since_their_correlation_depends_on_how_sharp_a_judge_is(basis):
    rng = np.random.default_rng(4)
    opinion = 0.7 * (rng.normal(size=(400, 1, 1)) + rng.normal(size=(400, 1, 3)))
    _, shown = draw_criteria(1, 3, rng=np.random.default_rng(0))
    inside, apart = (1.0 + (opinion + noise * rng.normal(size=(400, 6, 3)) > 0.8) for noise in (1.2, 0.2))
    row = estimate(criteria_table(inside, shown, n=2), [separate(apart, n=2)]).loc[(basis, "inside_minus_alone")]
    assert row["flag"] == "not identified"
    assert row[["ci_low", "ci_high", "p"]].isna().all()


def by_pair(reads):
    """Correlation of each pair of criteria, and the factor by which noise of the means lowers it."""
    covariance = np.cov(reads.mean(axis=1).T)
    variance = np.diag(covariance)
    share = 1 - reads.var(axis=1, ddof=1).mean(axis=0) / reads.shape[1] / variance
    pair = np.triu_indices(len(share), 1)
    return (covariance / np.sqrt(np.outer(variance, variance)))[pair], np.sqrt(np.outer(share, share))[pair]


def with_noise_of_both(inside, apart):
    """Fisher's z of 95% of both mean correlations, each lowered by the noise of the other, and the mean factor."""
    (one, of_one), (other, of_other) = by_pair(inside), by_pair(apart)
    return np.arctanh([0.95 * (one * of_other).mean(), 0.95 * (other * of_one).mean()]), (of_one * of_other).mean()


def mean_r(values):
    return np.corrcoef(values.T)[np.triu_indices(values.shape[1], 1)].mean()


def test_intervals_and_p_are_those_of_leaving_out_each_group_in_a_loop():
    inside, apart, human = planted(5, shared=0.3, n_texts=24)
    _, shown = draw_criteria(1, 3, rng=np.random.default_rng(0))
    group = np.arange(24) // 2
    found = estimate(
        criteria_table(inside, shown, human=human, groups=[f"g{number:02d}" for number in group]), [separate(apart)]
    )
    means = [inside.mean(axis=1), apart.mean(axis=1), human]
    left_out = np.array([[mean_r(each[group != out]) for each in means] for out in range(12)])
    t = stats.t.ppf(0.975, 11)
    row = found.loc[("mean", "inside_minus_alone")]
    z, factor = with_noise_of_both(inside, apart)
    others = np.array([with_noise_of_both(inside[group != out], apart[group != out])[0] for out in range(12)])
    deviations = np.sqrt(11 / 12) * (others - z)
    error = np.sqrt((deviations**2).sum(axis=0))
    shared = deviations[:, 0] @ deviations[:, 1] / error.prod()

    def end(quantile):
        one, other = np.abs(np.tanh(z + quantile * error * [-1, 1]) - np.tanh(z))
        return np.sqrt(one**2 + other**2 - 2 * shared * one * other)

    difference = -np.diff(np.tanh(z))[0]
    expected = np.array([difference, difference - end(t), difference + end(-t)]) / 0.95 / factor
    assert row[["estimate", "ci_low", "ci_high"]].tolist() == pytest.approx(expected.tolist())
    assert end(stats.t.isf(row["p"] / 2, 11)) == pytest.approx(abs(difference))
    assert row["n_groups"] == 12
    assert found.loc[("mean", "inside_minus_human"), "estimate"] == pytest.approx(mean_r(means[0]) - mean_r(means[2]))
    z = np.arctanh(left_out[:, 0])
    width = t * np.sqrt(11 / 12 * ((z - np.arctanh(mean_r(means[0]))) ** 2).sum())
    ends = np.tanh(np.arctanh(mean_r(means[0])) + np.array([-1, 1]) * width)
    assert found.loc[("mean", "inside"), ["ci_low", "ci_high"]].tolist() == pytest.approx(ends.tolist())


def test_means_inside_and_alone_are_over_as_many_reads():
    # One opinion is behind all criteria, in one prompt and alone alike: there is no halo. Twelve reads inside have
    # less noise than two alone, and their means correlate more.
    rng = np.random.default_rng(4)
    opinion = rng.normal(size=(400, 1, 1))

    def scores(reads):
        return np.clip(np.round(3 + opinion + 1.5 * rng.normal(size=(400, reads, 3))), 1, 5)

    inside, apart = scores(12), scores(2)
    shown = np.tile([[1, 2, 3], [2, 3, 1], [3, 1, 2]], (4, 1))
    found = estimate(different_prompts(criteria_table(inside, shown)), [separate(apart)])
    means = inside.mean(axis=1), apart.mean(axis=1)
    unequal = [np.corrcoef(each.T)[np.triu_indices(3, 1)].mean() for each in means]
    assert unequal[0] - unequal[1] > 0.25
    row = found.loc[("mean", "inside_minus_alone")]
    assert row["ci_low"] < 0 < row["ci_high"]
    assert row["n_reads"] == 2
    assert found.loc[("read", "inside"), "n_reads"] == 1
    expected = np.corrcoef(inside[:, [0, 6]].mean(axis=1).T)[np.triu_indices(3, 1)].mean()
    assert found.loc[("mean", "inside"), "estimate"] == pytest.approx(expected)


@pytest.mark.slow
def test_without_a_halo_the_intervals_of_the_difference_hold_0():
    _, shown = draw_criteria(1, 3, rng=np.random.default_rng(0))
    covered = []
    for seed in range(40):
        inside, apart, human = planted(seed, shared=0.0, n_texts=80)
        found = estimate(criteria_table(inside, shown, human=human), [separate(apart)])
        rows = found.loc[[("mean", "inside_minus_alone"), ("read", "inside_minus_alone")]]
        covered += ((rows["ci_low"] <= 0) & (rows["ci_high"] >= 0)).tolist()
    assert np.mean(covered) > 0.88


def test_alone_is_taken_from_the_same_judge_dataset_profile_scale_and_strategy():
    inside, apart, human = planted(2, shared=1.0, n_texts=20)
    _, shown = draw_criteria(1, 3, rng=np.random.default_rng(0))
    reads = criteria_table(inside, shown, human=human)
    for keys in ({"judge": "x"}, {"dataset": "x"}, {"profile": "x"}, {"strategy": "fixed"}, {"n": 9}):
        assert ("mean", "alone") not in estimate(reads, [separate(apart, **keys)]).index
    williams = criteria_table(inside, shown, human=human, strategy="balanced_williams")
    expected = estimate(reads, [separate(apart)])["estimate"]["mean", "alone"]
    assert estimate(williams, [separate(apart)])["estimate"]["mean", "alone"] == pytest.approx(expected)
    # Of a profile that was not judged alone, the default one's.
    own = reads.assign(profile="criteria")
    assert estimate(own, [separate(apart)])["estimate"]["mean", "alone"] == pytest.approx(expected)
    theirs = [separate(inside), separate(apart, profile="criteria")]
    assert estimate(own, theirs)["estimate"]["mean", "alone"] == pytest.approx(expected)
    # Of two studies that have it, the first.
    both = [separate(apart), separate(inside, study="later")]
    assert estimate(reads, both)["estimate"]["mean", "alone"] == pytest.approx(expected)


def test_one_group_has_no_interval():
    inside, _, human = planted(3, shared=1.0, n_texts=10)
    _, shown = draw_criteria(1, 3, rng=np.random.default_rng(0))
    reads = criteria_table(inside, shown, human=human, groups=["g"] * 10)
    found = halo.estimate(reads, [], **OPTIONS)
    assert found["ci_low"].isna().all()
    assert found["estimate"].notna().all()


def test_groups_that_were_not_judged_alone_do_not_count_for_the_difference():
    inside, apart, human = planted(6, shared=0.3, n_texts=96)
    _, shown = draw_criteria(1, 3, rng=np.random.default_rng(0))
    found = estimate(criteria_table(inside, shown, human=human), [separate(apart[:10])])
    ten = estimate(criteria_table(inside[:10], shown, human=human[:10]), [separate(apart[:10])])
    columns = ["estimate", "ci_low", "ci_high", "p", "n_groups"]
    for basis in halo.BASES:
        for quantity in ("alone", "inside_minus_alone"):
            row = found.loc[(basis, quantity), columns].astype(float)
            expected = ten.loc[(basis, quantity), columns].astype(float)
            assert row.tolist() == pytest.approx(expected.tolist(), nan_ok=True)
            assert row["n_groups"] == 10
        assert found.loc[(basis, "inside"), "n_groups"] == found.loc[(basis, "human"), "n_groups"] == 96


@pytest.mark.parametrize("basis", halo.BASES)
def test_a_difference_is_over_the_pairs_that_vary_on_both_sides(basis):
    inside, apart, human = planted(7, shared=1.0, n_texts=60)
    apart[:, :, 2] = 3
    _, shown = draw_criteria(1, 3, rng=np.random.default_rng(0))
    found = estimate(criteria_table(inside, shown, human=human), [separate(apart)])
    pair = different_prompts(criteria_table(inside[:, :, :2], np.tile([[1, 2], [2, 1]], (3, 1))))
    two = estimate(pair, [separate(apart[:, :, :2])])
    columns = ["estimate", "ci_low", "ci_high", "p"]
    row, expected = (each.loc[(basis, "inside_minus_alone"), columns] for each in (found, two))
    assert row.tolist() == pytest.approx(expected.tolist())


def test_the_item_of_a_text_is_that_of_its_first_read_with_one():
    values, shown = draw_criteria(3, 2, rng=np.random.default_rng(1))
    reads = criteria_table(values, shown)
    panel = halo.panels.panel(reads, "hard")
    expected = halo._item_ids(reads, panel)
    last = reads["read_index"] == reads["read_index"].max()
    for other in (None, "another"):
        changed = reads.assign(item_id=reads["item_id"].mask(last, other))
        assert halo._item_ids(changed, panel).tolist() == expected.tolist()
