"""Another run of single orderings: predictions by hand, against new reads, and against other runs."""

import numpy as np
import pandas as pd
import pytest
from factories import criteria_table, draw_criteria, simulated_reads

from rubric_order.analyses.agreement.canonical_rank import estimate as canonical_rank
from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.analyses.position.bias_cost import estimate as bias_cost
from rubric_order.extras.papers.methods import reruns
from rubric_order.extras.papers.rerun import estimate as rerun
from rubric_order.extras.papers.rerun.estimate import share_covariance
from rubric_order.methods.position import panels, shared_orderings
from rubric_order.prompts import orderings

OPTIONS = {"resamples": 3, "confidence": 0.95, "seed": 1}
SHOWN = orderings.balanced(5)


def test_repeats_of_an_ordering_say_how_reads_vary():
    at = np.array([[0, 0, 1, 1], [0, 0, 1, -1], [0, -1, 1, -1]])
    scores = np.array([[1.0, 3, 2, 2], [4, 4, 5, np.nan], [1, np.nan, 2, np.nan]])
    # Cells: variance 2 and 0 of the first item; 0 of the second, whose other cell takes the other item's under that
    # ordering, 0; none of the third, which takes the means of both orderings, (2 + 0) / 2 and 0.
    expected = [[2 / 2, 0], [0, 0], [1, 0]]
    assert reruns.variances(scores, at, 2) == pytest.approx(np.array(expected))
    # An ordering that is never repeated takes the mean of all repeats.
    once = np.array([[0, 0, 1], [0, 0, 1]])
    found = reruns.variances(np.array([[1.0, 3, 2], [4, 4, 5]]), once, 2)
    assert found == pytest.approx(np.array([[1, 1], [0, 1]]))


def test_without_repeats_what_all_items_share_is_no_chance_of_reads():
    at = np.broadcast_to(np.arange(3), (4, 3))
    level, shift = np.arange(4.0)[:, None], np.array([0.0, 2, -1])
    assert reruns.variances(level + shift, at, 3) == pytest.approx(0)
    rng = np.random.default_rng(1)
    many = np.broadcast_to(np.arange(10), (500, 10))
    noisy = reruns.variances(rng.normal(size=(500, 1)) + rng.normal(0, 0.7, (500, 10)), many, 10)
    assert noisy.mean() == pytest.approx(0.49, rel=0.05)
    assert np.isnan(reruns.variances(np.ones((1, 3)), at[:1], 3)).all()


def test_without_repeats_an_ordering_has_the_variance_of_its_own_reads_but_for_a_share_of_the_others():
    # Scores beside items and orderings: 1, -1 in the corners of two items and two orderings of three, so that
    # 3 * 2 / (2 * 1) times their squares is 3, 3 and 0.
    at = np.broadcast_to(np.arange(3), (2, 3))
    scores = np.array([[1.0, -1, 0], [-1, 1, 0]])
    assert reruns.variances(scores, at, 3) == pytest.approx(np.array([[3.0, 3, 0]] * 2))
    # Two orderings are one number: (1 - 1/2) of one, and 1/2 of the other.
    of_two = reruns.variances(np.array([[3.0, 0], [0, 0], [0, 0]]), at[[0, 0, 0], :2], 2)
    assert of_two[:, 0] == pytest.approx(of_two[:, 1])


@pytest.mark.parametrize("repeats", [1, 2])
def test_the_error_of_one_noisy_ordering_among_quiet_ones_is_its_own(repeats):
    rng, m, count = np.random.default_rng(9), 200, 10
    quality = rng.normal(size=(m, 1))
    human, sd = quality[:, 0] + 0.7 * rng.normal(size=m), np.where(np.arange(count) == 0, 2.0, 0.3)
    at = np.broadcast_to(np.tile(np.arange(count), repeats), (m, count * repeats))
    runs = [quality + sd[at] * rng.normal(size=at.shape) for _ in range(150)]
    values = [run.reshape(m, repeats, count).mean(axis=1) for run in runs]
    r = np.array([[np.corrcoef(column, human)[0, 1] for column in each.T] for each in values])
    pairs = zip(values, runs, strict=True)
    error = np.mean([reruns.correlation_errors(v, human, reruns.variances(s, at, count)) for v, s in pairs], axis=0)
    ratio = error / r.std(axis=0)
    assert ratio[0] == pytest.approx(1, abs=0.2)
    # Without repeats quiet ones take a tenth of their variance from the others.
    mixed = (0.9 * 0.09 + 0.1 * (4 + 8 * 0.09) / 9) / 0.09
    assert ratio[1:].mean() == pytest.approx(np.sqrt(mixed) if repeats == 1 else 1, abs=0.15)


