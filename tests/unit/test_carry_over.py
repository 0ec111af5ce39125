"""Carry-over: planted effects come back, chance does not, and what two designs make of the same judge."""

import numpy as np
import pandas as pd
import pytest
from factories import CRITERIA, criteria_table, draw_criteria

from rubric_order.analyses.criteria.carry_over import estimate as carry_over
from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.methods.position import panels


def panel_of(values, shown):
    return panels.panel(criteria_table(np.ones_like(values), shown, soft=values), "soft")


def effects(*args, **kwargs):
    return pd.DataFrame(carry_over.effects(panel_of(*draw_criteria(*args, **kwargs)), confidence=0.95))


def only(found, quantity, model=None, criterion=None):
    found = found[found["quantity"] == quantity]
    found = found if model is None else found[found["model"] == model]
    return found[found["criterion"].isna() if criterion is None else found["criterion"].notna()]


def test_terms_of_a_hand_worked_case():
    # One text, criteria a, b, c with mean scores 1, 3, 5, read as abc and as cab.
    values = np.array([[[1, 3, 5], [1, 3, 5]]], dtype=float)
    seen = carry_over.observations(panel_of(values, [[1, 2, 3], [3, 1, 2]]))
    rows = dict(
        zip(
            zip(seen.criterion.tolist(), seen.position.argmax(axis=1).tolist(), strict=True),
            zip(seen.level[:, 0].tolist(), seen.predecessor.tolist(), seen.leader.tolist(), strict=True),
            strict=True,
        )
    )
    none, a, b, c = [0, 0, 0], *(pytest.approx(row) for row in (np.eye(3) - 1 / 3).tolist())
    assert rows[0, 0] == (0, none, none)
    assert rows[0, 1] == (5 - (3 + 5) / 2, c, c)
    assert rows[1, 1] == (1 - (1 + 5) / 2, a, a)
    assert rows[1, 2] == (1 - (1 + 5) / 2, a, c)
    assert rows[2, 2] == (3 - (1 + 3) / 2, b, a)
    assert rows[2, 0] == (0, none, none)


@pytest.mark.parametrize("strategy", ["balanced", "balanced_williams", "random"])
def test_planted_carry_over_and_position_effects_come_back(strategy):
    planted = np.array([0.3, 0, 0, 0, -0.3])
    rng = np.random.default_rng(1)
    found = effects(400, 5, rng=rng, strategy=strategy, position=planted, carry=0.3, rounded=False)
    slope = only(found, "carry_over").iloc[0]
    assert slope["estimate"] == pytest.approx(0.3, abs=0.05)
    if strategy != "balanced":  # in rotations what comes before the predecessor is always the same, too
        assert slope["ci_low"] <= 0.3 <= slope["ci_high"]
    shifts = only(found, "position", "position + level")
    # What a position adds is carried on to the next one.
    expected = [planted[0]]
    for added in planted[1:]:
        expected.append(added + 0.3 * expected[-1])
    assert shifts["estimate"].to_numpy() == pytest.approx(np.array(expected) - np.mean(expected), abs=0.06)
    assert only(found, "any_predecessor")["p"].item() > 1e-4 or strategy != "balanced_williams"


@pytest.mark.parametrize("strategy", ["balanced", "balanced_williams"])
def test_predecessors_with_a_level_of_their_own_come_back(strategy):
    levels = np.array([-0.8, -0.4, 0, 0.4, 0.8])
    rng = np.random.default_rng(2)
    found = effects(400, 5, rng=rng, strategy=strategy, carry=0.3, levels=levels, rounded=False)
    after = only(found, "predecessor", criterion="each")
    assert after["criterion"].tolist() == list(CRITERIA[:5])
    assert after["estimate"].to_numpy() == pytest.approx(0.3 * levels, abs=0.09)
    assert only(found, "any_predecessor")["p"].item() < 1e-6


@pytest.mark.parametrize("strategy", ["balanced", "balanced_williams", "random"])
def test_what_a_criterion_that_leads_does_to_the_other_scores_comes_back(strategy):
    planted = np.array([0.6, 0, 0, -0.6, 0])
    values, shown = draw_criteria(400, 5, rng=np.random.default_rng(8), strategy=strategy, rounded=False)
    positions = panel_of(values, shown).positions
    values = values + planted[(positions == 1).argmax(axis=2)][..., None] * (positions > 1)
    found = pd.DataFrame(carry_over.effects(panel_of(values, shown), confidence=0.95))
    led = only(found, "leader", criterion="each")
    assert led["criterion"].tolist() == list(CRITERIA[:5])
    assert led["estimate"].to_numpy() == pytest.approx(planted, abs=0.09)
    assert only(found, "any_leader")["p"].item() < 1e-6
    assert only(found, "any_position", "position + leader")["p"].item() > 1e-3


@pytest.mark.parametrize("strategy", ["balanced", "balanced_williams", "random"])
@pytest.mark.slow
def test_without_effects_tests_keep_their_level_and_the_slope_is_0(strategy):
    rng = np.random.default_rng(3)
    p_values, slopes = [], []
    for _ in range(120):
        found = effects(40, 4, rng=rng, strategy=strategy, levels=[-0.6, -0.2, 0.2, 0.6])
        p_values.append(only(found, "any_position", "position + level")["p"].item())
        p_values.append(only(found, "any_predecessor")["p"].item())
        p_values.append(only(found, "any_leader")["p"].item())
        p_values.append(only(found, "carry_over")["p"].item())
        slopes.append(only(found, "carry_over")["estimate"].item())
    assert 0.01 <= np.mean(np.array(p_values) < 0.05) <= 0.085
    assert abs(np.mean(slopes)) < 3.5 * np.std(slopes) / np.sqrt(len(slopes))


