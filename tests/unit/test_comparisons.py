import numpy as np
import pandas as pd
import pytest

from rubric_order.parsing.choices import Choice
from rubric_order.probes import Question, _comparisons


def test_a_choice_is_a_candidate_wherever_it_stood_a_tie_a_ranking_or_nothing():
    two, three = Question("", ("A", "B"), "position"), Question("", ("A", "B", "C"), "position")
    reads = pd.DataFrame({"ordering": [[1, 2], [2, 1], [2, 1], [1, 2], [3, 1, 2]], "option_logprobs": [None] * 5})
    said = [Choice("A", "prompted"), Choice("A"), Choice("C"), Choice(None, reason="conflicting"), Choice("B>A>C")]
    asked = [(two,), (two,), (three,), (two,), (three,)]
    scores = _comparisons.score(reads, asked, [(choice,) for choice in said])
    assert scores["score"].tolist() == [1, 2, 0, pd.NA, 1]
    assert scores["position"].tolist() == [1, 1, 0, pd.NA, 2]
    assert scores["tie"].tolist() == [False, False, True, False, False]
    assert scores["ranking"].tolist() == [None, None, None, None, [1, 3, 2]]
    assert scores["failure"].dropna().to_dict() == {3: "conflicting"}
    assert {*_comparisons.COLUMNS} <= {*scores}


def test_probabilities_are_those_of_the_positions_and_then_of_the_tie():
    asked = (Question("", ("A", "B", "C"), "position"),)
    reads = pd.DataFrame({"ordering": [[2, 1], [2, 1]], "option_logprobs": [np.log([0.4, 0.2, 0.2]), None]})
    scores = _comparisons.score(reads, [asked] * 2, [(Choice("A"),)] * 2)
    assert scores["position_probabilities"][0] == pytest.approx([0.5, 0.25, 0.25])
    assert scores["position_probabilities"][1] is None
    assert scores["option_mass"][0] == pytest.approx(0.8)
