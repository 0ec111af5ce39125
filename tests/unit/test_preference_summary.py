"""Position preference over judges and datasets."""

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.analyses.position.position_preference import estimate as position_preference
from rubric_order.analyses.position.preference_summary import estimate as preference_summary
from rubric_order.analyses.position.preference_summary import table
from rubric_order.base.conditions import select_condition
from rubric_order.methods.position import blocks, preference
from rubric_order.methods.uncertainty import random_effects

FIRST = np.array([0.8, 0.4, 0, -0.4, -0.8])


@pytest.fixture(scope="module")
def reads():
    return [
        simulated_reads(
            groups=12,
            strategies=["balanced"],
            judge=f"j{judge}",
            dataset=f"d{dataset}",
            preference=(1 + judge) * FIRST,
            seed=seed,
        )
        for seed, (judge, dataset) in enumerate((j, d) for j in range(3) for d in range(2))
    ]


@pytest.fixture(scope="module")
def preferences(reads):
    return position_preference.estimate(iter(reads), confidence=0.95, sampling_temperatures={})


@pytest.fixture(scope="module")
def found(reads, preferences):
    return preference_summary.estimate(iter(reads), preferences, confidence=0.95)


def influence(reads):
    """The contribution of each group to first less last."""
    (block,) = blocks.blocks(reads)
    fit = preference.positions(preference.compared(block, "hard").regroup(block.units("group"))).fit()
    return fit.influence @ preference.contrasts(block.n)["first_last"]


def test_the_summary_is_that_of_the_estimates_of_single_datasets(reads, preferences, found):
    rows = preferences.query("quantity == 'first_last' and cluster == 'group' and dataset != 'all'")
    assert len(rows) == 6
    by_name = {(part["judge"].iloc[0], part["dataset"].iloc[0]): influence(part) for part in reads}
    moved = [by_name[pair] for pair in zip(rows["judge"], rows["dataset"], strict=True)]
    cosines = np.array([[a @ b / np.sqrt((a @ a) * (b @ b)) for b in moved] for a in moved])
    same = rows["dataset"].to_numpy()[:, None] == rows["dataset"].to_numpy()
    correlations = np.eye(6)
    for dataset in ("d0", "d1"):
        at = np.flatnonzero(rows["dataset"] == dataset)
        mean = cosines[np.ix_(at, at)][np.triu_indices(3, 1)].mean()
        correlations[np.ix_(at, at)] = np.where(np.eye(3) > 0, 1, max(mean, 0))
    assert (correlations[~same] == 0).all()
    factors = {name: pd.factorize(rows[name])[0] for name in ("judge", "dataset")}
    expected = random_effects.summary(
        rows["estimate"].to_numpy(), rows["se"].to_numpy(), factors, 0.95, correlations=correlations
    )
    ours = found.query("quantity == 'first_last' and cluster == 'group'").set_index("term")
    mean = ours.loc["mean"]
    assert (mean["estimate"], mean["ci_low"], mean["p"]) == pytest.approx((expected.mean, expected.low, expected.p))
    assert (mean["n_judges"], mean["n_datasets"], mean["n_estimates"], mean["df"]) == (3, 2, 6, 1)
    assert ours.loc["sd_judge", "estimate"] == pytest.approx(expected.sd["judge"])
    assert ours.loc["judge", "estimate"].tolist() == pytest.approx(expected.shrunken["judge"].tolist())
    assert ours.loc["judge", "judge"].tolist() == ["j0", "j1", "j2"]
    assert ours.loc["sd_judge", "estimate"] > ours.loc["sd_dataset", "estimate"]
    assert len(ours.loc["both"]) == 6
    assert ours.loc["error_correlation", "estimate"] == pytest.approx(correlations[np.triu(same, 1)].mean())


@pytest.mark.slow
def test_judges_that_err_alike_on_the_same_groups_say_less_of_their_mean():
    """Five judges, one dataset: the errors of all come from which groups were read."""
    covered, r = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        groups = rng.normal(size=30)  # how much each group prefers first positions to last ones, beside 0
        parts = []
        for judge in range(5):
            part = simulated_reads(
                groups=30,
                candidates=1,
                n=2,
                strategies=["balanced"],
                judge=f"j{judge}",
                failing=0.0,
                reads=2,
                seed=seed,
            )
            group = part.groupby("group_id").ngroup().to_numpy()
            logit = (2.0 * groups + 0.8 * rng.normal(size=30))[group]
            first = 1 / (1 + np.exp(-logit))
            shares = np.stack([first, 1 - first], axis=1)
            parts.append(part.assign(position_probabilities=list(shares)))
        known = position_preference.estimate(iter(parts), confidence=0.95, sampling_temperatures={})
        found = preference_summary.estimate(iter(parts), known, confidence=0.95)
        rows = found.query("quantity == 'first_last' and cluster == 'group' and readout == 'soft'").set_index("term")
        mean = rows.loc["mean"]
        covered.append(mean["ci_low"] <= 0 <= mean["ci_high"])
        r.append(rows.loc["error_correlation", "estimate"])
    assert np.mean(r) == pytest.approx(0.86, abs=0.05)
    assert np.mean(covered) >= 0.9  # with independent errors it was .7


def test_one_estimate_has_no_summary(reads, preferences):
    one = preferences.query("judge == 'j0' and dataset == 'd0'")
    found = preference_summary.estimate(iter(reads), one, confidence=0.95)
    assert found.empty
    assert table.TABLE.printout(table.TABLE.table(select_condition(found, "baseline"), study="s")).empty


def test_the_table_has_a_row_a_quantity_and_position(found):
    rows = table.TABLE.table(select_condition(found, "baseline"), study="s")
    printed = table.TABLE.printout(rows)
    assert printed["quantity"].tolist()[-5:] == [f"Pos{position}" for position in range(1, 6)]
    assert set(printed["judges"]) == {3}
    assert printed["mean"].str.contains(r"\[").all()
