"""Crossed orders of criteria and levels: axes that act apart, and axes that do not."""

import math

import numpy as np
import pandas as pd
import pytest
from factories import criteria_table

from rubric_order.analyses.criteria.crossed_orders import estimate as crossed_orders
from rubric_order.base import permutations
from rubric_order.methods.uncertainty import fixed_effects
from rubric_order.prompts import orderings

OPTIONS = {"resamples": 200, "confidence": 0.95, "seed": 1}


def crossed(n_texts, n_criteria, *, rng, n=5, first=0.0, place=0.0, together=0.0, strategy="balanced"):
    """Reads of a judge that selects the level nearest to its opinion, moved towards the level that stands first.

    Args:
        first: how far towards the first level.
        place: what the first place of a criterion adds to the opinion.
        together: the same as `first`, but for the criterion in the first place alone.
    """
    rows = orderings.choose(strategy, n_criteria, rng=rng)
    shown = np.broadcast_to(rows, (n_texts, *rows.shape))
    levels = np.array([orderings.levels_beside(strategy, len(rows), n, start=text, rng=rng) for text in range(n_texts)])
    position = permutations.positions_of(shown)
    leading = position == 1
    opinion = 3 + rng.normal(size=(n_texts, 1, n_criteria)) + 0.4 * rng.normal(size=shown.shape) + place * leading
    pull = first + together * leading
    values = np.clip(np.round(opinion + pull * (levels[..., :1] - opinion)), 1, n)
    return criteria_table(values, shown, levels=levels, strategy=strategy)


def estimate(reads):
    return crossed_orders.estimate(reads, **OPTIONS)


def p_values(reads):
    found = estimate(reads)
    return found[found["p"].notna()].set_index("quantity")["p"].to_dict()


def test_terms_of_a_hand_worked_case():
    reads = criteria_table(
        np.array([[[1, 3], [2, 2]]], dtype=float), [[1, 2], [2, 1]], n=3, levels=[[[1, 2, 3], [3, 1, 2]]]
    )
    found = crossed_orders.terms(reads, 3)
    assert found["criterion_order"].tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]
    assert found["level_order"].tolist() == [[1, 0, 0, 0, 0, 1]] * 2 + [[0, 0, 1, 0, 1, 0]] * 2


def test_pairs_of_a_hand_worked_case():
    # Wit: read 1 scores 1, first criterion, levels 1 2 3; read 2 scores 2, second criterion, levels 3 1 2.
    reads = criteria_table(
        np.array([[[1, 3], [2, 3]]], dtype=float), [[1, 2], [2, 1]], n=3, levels=[[[1, 2, 3], [3, 1, 2]]]
    )
    found = crossed_orders.pairs_of_reads(reads, 3)
    assert found.group.tolist() == [0]  # plot scores 3 twice
    # Read 1 scores a point less. Levels 1 and 2 stand first and second in it, second and third in read 2.
    assert found.criterion_order.tolist() == [[-1, 1]]
    assert found.level_order.tolist() == [[1, -1 - 1, 1]]
    assert found.interaction.tolist() == [[1, -1, 0, 0, -1, 1]]


def in_log_odds(n_texts, n_criteria, *, rng, lenient, place=2.0, first=2.0, together=0.0, n=5):
    """Reads of a judge whose axes add up in log-odds, but for `together`; `lenient` moves it towards the highest level.

    Args:
        place: what the first place of a criterion adds to the opinion. first: log-odds of the level that stands first;
            `together`: the same, but of the criterion in the first place alone.
    """
    rows = orderings.choose("balanced", n_criteria, rng=rng)
    shown = np.broadcast_to(rows, (n_texts, *rows.shape))
    levels = np.array([orderings.levels_beside("balanced", len(rows), n, start=t, rng=rng) for t in range(n_texts)])
    leading = permutations.positions_of(shown) == 1
    opinion = 3 + lenient + rng.normal(size=(n_texts, 1, n_criteria)) + place * leading
    weights = -((np.arange(1, n + 1) - opinion[..., None]) ** 2) / 2
    at_first = np.arange(1, n + 1) == levels[:, :, :1]
    weights = weights + ((first + together * leading)[..., None] * at_first[:, :, None, :])
    values = (weights + rng.gumbel(size=weights.shape)).argmax(axis=-1) + 1.0
    return criteria_table(values, shown, levels=levels)


