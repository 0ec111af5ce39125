"""Position, ID, and the number and the text of a reference answer told apart."""

import numpy as np
import pandas as pd
import pytest

from rubric_order.analyses.scoring.scoring_causes import estimate as scoring_causes
from rubric_order.analyses.scoring.scoring_causes import table as causes_table
from rubric_order.methods.position import prompt_effects
from rubric_order.methods.uncertainty import conditional_logit
from rubric_order.prompts import conditions, orderings

N = 5
NUMBERS = ["reference_none", "reference_5", *(f"reference_5_as_{k}" for k in range(1, 5))]
TEXTS = [*NUMBERS, *(f"reference_{k}" for k in range(1, 5))]


def said(names):
    read = {name: conditions.read(name, N) for name in names}
    return {
        name: {str(N): {"ids": each.labels(N), "text": each.reference, "shown": each.id_level}}
        for name, each in read.items()
    }


def judged(
    names,
    shown,
    *,
    groups=40,
    seed=0,
    ids=None,
    position=None,
    number=0.0,
    text=0.0,
    harsher=0.0,
    varies=0.0,
    draws=True,
):
    """Reads of a judge with planted effects in log-odds, four items per group; groups differ by `varies` in attraction.

    Args:
        names: conditions. shown: orderings in which each is read.
        ids: what each ID adds. position: what each place adds.
        number, text: attraction to the number and to the text of the reference answer.
        harsher: what each level takes from a score where a reference answer is shown, whatever its number and text.
        draws: whether scores are drawn from the probabilities; else the most probable one is given.
    """
    rng = np.random.default_rng(seed)
    items = 4 * groups
    opinion = 3 + np.repeat(rng.normal(size=groups), 4) + 0.7 * rng.normal(size=items)
    own = rng.normal(scale=0.5, size=(items, N))
    pull = number + np.repeat(varies * rng.normal(size=groups), 4)
    levels = np.arange(1, N + 1)
    parts = []
    for name in names:
        read = conditions.read(name, N)
        weights = -0.5 * (levels - opinion[:, None]) ** 2 + own
        weights = weights + np.array([(ids or {}).get(label, 0.0) for label in read.labels(N)])
        if read.reference:
            weights = weights - harsher * levels
            weights = weights - pull[:, None] * np.abs(levels - read.id_level) - text * np.abs(levels - read.reference)
        for index, ordering in enumerate(shown):
            places = np.argsort(ordering)
            worth = weights + (0 if position is None else np.asarray(position)[places])
            share = np.exp(worth - worth.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
            score = (
                (share.cumsum(axis=1) < rng.random(items)[:, None]).sum(axis=1) + 1 if draws else share.argmax(1) + 1
            )
            table = {
                "condition": name,
                "read_index": index,
                "item_id": [f"i{item:04d}" for item in range(items)],
                "group_id": [f"g{item // 4:03d}" for item in range(items)],
                "score": score.astype(float),
                "expected_score": share @ levels,
                "position_probabilities": list(share[:, np.asarray(ordering) - 1]),
                "ordering": [np.asarray(ordering)] * items,
            }
            parts.append(pd.DataFrame(table))
    keys = {"study": "s", "judge": "j", "profile": "default", "dataset": "d", "strategy": "balanced", "n": N}
    return pd.concat(parts, ignore_index=True).assign(**keys)


def causes(names, shown, readout="soft", cluster="group", **planted):
    found = scoring_causes.estimate(judged(names, shown, **planted), conditions=said(names), confidence=0.95)
    found = found[(found["readout"] == readout) & (found["cluster"] == cluster)]
    return found.set_index(["cause", "about"]).sort_index()


USUAL = [list(range(1, N + 1))]
ROTATIONS = orderings.balanced(N).tolist()


@pytest.mark.parametrize(("number", "text"), [(0.6, 0.0), (0.0, 0.6), (0.5, 0.3)])
def test_number_and_text_of_a_reference_are_told_apart_by_texts_under_several_numbers(number, text):
    found = causes(TEXTS, USUAL, number=number, text=text)
    assert found.loc[("number", ""), "estimate"] == pytest.approx(number, abs=1e-9)
    assert found.loc[("text", ""), "estimate"] == pytest.approx(text, abs=1e-9)
    assert found.loc["presence", "estimate"].tolist() == pytest.approx([0.0] * N, abs=1e-9)


@pytest.mark.parametrize(("number", "text"), [(0.6, 0.0), (0.0, 0.6)])
def test_drawn_scores_find_number_and_text_too(number, text):
    found = causes(TEXTS, USUAL, "hard", number=number, text=text, groups=80, varies=0.2)
    for cause, planted in (("number", number), ("text", text)):
        row = found.loc[(cause, "")]
        assert row["ci_low"] - 0.05 < planted < row["ci_high"] + 0.05
        assert abs(row["estimate"] - planted) < 0.2


@pytest.mark.parametrize("readout", ["hard", "soft"])
def test_the_text_of_a_reference_is_not_identified_where_all_texts_are_of_one_level(readout):
    found = causes(NUMBERS, USUAL, readout, harsher=0.5, number=0.3)  # harsher whenever a reference answer is shown
    assert found.loc[("text", ""), "flag"] == "not identified"
    assert np.isnan(found.loc[("text", ""), "estimate"])
    # The middle score is as far from level 5 as the mean of all scores, so that its presence is told.
    assert (found.loc["presence", "flag"] == "not identified").tolist() == [True, True, False, True, True]
    row = found.loc[("number", "")]
    assert row["estimate"] == pytest.approx(0.3, abs=0.15)
    assert row["ci_low"] > 0


def test_a_judge_that_is_harsher_with_a_reference_is_told_by_presence_and_not_by_text():
    found = causes(TEXTS, USUAL, harsher=0.5, text=0.2)
    assert found.loc["presence", "estimate"].tolist() == pytest.approx([1.0, 0.5, 0.0, -0.5, -1.0])
    assert found.loc[("text", ""), "estimate"] == pytest.approx(0.2)
    assert found.loc[("number", ""), "estimate"] == pytest.approx(0.0, abs=1e-9)
    drawn = causes(TEXTS, USUAL, "hard", harsher=0.5)
    assert drawn.loc[("presence", "1"), "ci_low"] > 0.5
    assert drawn.loc[("text", ""), "ci_low"] < 0 < drawn.loc[("text", ""), "ci_high"]


def test_there_is_no_presence_where_every_prompt_shows_a_reference():
    found = causes([name for name in TEXTS if name != "reference_none"], USUAL, text=0.4)
    assert "presence" not in found.index.get_level_values("cause")
    assert found.loc[("text", ""), "estimate"] == pytest.approx(0.4)


def test_without_a_text_under_another_number_neither_is_identified():
    names = ["reference_none", *(f"reference_{k}" for k in range(1, 6))]
    found = causes(names, USUAL, number=0.5, text=0.3)
    for cause in ("number", "text"):
        row = found.loc[(cause, "")]
        assert np.isnan(row["estimate"])
        assert row["flag"] == "not identified"
    assert found.loc[("slope_of_number", ""), "flag"] == "not identified"


def test_slopes_and_their_difference_are_of_the_same_items():
    names = ["reference_5", *(f"reference_5_as_{k}" for k in range(1, 5)), *(f"reference_{k}" for k in range(1, 5))]
    table = judged(names, USUAL, groups=2)
    said_, shown = said(names), {}
    for name in names:
        shown[name] = said_[name][str(N)]["shown"]
    # Item 0 follows the number by 1 with its text and by 0 without, item 1 by 1 in both. Item 2 by 1 without its text,
    # and lacks a score with it. All others have no scores.
    number = table["condition"].map(shown).astype(float)
    fits = ~table["condition"].str.contains("_as_")
    item = table["item_id"]
    score = pd.Series(np.nan, table.index)
    score[item == "i0000"] = np.where(fits, number, 5)[item == "i0000"]
    score[item == "i0001"] = number[item == "i0001"]
    score[item == "i0002"] = number[item == "i0002"]
    score[(item == "i0002") & (table["condition"] == "reference_2")] = np.nan
    found = scoring_causes.estimate(
        table.assign(score=score, expected_score=np.nan, position_probabilities=None), conditions=said_, confidence=0.95
    ).query("cluster == 'item' and unit == 'points'")
    found = found.set_index("cause")
    assert found["estimate"].to_dict() == pytest.approx(
        {"slope_of_number": 0.5, "slope_of_number_and_text": 1, "slope_of_text": 0.5}
    )
    assert (found["n_items"] == 2).all()
    assert (found["n_clusters"] == 2).all()


def test_slopes_in_points_part_the_number_from_the_text():
    names = [*NUMBERS, *(f"reference_{k}" for k in range(1, 5))]
    for number, text in ((0.6, 0.0), (0.0, 0.6)):
        found = causes(names, USUAL, number=number, text=text)["estimate"]
        assert (found["slope_of_number", ""] > 0.1) == (number > 0)
        assert (found["slope_of_text", ""] > 0.1) == (text > 0)
        both = found["slope_of_number", ""] + found["slope_of_text", ""]
        assert found["slope_of_number_and_text", ""] == pytest.approx(both)


IDS = {"A": 0.9, "B": 0.4, "C": 0.0, "D": -0.2, "E": -0.5}
PLACES = [0.8, 0.3, 0.0, -0.3, -0.8]


def test_an_id_and_a_position_are_told_apart_by_orders_and_two_mappings():
    found = causes(["letter", "letter_a_lowest"], ROTATIONS, ids=IDS, position=PLACES)["estimate"]
    assert found["id", "A - E"] == pytest.approx(1.4)
    assert found["id", "B - D"] == pytest.approx(0.6)
    assert [found["position", str(place)] for place in range(1, 6)] == pytest.approx(PLACES)


def test_an_id_that_always_stands_for_one_level_is_not_identified():
    found = causes(["letter+reference_none", "reference_none"], ROTATIONS, ids=IDS, position=PLACES)
    assert found.loc[("id", "A - E"), "flag"] == "not identified"
    assert found.loc[("id", "A - E"), "estimate"] != found.loc[("id", "A - E"), "estimate"]
    assert found.loc[("position", "1"), "estimate"] == pytest.approx(0.8)


def test_a_position_is_not_identified_in_one_order():
    found = causes(["letter", "letter_a_lowest"], USUAL, ids=IDS, position=PLACES)
    assert (found.loc["position", "flag"] == "not identified").all()


def test_what_shows_whatever_reference_there_is_is_left_out_where_references_are_named():
    names = [*NUMBERS, "baseline"]
    found = causes(names, USUAL, number=0.5)
    assert found.loc[("number", ""), "estimate"] == pytest.approx(0.5)


def test_hard_effects_are_those_of_an_ordinary_logistic_regression():
    """Two reads of an item have the model of one comparison."""
    places = np.array([[[0, 1], [1, 0]]] * 6)
    scores = np.array([[0, 1], [0, 1], [0, 1], [1, 0], [0, 0], [1, 1]])
    ids = np.array([["x", "y"], ["x", "y"]], dtype=object)
    nothing = np.zeros(2, dtype=int)
    terms = prompt_effects.terms(places, ids, nothing, nothing)
    fit = prompt_effects.score_sums(terms, scores).fit()
    weights = prompt_effects.contrasts(terms.names, [])["position", "1"]
    # Three pairs gave what stood first twice, one what stood second twice, and Firth's penalty adds half a pair to
    # each; the log is twice the log-odds of two places.
    assert 4 * fit.contrast(weights)[0] == pytest.approx(np.log(3.5 / 1.5))
    assert not fit.tells(np.array([0.0, 0.0, 1.0, -1.0]))
    assert not fit.problem


def drawn(rng, groups, number, varies):
    """Scores and probabilities of four items per group under three numbers of one text, and the terms of the model."""
    items, levels, shown = 4 * groups, np.arange(1, N + 1), np.array([1, 2, 5])
    opinion = 3 + np.repeat(rng.normal(size=groups), 4) + 0.7 * rng.normal(size=items)
    pull = number + np.repeat(varies * rng.normal(size=groups), 4)
    away = np.abs(levels - shown[:, None])
    share = np.exp(-0.5 * (levels - opinion[:, None, None]) ** 2 - pull[:, None, None] * away)
    share /= share.sum(axis=2, keepdims=True)
    scores = (share.cumsum(axis=2) < rng.random((items, len(shown), 1))).sum(axis=2)
    places = np.broadcast_to(np.arange(N), (items, len(shown), N))
    ids = np.tile(np.array(list("12345"), dtype=object), (len(shown), 1))
    return scores, share, prompt_effects.terms(places, ids, shown, np.full(len(shown), N))


def of_average_read(share, terms):
    """The log-odds of attraction to a number in the average pair of reads, from the probabilities of many groups."""
    x, rows, weights = terms.values[0], [], []  # the same for all items
    for one, other in zip(*np.triu_indices(share.shape[1], 1), strict=True):
        joint = np.einsum("iu,iv->uv", share[:, one], share[:, other])
        for u, v in zip(*np.nonzero(~np.eye(N, dtype=bool)), strict=True):
            rows.append(x[one, u] + x[other, v] - x[one, v] - x[other, u])
            weights.append(joint[u, v])
    data = conditional_logit.comparisons(np.array(rows), np.zeros(len(rows), dtype=int), np.array(weights))
    return conditional_logit.sums(data).coefficients[[kind for kind, _ in terms.names].index("number")]


def test_intervals_with_group_effects_cover_and_a_judge_that_nothing_moves_is_seldom_called_biased():
    """200 studies of 40 groups: coverage of an attraction that varies over groups, and false rejections.

    Option probabilities give the mean attraction of groups, selected options that of the average pair of reads.
    """
    covered, averaged, rejected, unit = [], [], [], np.repeat(np.arange(40), 4)
    average = of_average_read(*drawn(np.random.default_rng(99), 3000, 0.5, 0.3)[1:])
    assert 0.43 < average < 0.47
    for seed in range(200):
        rng = np.random.default_rng(seed)
        scores, share, terms = drawn(rng, 40, 0.5, 0.3)
        weights = np.array([float(kind == "number") for kind, _ in terms.names])
        some = prompt_effects.probability_sums(terms, share).regroup(unit).fit().interval(weights, 0.95)
        hard = prompt_effects.score_sums(terms, scores).regroup(unit).fit().interval(weights, 0.95)
        scores, _, terms = drawn(rng, 40, 0.0, 0.0)
        none = prompt_effects.score_sums(terms, scores).regroup(unit).fit().interval(weights, 0.95)
        covered.append(some["ci_low"] <= 0.5 <= some["ci_high"])
        averaged.append(hard["ci_low"] <= average <= hard["ci_high"])
        rejected.append(none["p"] < 0.05)
    assert np.mean(covered) >= 0.9
    assert np.mean(averaged) >= 0.9
    assert 0.01 <= np.mean(rejected) <= 0.1


def test_the_table_prints_what_is_known_and_says_what_is_not():
    names = [*NUMBERS, "letter+reference_none"]
    found = scoring_causes.estimate(judged(names, USUAL), conditions=said(names), confidence=0.95)
    printed = causes_table.TABLE.printout(causes_table.TABLE.table(found, study="s"))
    unknown = printed[printed["flag"] == "not identified"]
    assert {"position", "id"} <= set(unknown["cause"])
    assert (unknown["effect"] == "").all()
    assert printed.loc[printed["cause"] == "number", "effect"].str.contains(r"\[").all()
