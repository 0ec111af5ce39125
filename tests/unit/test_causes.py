"""Causes other than positions: each is found where it is planted, and not where it is absent; numbers by hand."""

import numpy as np
import pandas as pd
import pytest
from factories import random_scores

from rubric_order.library import estimates
from rubric_order.methods.position import blocks, causes
from rubric_order.prompts import orderings

ORDERINGS = [np.roll(np.arange(1, 6), -turn)[::side] for side in (1, -1) for turn in range(5)]
NAMES = [" ".join(map(str, ordering)) for ordering in ORDERINGS]


def rows(score, *, group=None, probabilities=None, repeats=1, second=None, stray=0, asked=None):
    """Rows of causes of a table of scores, items by orderings; NaN for a read without a score.

    `second` has further reads of each prompt. `stray` reads have an ordering of their own. `asked` is True for the
    reads that there are.
    """
    item, read = np.indices(score.shape).reshape(2, -1)
    group = np.arange(len(score)) if group is None else group
    columns = {"item": item, "group": group[item], "ordering": np.array(NAMES)[read], "score": score.ravel()}
    if probabilities is not None:
        columns |= {f"p_{level + 1}": probabilities[..., level].ravel() for level in range(5)}
    table = pd.concat([pd.DataFrame(columns)] * repeats, ignore_index=True)
    table = table if second is None else pd.concat([table, table.assign(score=second.ravel())], ignore_index=True)
    table.loc[: stray - 1, "ordering"] = "2 1 3 5 4"
    table = table if asked is None else table[asked.ravel()]
    (block,) = estimates.kept(estimates.scores_of(table)).blocks
    found = causes.causes(block)
    found = [row | {"cause": row["cause"] + " by position" * ("reach" in row)} for row in found]
    return {row["cause"]: row for row in found if row["readout"] == "hard" or row["cause"] in ("scale", "rounding")}


def drawn(seed, items=60, *, times=(1.0,) * 10, first=0.0, noise=None):
    """Scores drawn from probabilities, and these; `times` multiplies the log-odds of each ordering.

    `noise` is the seed of another draw from the same probabilities.
    """
    rng = np.random.default_rng(seed)
    quality = rng.uniform(1, 5, items)
    worth = -((np.arange(1, 6) - quality[:, None]) ** 2) / 2
    at = np.array([np.argsort(ordering) for ordering in ORDERINGS])  # position of each score
    logs = worth[:, None, :] * np.array(times)[:, None] + first * (at == 0) + 0.05 * rng.normal(size=(items, 10, 5))
    shares = np.exp(logs) / np.exp(logs).sum(axis=2, keepdims=True)
    rng = rng if noise is None else np.random.default_rng(noise)
    score = 1.0 + (shares.cumsum(axis=2) < rng.random((items, 10, 1))).sum(axis=2)
    return np.minimum(score, 5), shares


def test_repeats_that_never_differ_are_copies_only_where_orderings_differ():
    score, _ = drawn(1)
    assert rows(score, repeats=3)["copies"]["cells"] == 600
    assert "copies" not in rows(score)
    assert "copies" not in rows(np.repeat(score[:, :1], 10, axis=1), repeats=2)
    assert "copies" not in rows(score[:1], repeats=2)  # ten repeats can agree by chance


def test_copies_beside_a_few_true_repeats_are_seen():
    """Nine of ten rows stand in the table twice, one of ten prompts is read again; or all are."""
    one = drawn(1)[0]
    again = np.where(np.random.default_rng(1).random(one.shape) < 0.1, drawn(1, noise=2)[0], one)
    assert rows(one, second=again)["copies"]["cells"] == 600
    assert "copies" not in rows(one, second=drawn(1, noise=2)[0])


def test_the_commonest_score_is_counted_in_each_ordering():
    score = np.full((40, 10), 5.0)
    score[:16, 0] = 4.0
    assert rows(score)["saturation"]["least"] == pytest.approx(24 / 40)


def test_the_correlation_of_groups_is_that_of_products_by_hand():
    """Both items of each group gain 1 in the usual ordering, or none does: what orderings do is one thing a group."""
    score = np.full((40, 10), 3.0)
    score[:20, 0] = 4.0
    group = np.arange(40) // 2
    assert rows(score, group=group)["group"]["correlation"] == pytest.approx(1)
    split = np.full((40, 10), 3.0)
    split[::2, 0] = 4.0  # one item of each group gains, the other loses
    assert rows(split, group=group)["group"]["correlation"] == 0
    assert rows(score, group=np.r_[np.zeros(20, int), np.arange(1, 21)])["group"]["groups"] == pytest.approx(
        40**2 / (20**2 + 20)
    )