@pytest.mark.slow
def test_what_one_answer_has_in_common_is_no_carry_over():
    # Each answer is lenient or strict as a whole, so a criterion scores high right after a high score, but not
    # because of it.
    rng = np.random.default_rng(4)
    slopes = []
    for _ in range(40):
        values, shown = draw_criteria(60, 5, rng=rng, strategy="balanced_williams", noise=0.2, rounded=False)
        values += rng.normal(size=(60, len(shown), 1))
        found = pd.DataFrame(carry_over.effects(panel_of(values, shown), confidence=0.95))
        slopes.append(only(found, "carry_over")["estimate"].item())
    assert abs(np.mean(slopes)) < 3.5 * np.std(slopes) / np.sqrt(40)


def test_the_slope_survives_missing_scores():
    rng = np.random.default_rng(5)
    found = effects(400, 5, rng=rng, carry=0.3, rounded=False, failing=0.2)
    slope = only(found, "carry_over").iloc[0]
    assert slope["estimate"] == pytest.approx(0.3, abs=0.06)


def test_a_table_has_a_row_for_each_estimate_and_leaves_fixed_orders_out():
    values, shown = draw_criteria(20, 3, rng=np.random.default_rng(6))
    both = pd.concat([criteria_table(values, shown), criteria_table(values, shown, strategy="fixed")])
    found = carry_over.estimate(both, confidence=0.95)
    assert set(found["strategy"]) == {"balanced"}
    counts = found.groupby(["model", "quantity"]).size().to_dict()
    assert counts == {
        ("position", "position"): 3,
        ("position", "any_position"): 4,
        ("position + level", "position"): 3,
        ("position + level", "carry_over"): 1,
        ("position + level", "any_position"): 4,
        ("position + predecessor", "position"): 3,
        ("position + predecessor", "predecessor"): 3,
        ("position + predecessor", "any_position"): 1,
        ("position + predecessor", "any_predecessor"): 1,
        ("position + leader", "position"): 3,
        ("position + leader", "leader"): 3,
        ("position + leader", "any_position"): 1,
        ("position + leader", "any_leader"): 1,
    }
    assert carry_over.estimate(both.iloc[:0], confidence=0.95).dtypes.equals(found.dtypes)


# What the paper's rotations and a Williams design conclude about a judge without position effects but with carry-over.


@pytest.fixture(scope="module")
def concluded():
    """Over many studies of such a judge, by design: what the position tests say, and what the joint model says."""
    levels = np.linspace(-0.8, 0.8, 6)
    rows = []
    for strategy in ("balanced", "balanced_williams"):
        rng = np.random.default_rng(7)
        for _ in range(25):
            panel = panels.panel(
                criteria_table(*draw_criteria(96, 6, rng=rng, strategy=strategy, carry=0.3, levels=levels)), "hard"
            )
            cells = panels.cells(panel.values, panel.positions)
            tests = criterion_order.position_tests(cells, panel.groups)
            found = pd.DataFrame(carry_over.effects(panel, confidence=0.95))
            shift = panels.position_effects(cells)[1]
            rows.append(
                {
                    "strategy": strategy,
                    "significant": np.mean([test["p"] < 0.05 for test in tests]),
                    "first": np.abs(shift[:, 0]).mean(),
                    "later": np.abs(shift[:, 1:]).mean(),
                    "slope": only(found, "carry_over")["estimate"].item(),
                    "pooled": only(found, "any_position", "position + level")["p"].item() < 0.05,
                    "adjusted": (only(found, "any_position", "position + level", "each")["p"] < 0.05).mean(),
                    "predecessor_se": only(found, "predecessor", criterion="each")["se"].mean(),
                }
            )
    return pd.DataFrame(rows).groupby("strategy").mean()


@pytest.mark.slow
def test_rotations_take_carry_over_for_an_effect_of_the_first_position(concluded):
    rotations = concluded.loc["balanced"]
    assert rotations["significant"] > 0.15  # criteria that the paper's test would call biased by position
    assert rotations["first"] > 1.5 * rotations["later"]  # after the first position both neighbours cancel out


@pytest.mark.slow
def test_with_a_williams_design_the_test_of_a_single_criterion_is_misled_even_more(concluded):
    # At twice as many orderings as criteria, the predecessors of a criterion depend on its position.
    assert concluded.loc["balanced_williams", "significant"] > concluded.loc["balanced", "significant"] + 0.2


@pytest.mark.slow
def test_the_joint_model_tells_carry_over_and_position_apart_under_both_designs(concluded):
    assert concluded["slope"].to_numpy() == pytest.approx(0.28, abs=0.04)  # 0.3 less what rounding loses
    assert concluded.loc["balanced_williams", "adjusted"] < 0.15
    assert concluded.loc["balanced_williams", "adjusted"] < concluded.loc["balanced", "adjusted"]
    assert concluded.loc["balanced_williams", "predecessor_se"] < 0.85 * concluded.loc["balanced", "predecessor_se"]
