"""Another run of the same judge on the same items: predictions against resampled reads, and against other runs."""

import numpy as np
import pytest
from factories import random_scores, score_table, simulated_reads
from scipy import special, stats

from rubric_order.extras.papers.rerun import estimate as rerun
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings

BALANCED = orderings.balanced(5)


def one(found, **values):
    for column, value in values.items():
        found = found[found[column] == value]
    assert len(found) == 1, found
    return found.iloc[0]


def counted(positions, n=5):
    return (positions[..., None] == np.arange(1, n + 1)).sum(axis=1).astype(float)


# Errors against resampled reads.


@pytest.fixture(scope="module")
def resampled():
    """Reads of 40 items, and 4000 times the same number drawn from them."""
    rng = np.random.default_rng(1)
    values = rng.integers(1, 6, (40, 8)).astype(float)
    values = np.clip(np.round((values + 3 * rng.integers(1, 6, (40, 1))) / 4), 1, 5)
    drawn = np.take_along_axis(values[None], rng.integers(0, 8, (4000, 40, 8)), axis=2)
    return values, drawn


def test_the_error_of_shares_and_v_is_that_of_resampled_reads(resampled):
    values, drawn = resampled
    shares = (drawn[..., None] == np.arange(1, 6)).mean(axis=(1, 2))
    unbiased = np.sqrt(8 / 7)  # eight draws from eight reads vary by 7/8 of what new reads would
    found = rerun.share_covariance(counted(values))
    assert np.sqrt(np.diag(found)) == pytest.approx(shares.std(axis=0) * unbiased, rel=0.05)
    v, error = rerun.v_error(counted(values))
    of_resamples = np.sqrt(5 / 4 * ((shares - 0.2) ** 2).sum(axis=1))
    assert error == pytest.approx(of_resamples.std() * unbiased, rel=0.06)
    assert v == pytest.approx(np.sqrt(5 / 4 * ((counted(values).mean(axis=0) / 8 - 0.2) ** 2).sum()))


def test_the_errors_of_r_and_of_the_deviation_are_those_of_resampled_reads(resampled):
    values, drawn = resampled
    human = values[:, :2].mean(axis=1) + np.random.default_rng(2).normal(size=40)
    means = drawn.mean(axis=2)
    r = [np.corrcoef(mean, human)[0, 1] for mean in means[:2000]]
    found, error = rerun.pearson_error(values, human)
    assert found == pytest.approx(np.corrcoef(values.mean(axis=1), human)[0, 1])
    assert error == pytest.approx(np.std(r) * np.sqrt(8 / 7), rel=0.08)
    found, error = rerun.sd_error(values)
    assert found == pytest.approx(values.std(axis=1, ddof=1).mean())
    assert error == pytest.approx(drawn.std(axis=2, ddof=1).mean(axis=1).std(), rel=0.15)


def test_a_judge_that_repeats_itself_has_no_error_and_one_read_none_that_is_known():
    human = np.array([1.0, 2, 4])
    assert rerun.pearson_error(np.repeat([[1.0], [3], [4]], 3, axis=1), human)[1] == 0
    assert np.isnan(rerun.pearson_error(np.array([[1.0], [3], [4]]), human)[1])
    assert np.isnan(rerun.share_covariance(np.eye(5))).all()
    assert np.isnan(rerun.pearson_error(np.ones((3, 2)), human)).all()


# Against other runs.


def runs(rng, *, items=60, worse=0.0, noise=1.0, reads=10):
    """Two runs of a judge that prefers the first position over the same items: scores, positions, and human scores."""
    quality = rng.normal(size=(items, 1, 1))
    shown = BALANCED[:reads]
    scores, positions = [], []
    for _ in range(2):
        worth = -np.abs(shown - 3 - 1.2 * quality) + 0.5 * (np.arange(5) == 0)
        chosen = (worth + noise * rng.gumbel(size=(items, *shown.shape))).argmax(axis=2)
        positions.append(chosen + 1)
        scores.append(np.take_along_axis(np.broadcast_to(shown, (items, *shown.shape)), chosen[..., None], 2)[..., 0])
    human = quality[:, 0, 0] + rng.normal(size=items)
    poor = scores[1].mean(axis=1) + worse * rng.normal(size=items)
    return [score.astype(float) for score in scores], positions, human, poor


