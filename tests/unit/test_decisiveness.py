"""Counts and decisiveness: by hand."""

import json

import numpy as np
import pytest
from factories import score_table

from rubric_order.analyses.position.decisiveness import estimate as decisiveness
from rubric_order.prompts import orderings


def test_counts_and_shares_are_those_of_a_small_table():
    shown = orderings.rotations(3)
    probabilities = [[[0.2, 0.3, 0.5]] * 3, [[0.1, 0.8, 0.1]] * 3]
    table = score_table([[3, 3, 2], [2, None, 2]], n=3, shown=shown, probabilities=probabilities, per_group=1)
    (row,) = decisiveness.estimate(table).to_dict("records")
    assert (row["n_items"], row["n_groups"], row["n_reads"], row["n_failed"], row["n_orderings"]) == (2, 2, 5, 1, 3)
    assert row["crossed"]
    assert row["failures"] == '{"no_score": 1}'
    assert (row["commonest_score"], row["commonest_share"]) == (2, pytest.approx(3 / 5))
    assert row["discordant_share"] == pytest.approx(2 / 4)  # three pairs of the first item, one of the second
    assert row["top_probability"] == pytest.approx((3 * 0.5 + 3 * 0.8) / 6)  # the failed read has probabilities too


def test_one_ordering_is_not_crossed_and_reads_without_a_score_have_no_commonest():
    table = score_table([[None], ["empty"]], n=3, shown=[[1, 2, 3]], strategy="single", soft=False)
    (row,) = decisiveness.estimate(table).to_dict("records")
    assert not row["crossed"]
    assert (row["n_reads"], row["n_failed"]) == (0, 2)
    assert json.loads(row["failures"]) == {"no_score": 1, "empty": 1}
    (row,) = decisiveness.estimate(table.drop(columns="failure")).to_dict("records")
    assert row["failures"] == "{}"
    assert np.isnan(row["commonest_share"])
    assert np.isnan(row["top_probability"])
