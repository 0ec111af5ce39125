"""Differences between judges, profiles, scales and datasets on the same items, and trends."""

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.analyses.position.judge_comparison import estimate as judge_comparison
from rubric_order.analyses.position.judge_comparison import table
from rubric_order.methods.position import blocks, preference, uniformity

SETTINGS = {"confidence": 0.95, "sampling_temperatures": {}, "sweeps": {}}
FIRST = np.array([0.8, 0.4, 0, -0.4, -0.8])


def judged(judge, strength, seed, **about):
    """Reads of the same groups: `seed` draws items' quality too, so that nothing but names is shared."""
    return simulated_reads(
        groups=30, strategies=["balanced"], preference=strength * FIRST, seed=seed, judge=judge, **about
    )


@pytest.fixture(scope="module")
def reads():
    return [
        judged("a", 1.0, 1),
        judged("b", 0.3, 2),
        judged("a", 1.0, 3, dataset="e"),
        judged("a", 0.3, 4, profile="warm"),
    ]


@pytest.fixture(scope="module")
def found(reads):
    return judge_comparison.estimate(reads, **SETTINGS)


def rows_of(found, compared, quantity, cluster="group"):
    rows = "compared == @compared and quantity == @quantity and cluster == @cluster and readout == 'hard'"
    return found.query(rows).reset_index(drop=True)


def test_what_differs_in_one_thing_is_compared(found):
    kinds = found.drop_duplicates(["compared", "one", "other"])[["compared", "one", "other"]]
    assert sorted(map(tuple, kinds.to_numpy())) == [
        *(("dataset", "d", "e"), ("judge", "a", "b"), ("profile", "default", "warm"))
    ]
    quantities = [
        "first_last",
        "ends_middle",
        "cramers_v_squared",
        "usual_minus_balanced",
        "ascending_minus_descending",
    ]
    assert set(found["quantity"]) == set(quantities)
    np.testing.assert_allclose(found["estimate"], found["of_one"] - found["of_other"])


def contrast(reads, name="first_last"):
    (block,) = blocks.blocks(reads)
    fit = preference.positions(preference.compared(block, "hard").regroup(block.units("group"))).fit()
    return fit.contrast(preference.contrasts(block.n)[name])


def test_a_difference_takes_from_each_group_what_it_adds_to_both(reads, found):
    (one, first), (other, second) = contrast(reads[0]), contrast(reads[1])
    (row,) = rows_of(found, "judge", "first_last").to_dict("records")
    assert row["estimate"] == pytest.approx(one - other)
    assert row["se"] == pytest.approx(np.sqrt(((first - second) ** 2).sum() * 29 / 30))
    assert row["n_clusters"] == 30
    assert row["ci_low"] > 0  # the first prefers the first position more


def test_clusters_of_two_datasets_are_different_ones(reads, found):
    (_, first), (_, second) = contrast(reads[0]), contrast(reads[2])
    (row,) = rows_of(found, "dataset", "first_last").to_dict("records")
    assert row["se"] == pytest.approx(np.sqrt(((first**2).sum() + (second**2).sum()) * 59 / 60))
    assert row["n_clusters"] == 60


def test_the_same_reads_do_not_differ():
    same = judged("a", 1.0, 1)
    found = judge_comparison.estimate([same, same.assign(judge="b")], **SETTINGS)
    np.testing.assert_allclose(found["estimate"], 0, atol=1e-12)
    assert found["ci_low"].isna().all()


def selecting(judge, alike, rng, *, shares=None, groups=60, n=5):
    """Reads of a judge that selects positions with these shares: all reads of a group the same one, or each its own."""
    reads = simulated_reads(groups=groups, n=n, candidates=1, strategies=["balanced"], judge=judge, failing=0.0)
    group = reads.groupby("group_id").ngroup().to_numpy()
    of_groups = rng.choice(n, groups, p=shares)[group]
    position = np.where(alike, of_groups, rng.choice(n, len(reads), p=shares))
    score = np.array([shown[at] for shown, at in zip(reads["ordering"], position, strict=True)])
    return reads.assign(position=pd.array(position + 1, dtype="Int8"), score=score)


def test_v_squared_is_unbiased_and_that_of_the_pooled_shares_less_what_chance_adds():
    rng = np.random.default_rng(7)
    sizes = np.where(np.arange(20) < 2, 300, 20)  # two groups hold most reads
    shares = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    drawn = [
        judge_comparison._selection(
            np.array([rng.multinomial(m, rng.dirichlet(2 * shares)) for m in sizes], dtype=float)
        ).estimate
        for _ in range(4000)
    ]
    true = 5 / 4 * ((shares - 1 / 5) ** 2).sum()
    assert np.mean(drawn) == pytest.approx(true, abs=4 * np.std(drawn) / np.sqrt(4000))
    equal = rng.multinomial(30, shares, size=25).astype(float)
    assert judge_comparison._selection(equal).estimate == pytest.approx(uniformity.squared_v(equal))