@pytest.fixture(scope="module")
def judge():
    """Chances of each score of 60 items under five orderings, and human scores."""
    rng = np.random.default_rng(2)
    quality = rng.normal(size=60)
    wanted = np.clip(3 + quality[:, None] + np.linspace(-0.4, 0.4, 5) + 0.3 * rng.normal(size=(60, 5)), 1.2, 4.8)
    return wanted, quality + 0.7 * rng.normal(size=60)


def run(judge, rng, repeats):
    """Reads of a run, shape (60, 5 * repeats), with the number of the ordering of each."""
    at = np.tile(np.arange(5), repeats)
    return np.clip(np.round(judge[0][:, at] + rng.normal(0, 0.7, (60, len(at)))), 1, 5), np.broadcast_to(
        at, (60, len(at))
    )


def means(scores, repeats):
    return scores.reshape(60, repeats, 5).mean(axis=1)


@pytest.mark.parametrize("repeats", [1, 2])
def test_errors_of_correlations_are_those_of_new_reads(judge, repeats):
    rng, human = np.random.default_rng(3), judge[1]
    values = [run(judge, rng, repeats) for _ in range(400)]
    r = np.array([[np.corrcoef(column, human)[0, 1] for column in means(scores, repeats).T] for scores, _ in values])
    errors = [
        reruns.correlation_errors(means(scores, repeats), human, reruns.variances(scores, at, 5))
        for scores, at in values[:30]
    ]
    ratio = np.mean(errors, axis=0) / r.std(axis=0)
    if repeats > 1:
        assert ratio == pytest.approx(1, abs=0.12)
    else:  # what an ordering does to single items counts too: a variance of .09 beside some .57 of a read
        assert 1 < ratio.mean() < 1.2
        assert (ratio > 0.9).all()


def test_the_rank_of_another_run_is_in_the_range_as_often_as_it_says(judge):
    rng, human, inside = np.random.default_rng(4), judge[1], []
    for _ in range(150):
        (one, at), (other, _) = run(judge, rng, 2), run(judge, rng, 2)
        r, again = ([np.corrcoef(column, human)[0, 1] for column in means(each, 2).T] for each in (one, other))
        error = reruns.correlation_errors(means(one, 2), human, reruns.variances(one, at, 5))
        found = reruns.ranks(np.array(r), error, confidence=0.9, rng=rng)
        ranks = np.array([shared_orderings.rank_of(np.array(again), place) for place in range(5)])
        inside.append((found["low"] <= ranks) & (ranks <= found["high"]))
        assert (found["estimate"] == np.argsort(np.argsort(-np.array(r))) + 1).all()
    assert 0.9 <= np.mean(inside) < 1


def test_ranks_that_cannot_change_have_no_range_and_unknown_errors_none():
    rng = np.random.default_rng(5)
    sure = reruns.ranks(np.array([0.9, 0.1, 0.5]), np.full(3, 1e-4), confidence=0.95, rng=rng)
    assert sure["estimate"].tolist() == sure["low"].tolist() == sure["high"].tolist() == [1, 3, 2]
    assert sure["error"].tolist() == [0, 0, 0]
    unsure = reruns.ranks(np.array([0.9, 0.1]), np.array([0.1, np.nan]), confidence=0.95, rng=rng)
    assert unsure["estimate"].tolist() == [1, 2]
    assert np.isnan([unsure["low"], unsure["high"], unsure["error"]]).all()


def test_the_error_of_a_cost_is_that_of_new_reads():
    rng = np.random.default_rng(6)
    chances = rng.dirichlet(np.outer([8, 5, 3, 2, 1], [3, 1, 1, 1, 2]).ravel() / 3, size=40)
    runs = rng.multinomial(10, np.broadcast_to(chances, (600, 40, 25))).astype(float)

    def costs(tables):
        return shared_orderings.bias_cost(tables / tables.sum(axis=-1, keepdims=True), SHOWN)

    tables = runs.sum(axis=1).reshape(-1, 5, 5)
    found = [
        reruns.cost_errors(table, share_covariance(each) * each.sum() ** 2, SHOWN)
        for each, table in zip(runs[:20], tables, strict=False)
    ]
    ratio = np.mean(found, axis=0) / costs(tables).std(axis=0)
    assert ratio.mean() == pytest.approx(1.05, abs=0.1)
    assert ((ratio > 0.88) & (ratio < 1.35)).all()  # where a share is near 1/n, rather too large
    never = tables[0].copy()
    never[0] = 0
    assert np.isfinite(reruns.cost_errors(never, np.eye(25), SHOWN)).all()


