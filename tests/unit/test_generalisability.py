"""Variance components of reads: against the analysis of variance, what was planted, and subsets of the reads."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from factories import score_table, simulated_reads

from rubric_order.analyses.agreement.generalisability import estimate as generalisability
from rubric_order.analyses.agreement.generalisability import figure
from rubric_order.analyses.agreement.generalisability import table as tables
from rubric_order.base.labels import Labels
from rubric_order.figures import view
from rubric_order.methods.agreement import subsets
from rubric_order.methods.uncertainty import resampling
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

SETTINGS = {"confidence": 0.95, "seed": 1}
TRUE = {"item": 1.0, "shift": 0.09, "interaction": 0.25, "repetition": 0.49}


def planted(rng, items=80, d=10, repeats=1, groups=None):
    """Scores of items under orderings, means over repeats; interactions in part shared by groups of items."""
    unit = np.arange(items) if groups is None else np.repeat(np.arange(groups), items // groups)
    own = np.sqrt(TRUE["interaction"])
    if groups is not None:
        shared = rng.normal(size=(groups, d))[unit] * own * np.sqrt(0.5)
        interaction = shared + own * np.sqrt(0.5) * rng.normal(size=(items, d))
    else:
        interaction = own * rng.normal(size=(items, d))
    true = rng.normal(size=(items, 1)) + np.sqrt(TRUE["shift"]) * rng.normal(size=d) + interaction
    noise = np.sqrt(TRUE["repetition"]) * rng.normal(size=(repeats, items, d))
    return true + noise.mean(axis=0), unit


def found_in(values, unit, repeats=1, noise=TRUE["repetition"]):
    moments = generalisability.unit_moments(values, np.full(len(values), noise), unit)
    return generalisability.components(moments.sum(axis=0), repeats)


def test_components_are_those_of_the_analysis_of_variance():
    rng = np.random.default_rng(1)
    values, unit = planted(rng, items=12, d=4)
    found = found_in(values, unit)
    grand, rows, columns = values.mean(), values.mean(axis=1), values.mean(axis=0)
    of_items = 4 * ((rows - grand) ** 2).sum() / 11
    of_orderings = 12 * ((columns - grand) ** 2).sum() / 3
    rest = ((values - rows[:, None] - columns + grand) ** 2).sum() / 33
    assert found.item == pytest.approx((of_items - rest) / 4)
    assert found.rest == pytest.approx(rest)
    assert found.shift == pytest.approx((of_orderings - rest) / 12)
    assert found.interaction == pytest.approx(rest - TRUE["repetition"])


@pytest.mark.parametrize(("repeats", "groups"), [(1, None), (3, None), (1, 20)])
def test_components_are_those_that_were_planted(repeats, groups):
    rng = np.random.default_rng(2)
    drawn = [found_in(*planted(rng, repeats=repeats, groups=groups), repeats=repeats) for _ in range(300)]
    for name, value in TRUE.items():
        each = np.array([getattr(of, name) for of in drawn])
        assert abs(each.mean() - value) <= 3.5 * each.std() / np.sqrt(300) + 1e-12, name


def test_groups_of_unlike_size_whose_items_are_alike_leave_the_variance_of_items_as_it_is():
    # Half of the variance of items is that of groups; a tenth of the groups have 40 items, the others 2.
    rng, drawn = np.random.default_rng(5), []
    unit = np.repeat(np.arange(40), [40] * 4 + [2] * 36)
    for _ in range(600):
        item = np.sqrt(0.3) * (rng.normal(size=40)[unit] + rng.normal(size=len(unit)))
        values = item[:, None] + np.sqrt(0.4) * rng.normal(size=(len(unit), 6))
        drawn.append(found_in(values, unit).item)
    assert np.mean(drawn) == pytest.approx(0.6, abs=3.5 * np.std(drawn) / np.sqrt(600))
    whole = found_in(values, np.arange(len(unit))).item
    assert np.mean(drawn) > 0.58  # as if items were independent: 0.555
    assert whole < drawn[-1]


def test_coefficients_by_hand():
    of = generalisability.Components(*(np.array(value) for value in (4.0, 1.0, 3.0, 2.0)))
    orderings, repeats = np.array([1, 2, 1]), np.array([1, 1, 2])
    relative, absolute = generalisability.coefficients(of, orderings, repeats)
    assert relative == pytest.approx([4 / 7, 4 / 5.5, 4 / 6])
    assert absolute == pytest.approx([4 / 8, 4 / 6, 4 / 7])
    unknown = of._replace(repetition=np.array(np.nan))
    relative, _ = generalisability.coefficients(unknown, orderings, repeats)
    assert relative[:2] == pytest.approx([4 / 7, 4 / 5.5])
    assert np.isnan(relative[2])


def test_disjoint_sets_are_disjoint_means():
    masks = subsets.disjoint(10, 4, 50, 0)
    assert masks.shape == (50, 2, 10)
    assert masks.sum(axis=2) == pytest.approx(1)
    assert (masks[:, 0] * masks[:, 1] == 0).all()


def study(seed=1, **judge):
    options = {"groups": 60, "candidates": 4, "n": 5, "strategies": ["balanced"], "seed": seed}
    reads = studies.read_items(Simulation(seed=seed, **judge), **options)
    return studies.as_scores(reads, candidates=4)


def test_predictions_are_what_subsets_of_orderings_give():
    """A judge with item, group and prompt effects and a preference; half of the items predict the others."""
    table = study(item_positions=0.7, group_positions=0.5, prompts=0.7, preference="first", decisiveness=0.7)
    found = generalisability.estimate(table, **SETTINGS).query("cluster == 'group' and readout == 'hard'")
    rows = found[found["repeats"] == 1].set_index(["quantity", "orderings"])
    for size in range(1, 6):
        predicted = rows.loc[("generalisability", size), "estimate"]
        assert predicted == pytest.approx(rows.loc[("observed", size), "estimate"], abs=0.01)
    group = table["group_id"] < "g00030"
    halves = [generalisability.estimate(table[which], **SETTINGS) for which in (group, ~group)]
    here, there = (half.query("cluster == 'group' and readout == 'hard' and repeats == 1") for half in halves)
    predicted = here[here["quantity"] == "generalisability"].set_index("orderings")
    seen = there[there["quantity"] == "observed"].set_index("orderings")["estimate"]
    assert np.abs(predicted["estimate"][seen.index] - seen).max() < 0.1


def test_only_unequal_spreads_part_the_prediction_from_the_correlation_of_sets():
    """With the variances of all sets averaged, sets correlate as predicted; with those of each two sets, more."""
    rng = np.random.default_rng(4)
    values = (rng.normal(size=(200, 1)) + rng.normal(size=(200, 6))) * np.array([0.1, 0.2, 0.5, 1, 2, 3])
    moments = generalisability.unit_moments(values, np.full(200, np.nan), np.arange(200))
    found = generalisability.components(moments.sum(axis=0), 1)
    predicted = generalisability.coefficients(found, np.array([3]), np.array([1]))[0][0]
    covariance, sets = np.cov(values, rowvar=False), []
    for chosen in itertools.combinations(range(6), 3):
        masks = np.array([np.isin(np.arange(6), chosen), ~np.isin(np.arange(6), chosen)]) / 3
        sets.append(masks @ covariance @ masks.T)
    sets = np.array(sets)
    assert predicted == pytest.approx(sets[:, 0, 1].mean() / sets[:, 0, 0].mean())
    each = sets[:, 0, 1] / np.sqrt(sets[:, 0, 0] * sets[:, 1, 1])
    assert generalisability.observed(values, 3, seed=0) == pytest.approx(each.mean(), abs=0.01)
    assert each.mean() > predicted + 0.1


def test_repeats_are_predicted_from_option_probabilities_and_from_repeats():
    """One read of each ordering predicts the means over two and four repeats; each ordering is read four times."""
    judge = Simulation(item_positions=0.7, prompts=0.7, decisiveness=0.5, seed=3)
    options = {"groups": 200, "candidates": 2, "n": 5, "seed": 5}
    reads = studies.read_items(judge, strategies=["balanced"], **options)["balanced"]
    rng = np.random.default_rng(0)
    shares = reads.probabilities
    levels = reads.shown[..., None, :]
    picked = (shares[:, :, None, :].cumsum(axis=-1) > rng.random((*shares.shape[:2], 4, 1))).argmax(axis=-1)
    scores = np.take_along_axis(np.broadcast_to(levels, (*picked.shape, 5)), picked[..., None], axis=-1)[..., 0]
    table = studies.as_scores({"balanced": reads}, candidates=2)
    found = generalisability.estimate(
        table, **SETTINGS, repeats=[1, 2, 4], temperatures={"simulated": {"default": 1.0}}
    ).query("cluster == 'item' and readout == 'hard' and quantity == 'generalisability'")
    predicted = found.set_index(["orderings", "repeats"])["estimate"]
    for k in (1, 2, 5):
        for r in (1, 2, 4):
            means = scores[:, :, :r].mean(axis=2)
            assert predicted[k, r] == pytest.approx(generalisability.observed(means, k, seed=0), abs=0.04), (k, r)


def test_without_repeats_or_probabilities_repetition_is_part_of_the_rest():
    table = simulated_reads(groups=12, strategies=["balanced", "random", "fixed"], failing=0.02)
    found = generalisability.estimate(table, **SETTINGS)
    assert set(found["strategy"]) == {"balanced"}
    assert not {"interaction", "repetition"} & set(found["quantity"])
    assert set(found["repeats"].dropna()) == {1}
    assert found["n_items"].iloc[0] < 48


def test_intervals_cover():
    truth = np.array([1 / (1 + (0.25 + 0.49) / k) for k in (1, 5)])
    rng, covered = np.random.default_rng(4), []
    for _ in range(200):
        values, unit = planted(rng, items=80, groups=40)
        moments = generalisability.unit_moments(values, np.full(80, TRUE["repetition"]), unit)
        total = moments.sum(axis=0)
        both = generalisability.components(np.vstack([total, total - moments]), 1)
        relative, _ = generalisability.coefficients(both, np.array([1, 5]), np.array([1, 1]))
        low, high = np.tanh(resampling.left_out_interval(np.arctanh(relative), 0.95, heavy=True))
        covered.append((low <= truth) & (truth <= high))
    assert (np.mean(covered, axis=0) > 0.89).all()


def test_a_judge_that_gives_one_score_has_no_reliability():
    found = generalisability.estimate(score_table([[5] * 10] * 12), **SETTINGS)
    assert found[found["quantity"].isin(["generalisability", "observed"])]["estimate"].isna().all()
    assert found["ci_low"].isna().all()


def test_table_and_figure_show_what_is_there():
    temperatures = {"simulated": {"default": 1.0}}
    found = generalisability.estimate(study(), **SETTINGS, temperatures=temperatures)
    rows = tables.TABLE.table(found, study="simulated", n=5)
    assert rows["observed_2"].notna().all()
    printed = tables.TABLE.printout(rows)
    assert "(" in printed["G of 5"].iloc[0]
    assert "(" not in printed["G of 10"].iloc[0]
    assert printed["interaction %"].iloc[0] != ""
    keys = {"study": "simulated", "n": 5, "readout": "hard", "labels": Labels({"simulated": "J"}, {"simulated": "D"})}
    size = {"width_in": 6.5, "panel_height_in": 2.0, "columns": 3}
    drawn = view.draw(figure, found, strategy="balanced", **keys, **size)
    names = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert set(names) == {"k orderings, once each", "one ordering, k times", "dependability", "observed, disjoint sets"}
    assert "all" in view.draw(figure, found, strategy="all", **keys, **size).texts[0].get_text()
    plt.close("all")
