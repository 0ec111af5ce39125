"""Two prompts of one judge, from recorded answers: against numbers worked by hand, scipy, and reads of known noise."""

import numpy as np
import pandas as pd
import pytest
from factories import score_table
from scipy import stats

from rubric_order.analyses.scoring.prompt_styles import estimate as prompt_styles
from rubric_order.analyses.scoring.prompt_styles import table as styles_table

STYLES = {"a": ["model", "mcq"], "b": ["model", "rts"], "c": ["other model", "rts"]}
HUMAN = [1.0, 2.5, 3.0, 5.0, 4.0]
ONE = [[1, 2], [2], [4, 4], [5], [3]]
OTHER = [[1], [3], [2], [None], [3]]
CANONICAL = [[1, 2, 3, 4, 5]]


def reads(given, judge, human=HUMAN, **options):
    options = {"shown": CANONICAL, "strategy": "recorded", "soft": False, "per_group": 2} | options
    return score_table(given, human, judge=judge, **options)


def estimates(*tables, styles=STYLES, **keys):
    scores = pd.concat(tables, ignore_index=True)
    known = scores[["dataset", "item_id"]].drop_duplicates().assign(reference_labels=[[]] * scores["item_id"].nunique())
    found = prompt_styles.estimate(scores, items=known, human_scales={}, prompt_styles=styles, confidence=0.95)
    for name, value in ({"cluster": "item", "criterion": "all"} | keys).items():
        found = found[found[name] == value]
    return found


def by_quantity(found):
    return found[found["quantity"] != "share"].set_index("quantity")


def test_the_numbers_are_those_worked_by_hand():
    found = by_quantity(estimates(reads(ONE, "a"), reads(OTHER, "b")))
    # First reads of the four items with a score from both: 1, 2, 4, 3 and 1, 3, 2, 3; people 1, 2.5, 3, 4.
    assert found.loc["mean_shift", ["estimate", "of_one", "of_other", "of_human"]].tolist() == [0.25, 2.5, 2.25, 2.625]
    assert found.loc["mean_change", "estimate"] == 0.75
    assert found.loc["share_changed", "estimate"] == 0.5
    assert found.loc["total_variation", "estimate"] == 0.25
    assert found.loc["mean_absolute_error", ["of_one", "of_other"]].tolist() == [0.625, 0.625]
    counts = found.loc["mean_shift", ["n_items", "n_reads_one", "n_failed_one", "n_reads_other", "n_failed_other"]]
    assert counts.tolist() == [4, 7, 0, 5, 1]
    # The fourth item has 5 from the first prompt; the other one could have said 1 to 5.
    assert found.loc["mean_shift", ["bound_low", "bound_high"]].tolist() == pytest.approx([1 / 5, 5 / 5])


def test_shares_are_those_of_both_prompts_and_of_people():
    found = estimates(reads(ONE, "a"), reads(OTHER, "b")).query("quantity == 'share'").set_index("score")
    assert found["of_one"].tolist() == [0.25, 0.25, 0.25, 0.25, 0]
    assert found["of_other"].tolist() == [0.25, 0.25, 0.5, 0, 0]
    assert found["of_human"].tolist() == [0.25, 0, 0.5, 0.25, 0]  # 2.5 is rounded up
    assert found["estimate"].tolist() == [0, 0, -0.25, 0.25, 0]


def test_the_floor_is_what_two_reads_of_one_prompt_differ_by():
    found = by_quantity(estimates(reads(ONE, "a"), reads(OTHER, "b")))
    told = found.loc["mean_change", ["repeats_of", "repeated", "n_repeats"]].tolist()
    assert told == ["mcq", "quality", 2]
    # Two items were read twice: 1 then 2, 4 then 4; the other prompt gave them 1 and 2.
    assert found.loc["mean_shift", ["floor", "at_repeats"]].tolist() == [0.5, 1.0]
    assert found.loc["share_changed", ["floor", "at_repeats"]].tolist() == [0.5, 0.5]
    assert found.loc["total_variation", ["floor", "at_repeats"]].tolist() == [0.5, 0.5]
    turned = by_quantity(estimates(reads(OTHER, "a"), reads(ONE, "b")))
    assert turned.loc["mean_shift", ["estimate", "floor", "at_repeats"]].tolist() == [-0.25, 0.5, -1.0]
    assert turned.loc["mean_shift", "repeats_of"] == "rts"


def test_reads_of_another_ordering_are_no_repeats():
    one = reads(ONE, "a", shown=[*CANONICAL, [5, 4, 3, 2, 1]])
    found = by_quantity(estimates(one, reads(OTHER, "b")))
    assert found.loc["mean_change", "n_repeats"] == 0
    assert np.isnan(found.loc["mean_change", "floor"])