@pytest.mark.slow
@pytest.mark.parametrize("shares", [None, [0.3, 0.25, 0.2, 0.15, 0.1]])
def test_judges_with_unlike_dependence_and_the_same_selection_are_called_different_in_five_percent(shares):
    rng, found = np.random.default_rng(9), []
    for _ in range(60):
        parts = [selecting("a", True, rng, shares=shares), selecting("b", False, rng, shares=shares)]
        found.append(rows_of(judge_comparison.estimate(parts, **SETTINGS), "judge", "cramers_v_squared"))
    found = pd.concat(found)
    assert len(found) == 60
    assert (found["p"] < 0.05).mean() <= 0.12
    # Of the raw V it was .13 without a bias, since the first judge's was .08 larger by chance.
    assert abs(found["estimate"].mean()) < 3 * found["estimate"].std() / np.sqrt(60)


def test_judges_whose_selection_differs_are_told_apart_by_v_squared():
    rng = np.random.default_rng(10)
    parts = [selecting("a", False, rng, shares=[0.4, 0.3, 0.1, 0.1, 0.1]), selecting("b", True, rng)]
    (row,) = rows_of(judge_comparison.estimate(parts, **SETTINGS), "judge", "cramers_v_squared").to_dict("records")
    assert row["p"] < 0.05
    assert row["of_one"] == pytest.approx(5 / 4 * (0.2**2 + 0.1**2 + 3 * 0.1**2), abs=0.03)
    assert row["ci_low"] < row["estimate"] < row["ci_high"]


def left_out(reads, quantity):
    """The estimate without each group in turn."""
    found = []
    for group in sorted(reads["group_id"].unique()):
        rest = reads[reads["group_id"] != group].assign(judge="a")
        other = rest.assign(judge="b")
        both = judge_comparison.estimate([rest, other], **SETTINGS)
        found.append(rows_of(both, "judge", quantity)["of_one"][0])
    return np.array(found)


@pytest.mark.parametrize(("quantity", "near"), [("usual_minus_balanced", 1e-9), ("cramers_v_squared", 1e-9)])
def test_influence_is_what_leaving_a_group_out_changes(quantity, near):
    reads = simulated_reads(groups=12, strategies=["balanced"], preference=FIRST, seed=5)
    (block,) = blocks.blocks(reads)
    whole = judge_comparison._measured(block, "hard", ["group"])["group"]
    expected = whole.estimates[quantity] - left_out(reads, quantity)
    np.testing.assert_allclose(
        whole.influence[quantity], expected, atol=near * np.abs(expected).max() + 1e-12, rtol=near
    )


def test_a_trend_is_the_slope_of_the_estimates():
    strengths = {"default": 1.0, "t05": 0.6, "t10": 0.2}
    parts = [judged("a", strength, seed, profile=name) for seed, (name, strength) in enumerate(strengths.items())]
    temperatures = {"a": {"default": 0.0, "t05": 0.5, "t10": 1.0}}
    found = judge_comparison.estimate(parts, **SETTINGS | {"sampling_temperatures": temperatures})
    (row,) = rows_of(found, "trend", "first_last").to_dict("records")
    values = [contrast(part)[0] for part in parts]
    assert row["estimate"] == pytest.approx(np.polyfit([0, 0.5, 1], values, 1)[0])
    assert row["ci_high"] < 0
    assert (row["one"], row["sweep"], row["swept_judge"]) == ("temperature of a", "temperature", "a")
    (printed,) = table.TABLE.printout(rows_of(found, "trend", "first_last")).to_dict("records")
    assert (printed["one"], printed["judge"]) == ("temperature", "a")
    sizes = {"size": {"a": 1.0, "b": 2.0, "c": 3.0}}
    named = [part.assign(judge=judge, profile="default") for judge, part in zip("abc", parts, strict=True)]
    found = judge_comparison.estimate(named, **SETTINGS | {"sweeps": sizes})
    assert rows_of(found, "trend", "first_last")["estimate"].tolist() == pytest.approx([row["estimate"] / 2])


def test_scales_are_compared_by_contrasts():
    parts = [simulated_reads(groups=10, n=n, strategies=["balanced"], preference=np.linspace(1, -1, n)) for n in (3, 5)]
    found = judge_comparison.estimate(parts, **SETTINGS)
    (row,) = rows_of(found, "n", "first_last").to_dict("records")
    assert (row["one"], row["other"]) == ("3", "5")
    assert row["estimate"] == pytest.approx(contrast(parts[0])[0] - contrast(parts[1])[0])


@pytest.mark.slow
def test_judges_that_do_not_differ_are_called_different_in_five_percent():
    p = []
    for seed in range(60):
        parts = [judged(judge, 0.5, 100 + 2 * seed + place) for place, judge in enumerate("ab")]
        p += rows_of(judge_comparison.estimate(parts, **SETTINGS), "judge", "first_last")["p"].tolist()
    assert np.mean(np.array(p) < 0.05) <= 0.15


def test_the_table_prints_what_is_compared(found):
    rows = table.TABLE.table(found, study="s")
    printed = table.TABLE.printout(rows)
    assert len(printed) == len(rows) == 15
    of_judges = printed[printed["compared"] == "judge"]
    assert set(of_judges["under"]) == {"default balanced n=5"}
    assert set(of_judges["dataset"]) == {"d"}
    assert set(of_judges["judge"]) == {""}
    assert printed["difference"].str.contains(r"[+-]\d\.\d{2,3} \[").all()
    assert table.TABLE.printout(rows[:0]).empty
