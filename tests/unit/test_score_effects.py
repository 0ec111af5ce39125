"""By how many points the order moves scores: worked by hand, against another least squares, and laid out."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from factories import order_tests_of, random_scores, score_table, simulated_reads

from rubric_order.analyses.position.score_effects import estimate as score_effects
from rubric_order.analyses.position.score_effects import figure
from rubric_order.analyses.position.score_effects import table as tables
from rubric_order.base.labels import Labels
from rubric_order.figures import view
from rubric_order.methods.uncertainty import additive, resampling
from rubric_order.prompts import orderings

SETTINGS = {"confidence": 0.95, "seed": 1, "sign_changes": 200}
BOTH = [[1, 2], [2, 1]]


def one(found, quantity, **keys):
    rows = found[(found["quantity"] == quantity)]
    for name, value in ({"dataset": "d", "readout": "hard", "cluster": "group"} | keys).items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_two_orderings_by_hand():
    table = score_table([[2, 1], [2, 2], [1, 1], [2, 1]], n=2, shown=BOTH, per_group=1)
    found = score_effects.estimate(table, **SETTINGS)
    # Means 1.75 and 1.25. Of the items' differences 1, 0, 0, 1 the standard error is 0.5774 / 2, and t(3) is 3.1824.
    rising = one(found, "ascending_minus_descending")
    assert rising["estimate"] == pytest.approx(0.5)
    assert rising["ci_low"] == pytest.approx(0.5 - 3.1824 * 0.28868, abs=1e-4)
    usual = one(found, "usual_minus_balanced")
    assert usual["estimate"] == pytest.approx(0.25)
    assert usual["ci_high"] == pytest.approx(0.25 + 3.1824 * 0.14434, abs=1e-4)
    assert one(found, "order_test")["mean_score"] == pytest.approx(1.5)
    assert one(found, "largest_gap")["estimate"] == pytest.approx(0.5)
    assert one(found, "ordering", ordering="12")["mean_score"] == pytest.approx(1.75)
    assert one(found, "level_position", score=2, position=1)["mean_score"] == pytest.approx(1.25)
    # Signs of two items count: both alike (1 of 2 draws) is as far as observed. Away from their mean, the items'
    # differences are 1/2 each: the signs of four make gaps of 1/2 (in 2 of 16), 1/4 (8) and 0.
    assert one(found, "order_test")["p_order"] == pytest.approx(0.5, abs=0.1)
    assert one(found, "largest_gap")["chance"] == pytest.approx(np.sqrt(4 / 3) * 0.1875, abs=0.03)


def test_reads_without_a_score_are_dummies_of_another_least_squares():
    table = random_scores(3, n_items=20, failing=0.3, soft=False)
    found = score_effects.estimate(table, **SETTINGS)
    scored = table[table["score"].notna()].reset_index(drop=True)
    names = scored["ordering"].map(lambda row: "".join(map(str, row)))
    x = pd.concat([pd.get_dummies(scored["item_id"]), pd.get_dummies(names)], axis=1).to_numpy(dtype=float)
    solved = np.linalg.lstsq(x, scored["score"].to_numpy(dtype=float), rcond=None)[0][20:]
    expected = dict(zip(sorted(names.unique()), solved - solved.mean(), strict=True))
    rows = found.query("quantity == 'ordering' and cluster == 'item' and dataset == 'd'").set_index("ordering")
    for name, shift in expected.items():
        assert rows.at[name, "estimate"] == pytest.approx(shift)
    assert (rows["n_failed"] == table["score"].isna().sum()).all()


def test_intervals_without_gaps_are_those_of_a_mean():
    table = random_scores(5, n_items=24, failing=0, soft=False, per_group=4)
    found = one(score_effects.estimate(table, **SETTINGS), "usual_minus_balanced")
    reads = table.pivot(index="item_id", columns="read_index", values="score").to_numpy(dtype=float)
    groups = (reads[:, 0] - reads.mean(axis=1)).reshape(6, 4).mean(axis=1)
    error = groups.std(ddof=1) / np.sqrt(6)
    assert found["estimate"] == pytest.approx(groups.mean())
    assert found["ci_high"] - found["estimate"] == pytest.approx(2.5706 * error, rel=1e-4)


def test_degrees_of_freedom_are_fewer_than_effective_groups_less_1_if_one_group_is_heavy():
    table = random_scores(3, n_items=60, per_group=1)
    group = np.maximum(table["item_id"].factorize(sort=True)[0] - 9, 0)
    row = one(score_effects.estimate(table.assign(group_id=group.astype(str)), **SETTINGS), "usual_minus_balanced")
    assert row["effective_clusters"] == pytest.approx(60**2 / (10**2 + 50))
    assert row["df"] == pytest.approx(resampling.degrees(np.r_[10, np.full(50, 1)]))


def test_all_datasets_are_one_table_of_items():
    first, second = (random_scores(seed, dataset=name, soft=False) for seed, name in ((1, "d"), (2, "e")))
    found = score_effects.estimate(iter([first, second]), **SETTINGS)
    renamed = second.assign(dataset="d", item_id="x" + second["item_id"], group_id="x" + second["group_id"])
    pooled = score_effects.estimate(pd.concat([first, renamed]), **SETTINGS)
    for quantity in ("usual_minus_balanced", "largest_gap", "order_test"):
        here, there = one(found, quantity, dataset="all"), one(pooled, quantity)
        assert here["estimate"] == pytest.approx(there["estimate"])
        assert here["n_clusters"] == there["n_clusters"] == 6
    assert one(found, "order_test", dataset="all")["p_order"] == one(pooled, "order_test")["p_order"]
    shuffled = pd.concat([first, second]).sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(score_effects.estimate(shuffled, **SETTINGS), found)


def test_orderings_of_their_own_have_the_test_and_positions_of_levels_alone():
    table = simulated_reads(groups=12, strategies=["random", "fixed", "single"], preference=[2, 0, 0, 0, 0])
    found = score_effects.estimate(table, **SETTINGS)
    assert set(found["strategy"]) == {"random"}
    assert set(found["quantity"]) == {"order_test", "level_position"}
    assert (one(found, "order_test")[["p_order", "estimate"]] < [0.01, 1]).all()
    first, last = (one(found, "level_position", score=score, position=1)["estimate"] for score in (1, 5))
    assert first < -0.3 < 0.3 < last
    rows = tables.TABLE.table(found, order_tests_of(table), study="s")
    assert rows["usual_minus_balanced"].isna().all()
    assert (tables.TABLE.printout(rows)["usual less balanced"] == "").all()


def test_a_judge_that_gives_one_score_is_saturated_and_has_no_interval():
    found = score_effects.estimate(score_table([[5] * 10] * 12), **SETTINGS)
    assert set(found["flag"]) == {"saturated, no variation, few clusters", "no variation, few clusters"}
    assert found["ci_low"].isna().all()
    assert one(found, "order_test")["p_order"] == 1
    nearly = [[5] * 10] * 20
    nearly[3] = [5] * 9 + [1]
    found = score_effects.estimate(score_table(nearly), **SETTINGS)
    assert one(found, "order_test")["flag"] == "saturated, few clusters"
    assert one(found, "order_test")["commonest"] == pytest.approx(199 / 200)


def test_one_group_has_no_test():
    found = score_effects.estimate(random_scores(1, n_items=4), **SETTINGS)
    row = one(found, "order_test")
    assert np.isnan(row["p_order"])
    assert np.isnan(one(found, "usual_minus_balanced")["ci_low"])


def test_a_rare_p_value_has_no_floor():
    rng = np.random.default_rng(0)
    away = rng.normal(size=(200, 5)) + np.array([1, 0, 0, 0, -1])
    assert additive.no_shift(away, draws=200, seed=0) < 1e-6
    assert additive.no_shift(away - away.mean(axis=0), draws=200, seed=0) > 0.9


def test_treatments_that_no_item_connects_have_no_shifts():
    total = np.array([[1.0, 2, 0, 0], [0, 0, 3, 4]])
    assert additive.shifts(additive.Cells(total, (total > 0).astype(float)), np.array([0, 1])) is None


def test_the_table_has_the_columns_that_others_rely_on():
    table = simulated_reads(groups=12, strategies=["balanced", "random"], soft=True, preference=[3, 0, 0, 0, 0])
    rows = tables.TABLE.table(score_effects.estimate(table, **SETTINGS), order_tests_of(table), study="s")
    contrasts = ["usual_minus_balanced", "ascending_minus_descending"]
    ends = [f"{name}{end}" for name in contrasts for end in ("", "_low", "_high")]
    assert rows.columns[:13].tolist() == ["judge", "profile", "dataset", "strategy", "n", "readout", *ends, "p_order"]
    assert set(rows["dataset"]) == {"d", "all"}
    printed = tables.TABLE.printout(rows)
    assert len(printed) == 4
    assert {*rows["p_card"].notna(), *rows["usual_p_card"].notna()} == {True, False}
    stars = [text.endswith("*") for text in printed["p"]]
    assert stars == rows.query("dataset == 'all'")["p_card"].notna().tolist()


def test_the_usual_ordering_is_compared_with_rotations_alone():
    table = score_table([[1, 2, 3], [3, 2, 3], [2, 2, 3]], n=3, shown=orderings.rotations(3), strategy="recorded")
    found = score_effects.estimate(table, **SETTINGS)
    assert one(found, "usual_minus_balanced")["estimate"] == pytest.approx(2 - 7 / 3)
    assert not (found["quantity"] == "ascending_minus_descending").any()


def test_reading_an_ordering_more_often_changes_no_shift():
    once, more = [[1, 2, 3]] * 3, [[1, 1, 1, 2, 3]] * 3
    turns = orderings.rotations(3)
    shown = np.vstack([turns[:1], turns[:1], turns])
    options = {"n": 3, "strategy": "recorded", "soft": False}
    rows = [
        score_effects.estimate(score_table(values, shown=each, **options), **SETTINGS).query("quantity == 'ordering'")
        for values, each in ((once, turns), (more, shown))
    ]
    assert rows[1]["estimate"].tolist() == pytest.approx(rows[0]["estimate"].tolist())
    assert rows[0]["estimate"].tolist()[:3] == pytest.approx([-1, 0, 1])


def test_the_shift_by_the_usual_ordering_has_a_test_of_signs():
    table = simulated_reads(groups=40, candidates=1, strategies=["balanced"], noise=2.0, seed=4)
    usual = table["ordering"].map(lambda row: list(row) == [1, 2, 3, 4, 5])
    one_up = table["score"].where(~usual, (table["score"] + 1).clip(upper=5))
    shifted = score_effects.estimate(table.assign(score=one_up), **SETTINGS)
    assert one(shifted, "usual_minus_balanced")["p_order"] < 0.02
    assert one(score_effects.estimate(table, **SETTINGS), "usual_minus_balanced")["p_order"] > 0.05


def test_the_figure_shows_every_ordering_and_says_when_there_is_none():
    table = simulated_reads(groups=8, strategies=["balanced", "random"], soft=True)
    found = score_effects.estimate(table, **SETTINGS)
    keys = {"study": "s", "n": 5, "dataset": "all", "readouts": ["hard", "soft"], "labels": Labels({"j": "J"}, {})}
    size = {"width_in": 6.5, "row_height_in": 0.2, "columns": 3}
    drawn = view.draw(figure, found, strategy="balanced", **keys, **size)
    names = [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    assert names == [" ".join(map(str, row)) for row in orderings.balanced(5)]
    assert drawn.axes[0].get_title() == "J"
    empty = view.draw(figure, found, strategy="all", **keys, **size)
    assert "all" in empty.texts[0].get_text()
    plt.close("all")


def test_signs_of_many_clusters_are_drawn_a_few_at_a_time(monkeypatch):
    values = np.random.default_rng(1).normal(size=(37, 3))
    at_once = additive.sums_of_signs(values, draws=50, seed=3)
    monkeypatch.setattr(additive, "MOST_SIGNS", 10)
    monkeypatch.setattr(additive, "SIGNS_AT_ONCE", 100)
    np.testing.assert_allclose(additive.sums_of_signs(values, draws=50, seed=3), at_once)
