"""Judges against each other over the same comparisons, and self-preference."""

import numpy as np
import pytest
from factories import comparison_table
from scipy import special

from rubric_order.analyses.comparisons.judges_compared import estimate as judges_compared
from rubric_order.analyses.comparisons.judges_compared import table as compared_table

A, B, TIE, NONE = 1, 2, 0, None
STUDY = "judging_the_judges"


def estimated(tables, **families):
    return judges_compared.estimate(tables, confidence=0.95, forms={}, families=families)


def row(found, **chosen):
    for name, value in chosen.items():
        found = found[found[name] == value]
    (one,) = found.to_dict("records")
    return one


def test_differences_by_hand():
    x = comparison_table([(A, B), (A, A), (B, A), (A, NONE)], judge="x", task=["s", "s", "t", "t"])
    y = comparison_table([(A, A), (A, A), (B, A), (A, B)], judge="y", task=["s", "s", "t", "t"])
    found = estimated([x, y])
    whole = row(found, judge="x", task="all", quantity="position_consistency")
    # The last comparison does not count: x has no choice in one order.
    assert (whole["of_judge"], whole["of_other"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert whole["estimate"] == pytest.approx(1 / 3)
    assert whole["n_values"] == 3
    fairness = row(found, judge="x", task="s", quantity="preference_fairness")
    assert fairness["estimate"] == pytest.approx(-1 / 2 + 1)
    assert row(found, judge="y", task="s", quantity="preference_fairness")["estimate"] == pytest.approx(-1 / 2)


def test_paired_intervals_are_shorter_than_those_of_two_judges_apart():
    rng = np.random.default_rng(1)
    hard = rng.random(200) < 0.4
    verdicts = [[(A, A) if one else (A, B) for one in hard ^ (rng.random(200) < 0.03)] for _ in range(2)]
    found = estimated([comparison_table(rows, judge=name) for name, rows in zip("xy", verdicts, strict=True)])
    whole = row(found, judge="x", task="all", quantity="position_consistency")
    assert whole["ci_high"] - whole["ci_low"] < 0.12
    assert whole["ci_low"] < 0 < whole["ci_high"]


def test_intervals_stay_within_the_largest_difference_of_each_quantity():
    # One judge follows the candidate everywhere, the other chooses the first place, or the last.
    same, first, last = ([verdict] * 12 for verdict in ((A, B), (A, A), (B, B)))
    tables = [comparison_table(rows, judge=name) for name, rows in (("s", same), ("f", first), ("l", last))]
    found = estimated(tables)
    unseen = 1 - 0.025 ** (1 / 12)
    consistency = row(found, judge="s", other="f", task="all", quantity="position_consistency")
    assert [consistency[name] for name in ("ci_low", "estimate", "ci_high")] == pytest.approx([1 - 2 * unseen, 1, 1])
    fairness = row(found, judge="f", other="l", task="all", quantity="preference_fairness")
    assert abs(fairness["estimate"]) == pytest.approx(2)
    ends = sorted(abs(fairness[name]) for name in ("ci_low", "ci_high"))
    assert ends == pytest.approx([2 - 4 * unseen, 2])


def judged(name, likes, seed, *, questions=150):
    """A judge that adds to the log-odds of candidates whose names begin so."""
    rng = np.random.default_rng(seed)
    theta = np.array([0.3 + 0.9 * ("c01".startswith(likes)), -0.2 + 0.9 * ("c11".startswith(likes))])
    chance = special.expit(np.stack([0.2 - theta, 0.2 + theta], axis=1))
    rows = np.where(rng.random((questions, 2, 2)) < chance, A, B)
    return comparison_table(rows.reshape(-1, 2).tolist(), per_group=2, judge=name, tie=False)


def test_self_preference_is_found_where_it_is_and_not_where_it_is_not():
    tables = [judged("own", "c0", 1), judged("free", "none", 2), judged("third", "none", 3)]
    found = estimated(tables, own=["c0"], free=["c1"])
    own = found[found["quantity"] == "self_preference"]
    liking = special.expit(1.2) - special.expit(0.3)
    for other in ("free", "third", "all"):
        one = row(own, judge="own", other=other)
        assert one["ci_low"] > 0.05
        assert one["ci_low"] < liking < one["ci_high"]
    free = row(own, judge="free", other="third")
    assert free["ci_low"] < 0 < free["ci_high"]


def test_self_preference_by_hand():
    # Two candidates against the baseline; the first is of x's family. A tie is a half.
    x = comparison_table([(B, A), (A, B)], per_group=2, judge="x")
    y = comparison_table([(TIE, A), (B, A)], per_group=2, judge="y")
    one = row(estimated([x, y], x=["c01"]), quantity="self_preference")
    assert (one["of_judge"], one["of_other"], one["estimate"]) == (1, 0.75, 0.25)
    assert one["n_values"] == 2
    z = comparison_table([(A, B)], per_group=2, judge="z", first=10)  # of prompts that x has not read
    found = estimated([x, y, z], x=["c01"]).query("quantity == 'self_preference'")
    assert found[["judge", "other"]].values.tolist() == [["x", "y"]]


def test_self_preference_needs_both_orders():
    # The family stands first in the only order, and x likes the first place.
    x, y = (
        comparison_table(rows, per_group=2, judge=name) for name, rows in (("x", [(B, B)] * 4), ("y", [(A, A)] * 4))
    )
    once = [table[table["ordering"].map(lambda ordering: ordering[0] == 2)] for table in (x, y)]
    one = row(estimated(once, x=["c0"]), quantity="self_preference")
    assert np.isnan(one["estimate"])
    assert (one["flag"], one["n_values"]) == ("not identified", 0)
    gone = (x["unit_id"] == "u0000") & (x["read_index"] == 0)
    lost = x.assign(score=x["score"].mask(gone), position=x["position"].mask(gone))
    both = row(estimated([lost, y], x=["c0"]), quantity="self_preference")
    assert both["n_values"] == 2  # of two comparisons of the family, the one with a choice in both orders


def test_the_table_compares_with_one_judge():
    tables = [judged(name, "none", seed) for seed, name in enumerate("xyz")]
    found = estimated(tables, x=["c0"])
    rows = compared_table.TABLE.table(found, study=STUDY, reference="z")
    paired = rows[rows["quantity"] != "self_preference"]
    assert set(paired["other"]) == {"z"}
    assert set(paired["judge"]) == {"x", "y"}
    first = compared_table.TABLE.table(found, study=STUDY, reference=None)
    assert set(first.loc[first["quantity"] != "self_preference", "other"]) == {"x"}
    assert len(compared_table.TABLE.printout(rows)) == len(rows)