def reach(error, confidence=0.95):
    return special.ndtri((1 + confidence) / 2) * np.sqrt(2) * error


def test_another_run_lies_in_the_range_as_often_as_it_says():
    rng, draws = np.random.default_rng(3), np.random.default_rng(30)
    inside = {"r": [], "rho": [], "share": [], "deviation": []}
    for _ in range(400):
        scores, positions, human, _ = runs(rng)
        (r, error), (other, _) = (rerun.pearson_error(score, human) for score in scores)
        inside["r"].append(abs(r - other) <= reach(error))
        if len(inside["rho"]) < 100:
            (rho, error), (other, _) = (rerun.spearman_error(score, human, rng=draws) for score in scores)
            inside["rho"].append(abs(rho - other) <= reach(error))
        first, second = (counted(position) for position in positions)
        error = np.sqrt(rerun.share_covariance(first)[0, 0])
        inside["share"].append(abs((first - second).sum(axis=0)[0]) / first.sum() <= reach(error))
        (sd, error), (other, _) = (rerun.sd_error(score) for score in scores)
        inside["deviation"].append(abs(sd - other) <= reach(error))
    assert np.mean(inside.pop("rho")) >= 0.88  # three standard errors below 95% of 100
    assert all(0.92 <= np.mean(values) <= 1 for values in inside.values()), {k: np.mean(v) for k, v in inside.items()}


def test_rho_is_that_of_scipy_and_its_error_that_of_new_reads():
    rng = np.random.default_rng(7)
    quality = rng.normal(size=60)
    human = quality + rng.normal(size=60)
    several = [np.round(quality[:, None] + rng.normal(size=(60, 8))) for _ in range(300)]
    several[0][0, :3] = np.nan
    found, error = rerun.spearman_error(several[0], human, rng=rng)
    assert found == pytest.approx(stats.spearmanr(np.nanmean(several[0], axis=1), human).statistic)
    rhos = [stats.spearmanr(values.mean(axis=1), human).statistic for values in several[1:]]
    assert error == pytest.approx(np.std(rhos), rel=0.2)
    assert np.isnan(rerun.spearman_error(several[0][:, 4:5], human, rng=rng)[1])


def test_another_run_reverses_rankings_as_often_as_the_range_says():
    rng = np.random.default_rng(8)
    places, inside = np.arange(160).reshape(40, 4), {name: [] for name in rerun.REVERSALS}
    for _ in range(60):
        worth = [rng.normal(size=(160, 1)) + 0.5 * rng.normal(size=(160, 1)) for _ in range(2)]
        runs = [[np.round(3 + each + rng.normal(size=(160, 10))) for each in worth] for _ in range(2)]
        one, other = (rerun.reversal_errors(*run, places, rng=rng) for run in runs)
        for name, kept in inside.items():
            kept.append(abs(one[name][0] - other[name][0]) <= reach(one[name][1]))
    assert all(0.9 <= np.mean(values) <= 1 for values in inside.values()), {k: np.mean(v) for k, v in inside.items()}


def of_reads(rng, worth, numbers):
    """Scores of the same items under two strategies, with so many reads of each."""
    return [np.round(3 + each + rng.normal(size=(160, k))) for each, k in zip(worth, numbers, strict=True)]


@pytest.mark.parametrize("numbers", [(3, 12), (12, 3), (6, 6)])
def test_errors_of_reversals_are_those_of_new_reads_whatever_the_numbers_of_reads(numbers):
    rng = np.random.default_rng(9)
    places = np.arange(160).reshape(40, 4)
    quality = rng.normal(size=(160, 1))
    worth = [quality + 0.5 * rng.normal(size=(160, 1)) for _ in range(2)]
    errors = [rerun.reversal_errors(*of_reads(rng, worth, numbers), places, rng=rng) for _ in range(20)]
    again = [
        rerun.rankings.compare_rankings(*(each.mean(axis=1)[places] for each in of_reads(rng, worth, numbers)))
        for _ in range(400)
    ]
    for name in rerun.REVERSALS:
        new = np.std([np.nanmean(getattr(each, name)) for each in again])
        assert np.mean([each[name][1] for each in errors]) == pytest.approx(new, rel=0.15)


