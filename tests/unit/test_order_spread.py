"""Spread of single items over orderings: by hand, beside another estimator, and where preferences run with the item."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from factories import score_table
from scipy import special

from rubric_order.analyses.agreement.ordering_subsets import estimate as ordering_subsets
from rubric_order.analyses.position.order_spread import estimate as order_spread
from rubric_order.analyses.position.order_spread import table as table_of_spread
from rubric_order.analyses.position.within_item_deviation import estimate as within_item_deviation
from rubric_order.base.intervals import Interval
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.cards import card
from rubric_order.cards import spread as of_card
from rubric_order.library import estimates
from rubric_order.methods.position import spread
from rubric_order.prompts import orderings

DEMO = Path(__file__).parents[2] / "docs" / "data" / "smollm2_demo.parquet"
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
    (made,) = card.cards(estimates.card_statistics(scores))
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
    printed = table_of_spread.TABLE.printout(table_of_spread.TABLE.table(found, study="s"))
    assert [*printed["readout"]] == ["selected option", "option probabilities"]
    assert printed["SD between items"].iloc[0] == "not known"
    assert printed["known from"].tolist() == ["", "option probabilities"]


TWO = [[1, 2], [2, 1]]


def few_orderings(table, *, margin=0.1, readout="hard", **options):
    """Rows of one read and of the orderings that suffice; None where nothing is said."""
    options = {"confidence": 0.95, "level": 0.05, "margin": margin, "clusters": ["group"]} | options
    rows = order_spread.estimate(table, **options).query("readout == @readout").set_index("quantity")
    return (rows.loc["one_read"], rows.loc["needed"]) if "needed" in rows.index else None


def test_the_error_of_few_orderings_by_hand():
    """Scores 1 and 3 in two orderings: one read misses the mean of 2 by 1, both miss nothing."""
    means, times = np.array([[1.0, 3.0], [2.0, 2.0]]), np.ones((2, 2))
    exact, _ = spread.single_reads(means, 0 * means, times, np.arange(2), known=True)
    assert spread.squared_errors(exact, 1, 2) == pytest.approx([1, 0])
    assert spread.squared_errors(exact, 2, 2) == pytest.approx([0, 0])
    # The first item's means are of four reads each, which differ by chance with a variance of 2 (0.5 of their mean):
    # orderings differ by 2 - 0.5, so a read in one of them misses the mean by 1.5 / 2 and by 2, both by 2 / 2.
    noise = np.array([[0.5, 0.5], [0.0, 0.0]])
    drawn, same = spread.single_reads(means, noise, 4 * times, np.arange(2), known=True)
    assert drawn is same
    assert spread.squared_errors(drawn, 1, 2) == pytest.approx([2.75, 0])
    assert spread.squared_errors(drawn, 2, 2) == pytest.approx([1, 0])
    # Where chance is not known it is nothing, or all that is left beside shifts that items share: here of two items
    # +-0.5 each, and the error of the shift as much again.
    most, least = spread.single_reads(means, means * np.nan, times, np.arange(2), known=False)
    assert least.variance == pytest.approx([2, 0])
    assert least.chance == pytest.approx([0, 0])
    assert most.variance == pytest.approx([2, 0])
    assert most.chance.mean() == pytest.approx(0.5 + 0.5)


def test_reads_that_differ_by_their_ordering_alone_need_every_ordering_for_no_error():
    table = score_table([[1, 2]] * 4, shown=TWO, n=2, per_group=1)
    one, needed = few_orderings(table)
    assert (one["estimate"], needed["estimate"], needed["n_orderings"]) == (0.5, 2, 2)
    assert few_orderings(table, margin=0.5)[1]["estimate"] == 1
    # One ordering gives 1 or 2 by chance, the other always 2: variances 0.5 and 0, read twice each.
    twice = score_table([[1, 2, 2, 2]] * 4, shown=[TWO[0], TWO[1], TWO[0], TWO[1]], n=2, per_group=1, soft=False)
    one, needed = few_orderings(twice, margin=0.36)
    assert one["known_from"] == "repeats"
    assert (one["estimate"], needed["estimate"]) == pytest.approx((0.5, 2))
    assert few_orderings(twice, margin=0.35)[1]["estimate"] == np.inf  # both miss by the root of 0.125


@pytest.mark.parametrize("known", [True, False])
def test_few_orderings_have_the_errors_that_ordering_subsets_finds(known):
    weights, shown = by_length(90, 5, 2.0)
    weights[:, :, 0] += 1.0  # a shift that all items share
    group = np.repeat(np.arange(30), np.resize([1, 2, 6], 30))[:90]
    table = reads(weights, shown, group=group, soft=known)
    temperatures = {"j": {DEFAULT_PROFILE: 1.0}} if known else {}
    for readout, margin in [("hard", 0.1), ("hard", 0.3), *([("soft", 0.1), ("soft", 0.2)] if known else [])]:
        one, needed = few_orderings(table, margin=margin, readout=readout, temperatures=temperatures)
        of = {"resamples": 20, "confidence": 0.95, "seed": 1, "target_error": margin, "temperatures": temperatures}
        rows = ordering_subsets.estimate(table, **of).query("design == 'random' and readout == @readout")
        (other,) = rows.query("quantity == 'rmse' and k == 1").to_dict("records")
        columns = ["estimate", "ci_low", "ci_high"]
        if not known:
            other["ci_low"] = rows.query("quantity == 'rmse_least' and k == 1")["ci_low"].iloc[0]
        assert one["estimate"] == pytest.approx(other["estimate"], rel=1e-9 if known else 2e-3)
        assert [*one[columns]] == pytest.approx([other[name] for name in columns], rel=0.01)
        (other,) = rows.query("quantity == 'needed'").to_dict("records")
        assert [*needed[columns]] == pytest.approx(
            [np.inf if np.isnan(other[name]) else other[name] for name in columns]
        )


def test_a_judge_that_no_ordering_moves_needs_one():
    weights, shown = by_length(200, 5, 0.0)
    one, needed = few_orderings(reads(weights, shown, group=np.arange(200) // 4), readout="soft")
    assert [*one[["estimate", "ci_low", "ci_high"]]] == [0, 0, 0]
    assert [*needed[["estimate", "ci_low", "ci_high", "low", "high"]]] == [1] * 5


def test_nothing_is_said_of_orderings_that_items_do_not_share():
    weights, shown = by_length(80, 5, 1.0)
    table = reads(weights, shown, group=np.arange(80))
    assert few_orderings(table) is not None
    rng = np.random.default_rng(1)
    own = np.concatenate([rng.permutation(10) for _ in range(80)])
    for most, is_said in ((10, True), (9, False), (6, False), (3, False)):  # reads of an item, in orderings of its own
        part = table[own < most].reset_index(drop=True)
        assert (few_orderings(part) is not None) == is_said
    # Not every score at every position.
    assert order_spread.estimate(
        reads(weights[:, :3], shown[:3], group=np.arange(80), strategy="recorded"), **OPTIONS
    ).empty
    # Reads that failed were asked: of the others the errors are what they were.
    failed = table.assign(expected_score=table["expected_score"].mask(rng.random(len(table)) < 0.1))
    before, after = (few_orderings(of, readout="soft")[0]["estimate"] for of in (table, failed))
    assert after == pytest.approx(before, rel=0.05)


def test_a_card_says_how_many_orderings_suffice():
    weights, shown = by_length(200, 5, 2.0)
    table = reads(weights, shown, group=np.arange(200) // 2)
    (made,) = card.cards(estimates.card_statistics(table))
    name = (
        "Orderings, chosen at random, that are enough to come within 0.1 points of the mean of all, by option "
        "probabilities"
    )
    one, needed = few_orderings(table, readout="soft")
    low, high = int(needed["ci_low"]), int(needed["ci_high"])
    assert 1 < low <= needed["estimate"] <= high < 10
    assert dict(card.facts(made.evidence))[name] == f"{int(needed['estimate'])} [{low}, {high}] of 10"
    content = made.to_dict()["single_items"]
    assert content["one_read"] == one["estimate"]
    assert (content["orderings_needed"], content["orderings_needed_low"]) == (needed["estimate"], low)
    assert (content["orderings_read"], content["orderings_suffice"], content["orderings_at_most"]) == (10, True, False)
    (made,) = card.cards(estimates.card_statistics(reads(weights, shown, group=np.arange(200) // 2, soft=False)))
    words = dict(card.facts(made.evidence))[name.partition(", by")[0]]
    assert words == f"not known: needs {of_card.REPEATS}"
    content = made.to_dict()["single_items"]
    assert (content["orderings_needed"], content["orderings_suffice"], content["orderings_at_most"]) == (
        None,
        False,
        True,
    )


def test_the_card_of_the_demo_has_the_number_that_the_docs_name():
    scores = pd.read_parquet(DEMO).query("strategy == 'balanced'").reset_index(drop=True)
    (made,) = card.cards(estimates.card_statistics(scores))
    value = of_card.facts(made.evidence.spread)[-1][1]
    page = " ".join((DEMO.parents[1] / "start.md").read_text(encoding="utf-8").split())
    assert f"In the card of the demo, the line has `{value}`" in page


def test_a_cause_of_one_finding_does_not_deny_another():
    """In the demo, one ordering explains the interaction, and positions are preferred without it, too."""
    scores = pd.read_parquet(DEMO).query("strategy == 'balanced'").reset_index(drop=True)
    (made,) = card.cards(estimates.card_statistics(scores))
    reasons = " ".join(made.verdict.reasons)
    assert "Position 5 adds +0.46" in reasons
    assert "Without ordering 2 3 4 5 1, no test finds that positions differ for high and low scores" in reasons
    assert "finds a preference" not in reasons


@pytest.mark.parametrize(
    ("needed", "at_most", "words"),
    [
        (Interval(4, 3, 6), False, "4 [3, 6] of 10"),
        (Interval(4, 3, np.inf), True, "at most 4 [3, more] of 10"),
        (Interval(4), False, "4 of 10"),
        (Interval(np.inf, 9, np.inf), False, "more than the 10 that were read [9, more]"),
        (Interval(np.inf, np.inf, np.inf), False, "more than the 10 that were read"),
        (Interval(np.inf), True, f"not known: needs {of_card.REPEATS}"),
        (Interval(), False, "not known: needs items that share their orderings, and repeats that are no copies"),
    ],
)
def test_more_orderings_than_were_read_are_no_number(needed, at_most, words):
    of = of_card.Spread("hard", margin=0.25, needed=needed, orderings=10, at_most=at_most)
    name, value = of_card.facts(of)[-1]
    assert name == "Orderings, chosen at random, that are enough to come within 0.25 points of the mean of all"
    assert value == words
    json.dumps(of_card.content(of), allow_nan=False)
