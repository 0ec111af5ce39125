"""Two judges compared: equal ones seldom differ, different ones do, and mistakes are named."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.library import comparison
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation


def read_twice(judges, seed, *, groups=40, candidates=2):
    """Reads of the same items, each judge's drawn anew from its probabilities, as plain tables."""
    rng, found = np.random.default_rng(seed), []
    for judge in judges:
        (reads,) = studies.read_items(
            judge, n=5, strategies=["balanced"], groups=groups, candidates=candidates, seed=seed
        ).values()
        sums = reads.probabilities.cumsum(axis=-1)
        place = (rng.random((*sums.shape[:2], 1)) * sums[..., -1:] > sums).sum(axis=-1)
        score = np.take_along_axis(reads.shown, place[..., None], axis=-1).ravel()
        item = np.repeat(np.arange(len(sums)), sums.shape[1])
        shown = [" ".join(map(str, row)) for row in reads.shown.reshape(-1, 5)]
        found.append(pd.DataFrame({"item": item, "group": item // candidates, "ordering": shown, "score": score}))
    return found


def test_judges_that_differ_are_found_and_what_they_differ_in(tmp_path):
    one, other = read_twice([Simulation(preference="first"), Simulation()], 1)
    found = comparison.compare(one, other)
    assert found.verdict == "different"
    assert "first less last position" in found.reasons[0]
    (first_last,) = [each for each in found.differences if each.quantity == "first_last"]
    assert first_last.estimate == pytest.approx(first_last.of_one - first_last.of_other)
    assert first_last.low < 1 < first_last.high
    turned = comparison.compare(other, one)
    for each, back in zip(found.differences, turned.differences, strict=True):
        assert (back.estimate, back.low, back.high) == pytest.approx((-each.estimate, -each.high, -each.low))
    one.to_csv(tmp_path / "one.csv", index=False)
    other.to_csv(tmp_path / "other.csv", index=False)
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "one.csv"), str(tmp_path / "other.csv"), "--json"])
    assert json.loads(done.stdout) == json.loads(json.dumps(found.to_dict()))


def test_only_items_that_both_have_read_count_and_two_judges_may_share_a_file():
    one, other = read_twice([Simulation(), Simulation()], 2)
    both = pd.concat([one.assign(judge="a"), other[other["item"] < 70].assign(judge="b")])
    found = comparison.compare(both)
    assert (found.one, found.other, found.n_items, found.n_groups) == ("a", "b", 70, 35)
    few = comparison.compare(one[one["item"] < 20], other)
    assert few.verdict == "no difference found"
    assert "10 groups" in few.reasons[0]


def test_what_cannot_be_compared_is_named():
    one, other = read_twice([Simulation(), Simulation()], 3, groups=2)
    for tables, message in (
        ((one,), "expected two judges"),
        ((one, other.assign(item="x" + other["item"].astype(str))), "no item in common"),
        ((one, pd.DataFrame({"item": [0], "ordering": ["1 2"], "score": [1]})), "5 and 2 score levels"),
    ):
        with pytest.raises(InputError, match=message):
            comparison.compare(*tables)


@pytest.mark.slow
def test_a_judge_seldom_differs_from_itself():
    judge = Simulation(preference="first", group_positions=0.5)
    words = [comparison.compare(*read_twice([judge, judge], seed)).verdict for seed in range(200)]
    assert words.count("different") <= 10 + 6  # 5%, and two standard errors of 200 comparisons