def test_only_prompts_of_one_model_are_compared_and_judges_without_a_style_are_not():
    tables = [reads(ONE, "a"), reads(OTHER, "b"), reads(OTHER, "c"), reads(OTHER, "live")]
    found = estimates(*tables)
    assert found[["judge", "other", "model", "style", "other_style"]].drop_duplicates().values.tolist() == [
        ["a", "b", "model", "mcq", "rts"]
    ]
    assert estimates(reads(ONE, "a"), reads(OTHER, "c")).empty


def test_with_items_as_the_sample_intervals_are_those_of_scipy():
    rng = np.random.default_rng(1)
    human = rng.uniform(1, 5, 60)
    one, other = (np.clip(np.round(human + rng.normal(0, 1, 60)), 1, 5) for _ in range(2))
    found = estimates(*(reads(each[:, None].tolist(), name, human) for each, name in ((one, "a"), (other, "b"))))
    found = by_quantity(found)
    expected = stats.ttest_rel(one, other)
    shift = found.loc["mean_shift"]
    assert shift[["ci_low", "ci_high"]].tolist() == pytest.approx(list(expected.confidence_interval(0.95)))
    assert shift["p"] == pytest.approx(expected.pvalue)
    for quantity, measure in (("spearman", stats.spearmanr), ("pearson", stats.pearsonr)):
        sides = [measure(each, human).statistic for each in (one, other)]
        assert found.loc[quantity, ["of_one", "of_other"]].tolist() == pytest.approx(sides)
        assert found.loc[quantity, "estimate"] == pytest.approx(sides[0] - sides[1])


def test_two_prompts_that_are_one_differ_by_their_floor_and_a_planted_shift_comes_back():
    rng = np.random.default_rng(2)
    quality = np.repeat(rng.normal(3, 0.5, 100), 4) + rng.normal(0, 0.4, 400)  # groups of four

    def asked(judge, shift):
        answers = np.clip(np.round(quality[:, None] + shift + rng.normal(0, 0.5, (400, 2))), 1, 5)
        return reads(answers.tolist(), judge, quality, per_group=4)

    same = by_quantity(estimates(asked("a", 0), asked("b", 0), cluster="group"))
    for quantity in ("share_changed", "mean_change"):
        assert same.loc[quantity, "at_repeats"] == pytest.approx(same.loc[quantity, "floor"], abs=0.06)
    assert same.loc["mean_shift", "ci_low"] < 0 < same.loc["mean_shift", "ci_high"]
    moved = by_quantity(estimates(asked("a", 0.5), asked("b", 0), cluster="group"))
    assert moved.loc["mean_shift", "ci_low"] < 0.5 < moved.loc["mean_shift", "ci_high"]
    assert moved.loc["share_changed", "at_repeats"] > moved.loc["share_changed", "floor"] + 0.05
    # A shift of all scores moves no correlation by more than two reads of one prompt do, but the error.
    assert abs(moved.loc["spearman", "estimate"]) < 0.08
    assert moved.loc["mean_absolute_error", "ci_low"] > 0


def test_criteria_have_rows_of_their_own_and_are_one_family_of_tests():
    kinds = {"criteria": ("wit", "plot")}
    rng = np.random.default_rng(3)
    one, other = (rng.integers(1, 6, (12, 1)).tolist() for _ in range(2))
    human = rng.uniform(1, 5, 12)
    tables = [reads(one, "a", human, **kinds), reads(other, "b", human, **kinds)]
    shifts = pd.concat([estimates(*tables, criterion=name) for name in ("all", "wit", "plot")])
    shifts = shifts[shifts["quantity"] == "mean_shift"].set_index("criterion")
    assert shifts["n_items"].to_dict() == {"all": 12, "wit": 6, "plot": 6}
    assert shifts["n_tests"].to_dict() == {"all": 1, "wit": 2, "plot": 2}


def test_the_table_says_what_differs_beside_its_floor():
    found = pd.concat([estimates(reads(ONE, "a"), reads(OTHER, "b"), cluster=name) for name in ("item", "group")])
    rows = styles_table.TABLE.table(found, study="s", cluster="item")
    assert (rows["n_clusters"] == 4).all()
    printed = styles_table.TABLE.printout(rows).set_index("quantity")
    shift = printed.loc["mean score"]
    assert shift[["prompts", "first", "other", "people"]].tolist() == ["mcq, rts", "2.50", "2.25", "2.62"]
    assert shift["difference"].startswith("+0.25 [")
    assert shift["difference"].endswith("] (+0.20, +1.00)")
    assert shift["repeats"] == "0.50 against 1.00 (2 items of quality, mcq)"
    assert shift["without a score"] == "0 of 7, 1 of 5"
    assert printed.loc["total variation", "difference"] == "0.25"
    assert printed.loc["share of 3", ["first", "other", "people"]].tolist() == ["25%", "50%", "50%"]