def test_failures_of_one_ordering_bound_its_shift_by_what_items_got_elsewhere():
    """Ten items score 2 and 4 by turns; five of them have no score in the usual ordering, where others score 3."""
    score = np.tile([3.0, 2, 4, 2, 4, 2, 4, 2, 4, 3], (40, 1))
    score[:20, 0] = np.nan
    row = rows(score)["failures"]
    assert row["p"] < 1e-3
    assert (row["ordering"], row["share"], row["others"]) == (NAMES[0], 0.5, 0.0)
    # Filled with 2 or 4: 20 of 40 items move by -1 or +1 less a tenth of it; at worst by -2 or +2.
    assert (row["low"], row["high"]) == pytest.approx((-0.45, 0.45))
    assert (row["worst_low"], row["worst_high"]) == pytest.approx((-0.9, 0.9))
    assert row["tests"]["usual"] > 0.5
    spread_out = np.tile([3.0, 2, 4, 2, 4, 2, 4, 2, 4, 3], (40, 1))
    spread_out[np.arange(40), np.arange(40) % 10] = np.nan
    assert "tests" not in rows(spread_out)["failures"]


@pytest.mark.parametrize(("stray", "in_each"), [(1, 10), (0, 4)])
def test_failures_by_ordering_are_tested_where_few_reads_or_all_have_orderings_of_their_own(stray, in_each):
    """The usual ordering loses low scores; one read has another ordering, or each item has four of ten orderings."""
    score = drawn(8, items=200)[0]
    score[1:, 0] = np.where(score[1:, 0] <= 2, np.nan, score[1:, 0])
    asked = np.random.default_rng(1).random(score.shape).argsort(axis=1).argsort(axis=1) < in_each
    row = rows(score, stray=stray, asked=asked)["failures"]
    assert (row["ordering"], row["p"] < 1e-3) == (NAMES[0], True)
    assert row["tests"]["points"] > 0.05


def test_failures_where_the_likely_score_stands_first_explain_a_preference():
    """A third of the answers at position 1 are lost, or of all answers of a judge that prefers position 1."""
    lost = np.random.default_rng(1).random((300, 10)) < 0.3
    score = drawn(9, items=300)[0]
    row = rows(np.where(lost & (score == [ordering[0] for ordering in ORDERINGS]), np.nan, score))[
        "failures by position"
    ]
    assert (row["position"], row["p"] < 1e-3) == (1, True)
    assert min(row["tests"]["preference"], row["tests"]["selection"]) > 0.05
    row = rows(np.where(lost, np.nan, drawn(9, items=300, first=1.0)[0]))["failures by position"]
    assert (row["p"] > 0.05, row["tests"]["preference"] < 1e-6) == (True, True)


def test_losses_at_one_position_explain_a_preference_where_other_reads_do_not_show_what_is_lost():
    """Coins in two orders, of which each answer at the first position is lost in 30%; or in 2%, beside a preference."""
    rng = np.random.default_rng(3)

    def row(share, first):
        turned = np.tile([False, False, True, True], (300, 1))
        at = np.where(rng.random(turned.shape) < first, 0, 1)
        score = np.where((at == 0) & (rng.random(at.shape) < share), np.nan, 1.0 + (at != turned))
        item = np.indices(score.shape)[0].ravel()
        names = np.where(turned, "2 1", "1 2").ravel()
        table = pd.DataFrame({"item": item, "group": item, "ordering": names, "score": score.ravel()})
        (block,) = estimates.kept(estimates.scores_of(table)).blocks
        return next(row for row in causes.causes(block) if "reach" in row)

    assert row(0.3, 0.5)["tests"]["preference"] > 0.05
    assert row(0.02, 0.7)["tests"]["preference"] < 1e-6


def test_a_scale_of_one_ordering_makes_no_preference():
    score, shares = drawn(2, times=np.where(np.arange(10) == 2, 2.0, 1.0))
    row = rows(score, probabilities=shares)["scale"]
    assert (row["ordering"], row["p"] < 1e-6) == (NAMES[2], True)
    assert 1.7 < row["times"] < 2.0  # less the mean over orderings, of which it is one
    assert row["tests"]["preference"] > 0.05
    row = rows(*drawn(2, first=0.3)[:1], probabilities=drawn(2, first=0.3)[1])["scale"]
    assert "preference" not in row.get("tests", {})


