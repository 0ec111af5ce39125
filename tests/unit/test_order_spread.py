"""Spread of single items over orderings: by hand, beside another estimator, and where preferences run with the item."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

from rubric_order.analyses.position.order_spread import estimate as order_spread
from rubric_order.analyses.position.order_spread import table as table_of_spread
from rubric_order.analyses.position.within_item_deviation import estimate as within_item_deviation
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.cards import card
from rubric_order.library import estimates
from rubric_order.methods.position import spread
from rubric_order.prompts import orderings

OPTIONS = {"confidence": 0.95, "level": 0.05, "margin": 0.1}


def reads(weights, shown, *, group, candidates=None, hard=True, soft=True, repeats=1, seed=1, strategy="balanced"):
    """Scores of a judge with these log-weights of each score, by item and ordering.

    Args:
        weights: log-weight of the score at each position, shape (m, D, n). shown: orderings, shape (D, n).
        group: of each item. candidates: of each item its candidate; each item its own by default.
    """
    m, d, n = weights.shape
    rng = np.random.default_rng(seed)
    shares = np.repeat(special.softmax(weights, axis=2), repeats, axis=1).reshape(-1, n)
    rows = np.tile(np.repeat(shown, repeats, axis=0), (m, 1))
    place = (shares.cumsum(axis=1) < rng.random((len(shares), 1))).sum(axis=1)
    score = np.take_along_axis(rows, place[:, None], axis=1)[:, 0]
    items = np.repeat(np.arange(m), d * repeats)
    table = pd.DataFrame({"item_id": [f"i{item:05d}" for item in items]})
    table["group_id"] = [f"g{number:05d}" for number in np.repeat(group, d * repeats)]
    table["candidate"] = np.repeat(np.arange(m) if candidates is None else candidates, d * repeats).astype(str)
    table = table.assign(criterion="c", human_score=np.nan, read_index=np.tile(np.arange(d * repeats), m))
    table["ordering"] = list(rows)
    table["score"] = pd.array(score if hard else [None] * len(score), dtype="Int8")
    table["position"] = pd.array(place + 1 if hard else [None] * len(score), dtype="Int8")
    table["expected_score"] = (shares * rows).sum(axis=1) if soft else np.nan
    table["position_probabilities"] = list(shares) if soft else None
    keys = {"study": "s", "judge": "j", "profile": DEFAULT_PROFILE, "condition": BASELINE, "dataset": "d"}
    return table.assign(**keys, strategy=strategy, n=n)


def by_length(m, n, strength, *, seed=1, tolerance=0.75):
    """Log-weights of a judge that prefers late positions for long texts and early ones for short texts."""
    rng = np.random.default_rng(seed)
    shown = orderings.balanced(n)
    opinion, length = 3 + rng.normal(size=m), rng.normal(size=m)
    value = np.linspace(1, 5, n)[shown - 1]
    fits = -((value[None] - opinion[:, None, None]) ** 2) / (2 * tolerance**2)
    return fits + strength * (length - length.mean())[:, None, None] * np.linspace(-0.5, 0.5, n), shown


def chosen(table, quantity, *, readout, cluster="group"):
    (row,) = table.query("quantity == @quantity and readout == @readout and cluster == @cluster").to_dict("records")
    return row


def test_the_spread_of_three_items_by_hand():
    # Departures from the item's mean +-1, -+1 and 0: no mean shift, variances over the orderings 1, 1 and 0.
    values = np.array([[1.0, 3.0], [3.0, 1.0], [2.0, 2.0]])
    own, whole, added = spread.item_variances(values, np.zeros((3, 2)), np.arange(3), shared=True)
    assert own == pytest.approx([1.0, 1.0, 0.0])
    assert whole == pytest.approx(own)
    # Shifts are means of -1, 1 and 0 over three items: variance 2/3 / 3, times 3/2 for the one level that is estimated.
    assert added == pytest.approx(2 / 3 / 3 * 3 / 2)
    own, whole, _ = spread.item_variances(values, np.full((3, 2), 0.5), np.arange(3), shared=True)
    assert whole - own == pytest.approx(np.full(3, 0.25))


def test_a_shift_that_all_items_share_is_no_spread():
    values = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 5.0], [0.0, 1.0, np.nan]])
    own, _, added = spread.item_variances(values, np.zeros((3, 3)), np.arange(3), shared=True)
    assert own == pytest.approx(np.zeros(3), abs=1e-18)
    assert added == pytest.approx(0, abs=1e-18)


def test_scores_that_another_ordering_changes_by_hand():
    shares = np.array([[[0.5, 0.5], [0.75, 0.25], [0.5, 0.5]]])
    assert spread.moved_by_probabilities(shares, 0) == pytest.approx([0.125])
    # Twice score 1 in one ordering, once each in the other: half of the pairs between differ, a quarter within.
    times = np.array([[[2.0, 0.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]])
    assert spread.moved_by_chance(times) == pytest.approx(np.array([[0, 1], [0, 0]]))
    assert spread.moved_by_repeats(times, 0) == pytest.approx([0.0, 1.0])


def test_of_repeats_the_spread_is_the_interaction_of_the_other_split():
    weights, shown = by_length(300, 3, 2.0)
    scores = reads(weights, shown, group=np.arange(300) // 2, soft=False, repeats=2, strategy="repeated_rotations")
    found = chosen(order_spread.estimate(scores, **OPTIONS), "spread", readout="hard")
    other = within_item_deviation.estimate(scores, confidence=0.95)
    (interaction,) = other.query("quantity == 'interaction' and cluster == 'group'")["estimate"]
    assert found["known_from"] == "repeats"
    assert found["estimate"] ** 2 == pytest.approx(interaction, rel=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_judge_whose_preference_runs_with_the_length_is_not_equivalent(n):
    weights, shown = by_length(800, n, 2.0 if n > 2 else 4.0)
    scores = reads(weights, shown, group=np.arange(800) // 2)
    (made,) = card.cards(estimates.of_card(scores))
    found = made.evidence.spread
    expected = (special.softmax(weights, axis=2) * shown).sum(axis=2)
    departures = expected - expected.mean(axis=1, keepdims=True)
    assert found.sd[0] == pytest.approx(departures.std(axis=0).mean(), rel=0.05)
    assert found.sd[1] > 0.1  # the margin
    assert made.verdict.word != "equivalent"
    assert "Beyond chance" in made.verdict.reasons[1]


@pytest.mark.parametrize(("n", "groups"), [(2, 200), (5, 200)])
def test_a_judge_that_no_ordering_moves_has_no_spread_at_all(n, groups):
    weights, shown = by_length(4 * groups, n, 0.0)
    found = order_spread.estimate(reads(weights, shown, group=np.arange(4 * groups) // 4), **OPTIONS)
    for quantity in ("spread", "changed", "best_changed"):
        row = chosen(found, quantity, readout="soft")
        assert (row["estimate"], row["ci_low"], row["ci_high"]) == (0, 0, 0)
    assert chosen(found, "spread", readout="soft")["verdict"] == "shown"


def test_single_reads_do_not_tell_the_order_from_chance():
    weights, shown = by_length(200, 5, 0.0)
    found = order_spread.estimate(reads(weights, shown, group=np.arange(200), soft=False), **OPTIONS)
    row = chosen(found, "spread", readout="hard")
    assert np.isnan(row["estimate"])
    assert row["verdict"] == "undecided"
    assert chosen(found, "within", readout="hard")["estimate"] > 0.5
    # Scores that never differ are not moved, whatever chance does.
    found = order_spread.estimate(reads(1e6 * weights, shown, group=np.arange(200), soft=False), **OPTIONS)
    assert chosen(found, "within", readout="hard")["verdict"] == "shown"


def test_best_candidates_that_change_are_counted_by_group():
    shown = orderings.balanced(2)[:2]
    # Two groups of two: in the first the better candidate depends on the ordering, in the second it does not.
    weights = np.array([[[9, 0], [9, 0]], [[0, 9], [0, 9]], [[0, 9], [9, 0]], [[9, 0], [0, 9]]], dtype=float)
    table = reads(np.tile(weights, (20, 1, 1)), shown, group=np.arange(80) // 2, candidates=np.arange(80) % 2)
    found = chosen(order_spread.estimate(table, **OPTIONS), "best_changed", readout="soft")
    assert found["estimate"] == pytest.approx(0.5)
    assert found["n_items"] == 40


def test_the_table_says_what_is_not_known():
    weights, shown = by_length(60, 3, 1.0)
    found = order_spread.estimate(reads(weights, shown, group=np.arange(60)), **OPTIONS)
    printed = table_of_spread.TABLE.for_print(table_of_spread.TABLE.table(found, study="s"))
    assert [*printed["readout"]] == ["selected option", "option probabilities"]
    assert printed["SD between items"].iloc[0] == "not known"
    assert printed["known from"].tolist() == ["", "option probabilities"]