@pytest.mark.parametrize("numbers", [(1, 10), (10, 1), (1, 1)])
def test_errors_of_reversals_are_not_known_where_a_side_has_one_read(numbers):
    rng = np.random.default_rng(10)
    found = rerun.reversal_errors(
        *of_reads(rng, rng.normal(size=(2, 160, 1)), numbers), np.arange(160).reshape(40, 4), rng=rng
    )
    for estimate, error in found.values():
        assert np.isfinite(estimate)
        assert np.isnan(error)


def test_a_worse_judge_is_within_what_other_items_show_and_outside_of_what_another_run_does():
    rng = np.random.default_rng(4)
    of_items, of_reads, gap = [], [], []
    for _ in range(150):
        scores, _, human, poor = runs(rng, worse=0.45, noise=0.4)
        r, error = rerun.pearson_error(scores[0], human)
        mean, other = scores[0].mean(axis=1), np.corrcoef(poor, human)[0, 1]
        weights = resampling.bootstrap_weights(60, 200, rng=rng)
        drawn = [np.corrcoef(np.repeat(mean, w), np.repeat(human, w))[0, 1] for w in weights]
        low, high = resampling.percentile_interval(np.array(drawn), 0.95)
        of_items.append(low <= other <= high)
        of_reads.append(abs(other - r) <= reach(error))
        gap.append(r - other)
    assert np.mean(gap) > 0.04
    assert np.mean(of_items) > 0.8
    assert np.mean(of_reads) < np.mean(of_items) - 0.3


# The table.


def test_the_table_has_every_quantity_of_a_block_and_differences_of_strategies():
    scores = simulated_reads(groups=10, strategies=("balanced", "fixed"), soft=True)
    found = rerun.estimate(scores, confidence=0.95, seed=1)
    balanced = scores[scores["strategy"] == "balanced"]
    values = balanced["score"].to_numpy(dtype=float).reshape(40, 10)
    human = balanced.groupby("item_id")["human_score"].first().to_numpy()
    where = {"strategy": "balanced", "baseline": "", "readout": "hard"}
    r, error = rerun.pearson_error(values, human)
    row = one(found, quantity="pearson", **where)
    assert row[["estimate", "error"]].tolist() == pytest.approx([r, error])
    assert row[["low", "high"]].tolist() == pytest.approx([r - reach(error), r + reach(error)])
    first = one(found, quantity="share", position=1, **where)
    assert first["estimate"] == pytest.approx((balanced["position"] == 1).mean())
    difference = one(found, quantity="pearson", baseline="fixed", readout="hard")
    fixed = one(found, quantity="pearson", **where | {"strategy": "fixed"})
    assert difference["estimate"] == pytest.approx(r - fixed["estimate"])
    assert difference["error"] == pytest.approx(np.hypot(error, fixed["error"]))
    assert set(found["readout"]) == {"hard", "soft"}
    assert (found.loc[found["quantity"] == "cramers_v", "low"] >= 0).all()


def test_failed_reads_and_items_without_human_scores_are_left_out():
    found = rerun.estimate(random_scores(1, failing=0.3), confidence=0.95, seed=1)
    assert found.query("quantity == 'pearson'")[["estimate", "error"]].notna().all(axis=None)
    unrated = rerun.estimate(random_scores(1, rated=False), confidence=0.95, seed=1)
    assert "pearson" not in set(unrated["quantity"])
    silent = rerun.estimate(score_table([[None, None]], [3.0], soft=False), confidence=0.95, seed=1)
    assert silent.empty
    assert silent.dtypes.equals(found.dtypes)
