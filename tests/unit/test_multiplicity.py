"""Adjusted p-values: against hand-worked cases, scipy, and the procedures as they are defined."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rubric_order.methods.uncertainty import multiplicity

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def plain_holm(p, level):
    """Holm's procedure: from the smallest p up, reject while p <= level / (tests that are left)."""
    rejected = [False] * len(p)
    for step, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[place] * (len(p) - step) > level:
            break
        rejected[place] = True
    return rejected


def test_hand_worked_cases():
    p = np.array([0.04, 0.01, 0.03])
    # Sorted 0.01 x 3, 0.03 x 2, 0.04 x 1, none below an earlier one.
    assert multiplicity.holm(p) == pytest.approx([0.06, 0.03, 0.06])
    # Sorted 0.01 x 3/1, 0.03 x 3/2, 0.04 x 3/3, none above a later one.
    assert multiplicity.benjamini_hochberg(p) == pytest.approx([0.04, 0.03, 0.04])


@given(P_VALUES)
def test_benjamini_hochberg_agrees_with_scipy(p):
    assert multiplicity.benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))


@given(P_VALUES, st.floats(0.001, 0.999))
def test_holm_rejects_what_its_procedure_rejects(p, level):
    adjusted = multiplicity.holm(np.array(p))
    close = np.abs(adjusted - level) < 1e-9  # up to rounding at the level itself
    assert ((adjusted <= level) == plain_holm(p, level))[~close].all()


@given(P_VALUES)
def test_adjusted_values_are_between_the_p_value_and_that_of_bonferroni(p):
    p = np.array(p)
    holm, bh = multiplicity.holm(p), multiplicity.benjamini_hochberg(p)
    assert (p <= bh + 1e-12).all()
    assert (bh <= holm + 1e-12).all()
    assert (holm <= np.minimum(p * len(p), 1) + 1e-12).all()


def test_a_missing_p_value_does_not_count_and_stays_missing():
    for adjust in (multiplicity.holm, multiplicity.benjamini_hochberg):
        found = adjust([0.02, np.nan, 0.5])
        assert found[[0, 2]] == pytest.approx(adjust([0.02, 0.5]))
        assert np.isnan(found[1])
    assert np.isnan(multiplicity.holm([np.nan])).all()


def test_a_table_is_adjusted_within_each_family():
    table = pd.DataFrame({"study": list("aabba"), "p": [0.01, 0.02, 0.03, 0.04, np.nan]}, index=[3, 1, 4, 0, 9])
    found = multiplicity.adjust(table)
    assert found["p_holm"].tolist()[:4] == pytest.approx([0.02, 0.02, 0.06, 0.06])
    assert found["p_bh"].tolist()[:4] == pytest.approx([0.02, 0.02, 0.04, 0.04])
    assert found["n_tests"].tolist()[:4] == [2, 2, 2, 2]
    assert found[["p_holm", "p_bh", "n_tests"]].iloc[4].isna().all()
    assert multiplicity.adjust(table.head(0))["p_holm"].empty


def test_a_family_is_one_question_asked_of_all_judges_datasets_and_scales():
    table = pd.DataFrame(
        [
            ("a", "x", "balanced", "pearson", "all", 0.01),
            ("b", "x", "balanced", "pearson", "all", 0.02),
            ("b", "y", "balanced", "pearson", "all", 0.04),
            ("a", "x", "balanced", "pearson", "wit", 0.01),  # criteria one by one
            ("a", "x", "random", "pearson", "all", 0.01),  # another strategy
            ("a", "x", "balanced", "spearman", "all", 0.01),  # another quantity
        ],
        columns=["judge", "dataset", "strategy", "quantity", "criterion", "p"],
    )
    found = multiplicity.adjust(table.assign(study="s", condition="baseline"))
    assert found["n_tests"].tolist() == [3, 3, 3, 1, 1, 1]
    assert found["p_holm"].tolist() == pytest.approx([0.03, 0.04, 0.04, 0.01, 0.01, 0.01])
    renamed = multiplicity.adjust(table.rename(columns={"p": "p_cluster"}), "p_cluster", name="p_cluster")
    assert renamed["p_cluster_bh"].tolist()[:3] == pytest.approx([0.03, 0.03, 0.04])


def test_datasets_together_are_another_question_than_each_of_them():
    table = pd.DataFrame({"dataset": ["x", "y", "all", "all", "mean"], "p": [0.01, 0.02, 0.03, 0.04, 0.05]})
    found = multiplicity.adjust(table)
    assert found["n_tests"].tolist() == [2, 2, 3, 3, 3]
    assert found["p_holm"].tolist() == pytest.approx([0.02, 0.02, 0.09, 0.09, 0.09])
    compared = multiplicity.adjust(table.assign(dataset="x", compared=["judge", "judge", "profile", "n", "n"]))
    assert compared["n_tests"].tolist() == [2, 2, 1, 2, 2]


def test_each_piece_of_advice_is_a_question_and_so_is_the_mean_over_judges():
    table = pd.DataFrame(
        [
            ("letter", "judge", "a", "x", 0.01),
            ("letter", "judge", "b", "x", 0.02),
            ("roman", "judge", "a", "x", 0.01),
            ("letter", "judge", "a", "all", 0.03),
            ("letter", "mean", "all", "all", 0.04),
        ],
        columns=["advice", "term", "judge", "dataset", "p"],
    )
    found = multiplicity.adjust(table.assign(study="s", quantity="pearson"))
    assert found["n_tests"].tolist() == [2, 2, 1, 1, 1]
    assert found["p_holm"].tolist() == pytest.approx([0.02, 0.02, 0.01, 0.03, 0.04])


def test_tests_that_nothing_tells_apart_are_one_family():
    table = multiplicity.adjust(pd.DataFrame({"p": [0.01, np.nan, 0.04]}))
    assert table["p_holm"].dropna().tolist() == pytest.approx([0.02, 0.04])
    assert table["n_tests"].tolist() == [2, pd.NA, 2]