def test_the_rows_are_those_of_canonical_rank_and_bias_cost():
    parts = [
        simulated_reads(groups=8, strategies=("balanced", "fixed"), soft=True, seed=seed).assign(dataset=name)
        for seed, name in enumerate("ab")
    ]
    ours = rerun.estimate(parts, confidence=0.95, seed=1)
    table = pd.concat(parts)
    names = ["dataset", "strategy", "readout", "quantity"]
    rank = canonical_rank.estimate(table, **OPTIONS).query("cluster == 'group' and quantity != 'rank_share'")
    both = rank.merge(ours[ours["quantity"].isin(canonical_rank.QUANTITIES)], on=names, suffixes=("", "_ours"))
    assert len(both) == len(rank) == 16
    assert both["estimate_ours"].to_numpy() == pytest.approx(both["estimate"].to_numpy())
    cost = bias_cost.estimate(table, **OPTIONS, splits=1).query("cluster == 'group'")
    cost = cost[
        cost["quantity"].isin(["cost", "pearson_rank"]) & ~(cost.eval("quantity == 'cost' and readout == 'soft'"))
    ]
    both = cost.merge(ours, on=[*names, "ordering"], suffixes=("", "_ours"))
    assert set(both["dataset"]) == {"a", "b", "all"}
    assert len(both) == len(cost) == 3 * 30
    assert both["estimate_ours"].to_numpy() == pytest.approx(both["estimate"].to_numpy())
    assert (both["low"] <= both["estimate"]).all()
    assert (both["estimate"] <= both["high"]).all()


# Gaps between positions of criteria.


def gaps_of(values, shown):
    panel = panels.panel(criteria_table(values, shown), "hard")
    shift = panels.position_effects(panels.cells(panel.values, panel.positions))[1]
    gap = criterion_order.gaps(shift)
    return {"mean_gap": gap.mean(), "max_gap": gap.max()}, criterion_order.rerun_errors(panel, shift)


def test_another_run_has_a_gap_in_the_range_as_often_as_it_says():
    rng = np.random.default_rng(7)
    truth, shown = draw_criteria(30, 4, rng=rng, noise=0, rounded=False, position=[0.4, 0, 0, -0.2])
    runs = []
    for _ in range(120):
        values = np.clip(np.round(truth + 0.5 * rng.normal(size=truth.shape)), 1, 5)
        values[rng.random(values.shape) < 0.05] = np.nan
        runs.append(gaps_of(values, shown))
    for name in ("mean_gap", "max_gap"):
        gap, error = np.array([found[name] for found, _ in runs]), np.array([errors[name] for _, errors in runs])
        assert error.mean() > 0.95 * gap.std()  # the best and the worst of several vary less than two that are fixed
        assert error.mean() < (1.5 if name == "mean_gap" else 2) * gap.std()
        inside = np.abs(gap[:, None] - gap[None]) <= 1.96 * np.sqrt(2) * error[:, None]
        assert inside[~np.eye(len(gap), dtype=bool)].mean() > 0.93
    found = criterion_order.estimate(criteria_table(values, shown), **OPTIONS).set_index("quantity")
    gap, error = runs[-1]
    row = found.loc["max_gap"]
    assert row["estimate"] == pytest.approx(gap["max_gap"])
    assert row["rerun_high"] - row["estimate"] == pytest.approx(1.96 * np.sqrt(2) * error["max_gap"], rel=1e-3)
    assert found["rerun_high"].notna().sum() == 2


def test_a_judge_that_repeats_itself_has_gaps_without_error_and_one_read_a_text_none_that_is_known():
    values, shown = draw_criteria(10, 3, rng=np.random.default_rng(8), noise=0, spread=0, position=[1.0, 0, 0])
    gap, errors = gaps_of(values, shown)
    assert gap["max_gap"] == pytest.approx(1)
    assert errors == {"mean_gap": pytest.approx(0, abs=1e-9), "max_gap": pytest.approx(0, abs=1e-9)}
    other = np.array([0, 1, -1])[:, None, None]
    table = criteria_table(values[:3, :1] + other, np.broadcast_to(shown[:1], (3, 1, 3)))
    found = criterion_order.estimate(table, **OPTIONS)
    assert found["rerun_high"].isna().all()