def test_a_shift_of_one_ordering_is_no_preference_for_a_position():
    """Nine orderings agree, and a fifth of the items gain a point in the usual one: without it nothing differs."""
    score = np.repeat(np.arange(1, 5).repeat(10)[:, None].astype(float), 10, axis=1)
    score[::5, 0] += 1
    row = rows(score)["one ordering"]
    assert (row["ordering"], row["tests"]["preference"]) == (NAMES[0], 1.0)
    assert "one ordering" not in rows(drawn(6, items=100, first=1.0)[0])


def test_a_position_is_not_told_from_one_of_fewer_than_five_orderings():
    five = np.tile(np.arange(10) < 5, (60, 1))
    assert "orderings" not in rows(drawn(6, first=1.0)[0], asked=five).get("one ordering", {})
    turns = {"shown": orderings.rotations(4), "strategy": "recorded"}
    (block,) = blocks.blocks(random_scores(1, n=4, n_items=30, n_reads=4, failing=0, **turns))
    (row,) = [row for row in causes.causes(block) if row["cause"] == "one ordering" and row["readout"] == "hard"]
    assert row["orderings"] == 4
    assert set(row["tests"].values()) == {1.0}


def test_one_decimal_is_too_coarse_and_two_are_not():
    score, shares = drawn(3)
    assert "rounding" not in rows(score, probabilities=shares)
    tenths = np.zeros_like(shares)
    tenths[..., 0], tenths[..., 1] = 0.3, 0.7
    assert "rounding" in rows(score, probabilities=tenths)


def test_written_scores_of_probability_0_are_counted():
    score, shares = drawn(3)
    assert "impossible" not in rows(score, probabilities=shares)
    place = score.astype(int) - 1
    chosen = np.take_along_axis(shares, place[..., None], axis=2)[..., 0]
    lost = chosen < np.median(chosen)
    none = np.where(lost[..., None] & (np.arange(shares.shape[2]) == place[..., None]), 0, shares)
    found = rows(score, probabilities=none / none.sum(axis=2, keepdims=True))["impossible"]
    assert found["share"] == pytest.approx(lost.mean())


def test_what_positions_add_to_written_scores_beyond_probabilities_has_its_size_and_bound():
    """Half of the items gain 1 log-odds at the first position, half lose it, and probabilities do not move."""
    score, shares = drawn(4, items=1200)
    row = rows(score, probabilities=shares)["written"]
    assert (row["bound"] < 0.1, row["low"]) == (True, 0.0)
    few = rows(score[:50], probabilities=shares[:50])["written"]
    assert few["bound"] > 0.1  # not seen, and not shown to be small
    moved = np.concatenate([drawn(seed, items=200, first=size)[0] for seed, size in ((5, 1.0), (5, -1.0))])
    weights = np.log(drawn(5, items=200)[1])
    at = np.array([np.argsort(ordering) for ordering in ORDERINGS])
    expected = []
    for size in (1.0, -1.0):
        odds = np.exp(weights + size * (at == 0))
        expected.append((odds / odds.sum(axis=2, keepdims=True)) @ np.arange(1, 6))
    truth = np.concatenate(expected)
    truth -= truth.mean(axis=0)
    truth = np.sqrt(np.square(truth - truth.mean(axis=1, keepdims=True)).mean())
    still = np.concatenate([drawn(5, items=200)[1]] * 2)
    row = rows(moved, probabilities=still)["written"]
    assert row["low"] > 0
    assert row["sd"] == pytest.approx(truth, rel=0.25)


@pytest.mark.parametrize(
    ("items", "lost", "groups"), [(1, 0, 1), (30, 300, 30), (30, 299, 30), (30, 290, 1), (30, 0, 1), (3, 15, 3)]
)
def test_causes_of_few_or_failed_reads_have_no_errors(items, lost, groups):
    score, shares = drawn(7, items=items)
    score.ravel()[:lost] = np.nan
    group = np.arange(items) % groups
    assert all("p" not in row or row["p"] >= 0 for row in rows(score, group=group).values())
    assert all("p" not in row or row["p"] >= 0 for row in rows(score, group=group, probabilities=shares).values())