def interaction_in_points(reads, n=5):
    """p-value of products of the two orders on the score, as it would be tested without a thought of its ends."""
    columns = crossed_orders.terms(reads, n)
    main = np.hstack(list(columns.values()))
    products = (columns["criterion_order"][:, :, None] * columns["level_order"][:, None, :]).reshape(len(reads), -1)
    block = pd.factorize(reads["unit_id"] + reads["criterion"])[0]
    group = pd.factorize(reads["group_id"])[0]
    return fixed_effects.no_effect(reads["score"].to_numpy(dtype=float), products, main, block, group)


def test_axes_that_add_up_in_log_odds_act_apart_also_near_the_end_of_the_scale():
    rng = np.random.default_rng(5)
    studies = [in_log_odds(60, 3, rng=rng, lenient=0.5) for _ in range(40)]
    assert np.mean([interaction_in_points(reads) < 0.05 for reads in studies]) > 0.8
    apart = [crossed_orders.act_apart(crossed_orders.pairs_of_reads(reads, 5)) for reads in studies]
    assert np.mean(np.array(apart) < 0.05) <= 0.15
    together = [in_log_odds(120, 3, rng=rng, lenient=0.0, together=2.0) for _ in range(8)]
    found = [crossed_orders.act_apart(crossed_orders.pairs_of_reads(reads, 5)) for reads in together]
    assert np.mean(np.array(found) < 0.05) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("lenient", [0.0, 1.0, 2.0])
def test_the_test_of_log_odds_keeps_its_level(lenient):
    rng = np.random.default_rng(6)
    studies = (in_log_odds(60, 3, rng=rng, lenient=lenient) for _ in range(600))
    found = [crossed_orders.act_apart(crossed_orders.pairs_of_reads(reads, 5)) for reads in studies]
    assert 0.03 <= np.mean(np.array(found) < 0.05) <= 0.07


def test_shares_of_a_hand_worked_case():
    # Levels as 1 2 3, then as 3 1 2. Wit is first with level 1 (position 1) and second with 2 (position 3).
    reads = criteria_table(
        np.array([[[1, 3], [2, 2]]], dtype=float), [[1, 2], [2, 1]], n=3, levels=[[[1, 2, 3], [3, 1, 2]]]
    )
    found = estimate(reads)
    shares = found[found["quantity"] == "share"].pivot(
        index="criterion_position", columns="position", values="estimate"
    )
    assert shares.to_numpy().tolist() == [[0.5, 0, 0.5], [0, 0, 1]]
    v = found[found["quantity"] == "cramers_v"]["estimate"].tolist()
    assert v == pytest.approx([math.sqrt(3 * (2 / 36 + 1 / 9) / 2), 1])
    assert found[found["quantity"] == "same_selection"]["p"].isna().all()  # one group says nothing
    assert found["ci_low"].isna().all()


@pytest.mark.parametrize("strategy", ["balanced", "random"])
@pytest.mark.slow
def test_axes_that_act_apart_are_called_orthogonal_at_the_nominal_rate(strategy):
    rng = np.random.default_rng(1)
    found = pd.DataFrame(
        [p_values(crossed(40, 3, rng=rng, first=0.2, place=0.3, strategy=strategy)) for _ in range(60)]
    )
    assert (found["same_selection"] < 0.05).mean() <= 0.13
    assert (found[["criterion_order", "level_order"]] < 0.05).mean().min() > 0.8


@pytest.mark.slow
def test_without_effects_no_axis_is_found():
    rng = np.random.default_rng(2)
    found = pd.DataFrame([p_values(crossed(40, 3, rng=rng)) for _ in range(100)])
    assert (found[["criterion_order", "level_order", "interaction", "same_selection"]] < 0.05).mean().max() <= 0.12


def test_a_pull_of_the_first_level_on_the_first_criterion_alone_is_an_interaction():
    rng = np.random.default_rng(3)
    for _ in range(3):
        found = p_values(crossed(120, 3, rng=rng, together=0.4))
        assert found["interaction"] < 1e-3
        assert found["same_selection"] < 1e-3


def test_reads_without_levels_and_fixed_orders_are_left_out():
    rng = np.random.default_rng(4)
    reads = crossed(6, 3, rng=rng)
    plain = reads.assign(levels=[[]] * len(reads), judge="plain")
    found = estimate(pd.concat([reads, plain, reads.assign(strategy="fixed")]))
    assert found["judge"].unique().tolist() == ["j"]
    assert found["strategy"].unique().tolist() == ["balanced"]
    assert estimate(plain).dtypes.equals(found.dtypes)
