"""Verdicts of bias cards: each rule by itself, and how often they err over simulated studies."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from factories import ROOT, simulated_reads
from scipy import stats

import rubric_order as ro
from rubric_order.base.gold import INTENDED
from rubric_order.base.intervals import Interval
from rubric_order.base.keys import KEYS
from rubric_order.cards import card, groups, limits, summary, verdict
from rubric_order.cards.evidence import Agreement, Evidence, ReadoutResults, Small
from rubric_order.cards.record import CardRecord
from rubric_order.cards.spread import Spread
from rubric_order.library import estimates
from rubric_order.methods.position.planning_groups import Needed
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

QUIET = ReadoutResults(
    "hard",
    shares=(Interval(0.34, 0.32, 0.36), Interval(0.33, 0.31, 0.35), Interval(0.33, 0.31, 0.35)),
    v=Interval(0.01, 0, 0.03),
    p_selection=0.5,
    preference=(Interval(0.01, -0.02, 0.04), Interval(0.0, -0.03, 0.03), Interval(-0.01, -0.04, 0.02)),
    p_preference=0.5,
    interaction=Interval(0.01, -0.02, 0.04),
    p_interaction=0.5,
    usual=Interval(0.01, -0.01, 0.03),
    largest_gap=0.02,
    gap_by_chance=0.02,
    p_points=0.5,
    small_points=Small("shown", 0.1, Interval(0.01, -0.01, 0.03)),
    small_log_odds=Small("shown", 0.2, Interval(0.01, -0.02, 0.04)),
    small_interaction=Small("shown", 0.2, Interval(0.01, -0.02, 0.04)),
)
SMALL = Interval(0.02, 0.0, 0.05)
PLAIN = Evidence(
    keys={"study": "s", "judge": "j", "profile": "default", "condition": "baseline", "dataset": "d"}
    | {"strategy": "balanced", "n": 3},
    n_items=100,
    n_groups=50,
    n_reads=400,
    n_failed=0,
    n_orderings=6,
    fewest=1,
    most=1,
    shared=True,
    balanced=True,
    crossed=True,
    commonest_score=1,
    commonest_share=0.6,
    discordant_share=0.3,
    top_probability=math.nan,
    hard=QUIET,
    soft=None,
    spread=Spread("hard", SMALL, 0.045, 0.1, "shown", Interval(0.01, 0.0, 0.03), confidence=0.95, level=0.05),
    known_share=1.0,
)


def said(readout=None, **changes):
    hard = dataclasses.replace(QUIET, **(readout or {}))
    found = verdict.judge(dataclasses.replace(PLAIN, **({"hard": hard} | changes)))
    return found.word, " ".join(found.reasons)


def test_what_is_shown_to_be_small_is_equivalent():
    word, reasons = said()
    assert word == "equivalent"
    assert "0.1 points" in reasons
    assert "0.2 log-odds" in reasons


def test_a_judge_is_equivalent_only_where_single_items_are_shown_not_to_move():
    assert "has a standard deviation of less than 0.1 points between items" in said()[1]
    changed = Interval(0.2, 0.18, 0.22), Interval(0.06, 0.03, 0.09)
    moved = Spread("soft", Interval(0.15, 0.14, 0.16), 0.16, 0.1, "not shown", *changed)
    word, reasons = said(spread=moved)
    assert word == "cannot tell"
    assert (
        "An ordering moves single items, some up and some down: by 0.15 [0.14, 0.16] points (standard deviation "
        "between items). The margin for that is 0.1 points." in reasons
    )
    second = verdict.judge(dataclasses.replace(PLAIN, spread=moved)).reasons[1]
    assert "changes 20% [18%, 22%] of the scores by the option probabilities and the best candidate" in second
    assert "6.0% [3.0%, 9.0%] of the groups" in second
    # A bias that hardly moves the mean moves single items all the same.
    biased = said({"p_selection": 1e-9}, spread=moved)
    assert biased[0] == "biased"
    assert "An ordering moves single items" in biased[1]
    assert "One ordering will not do" in advice(spread=moved)
    assert said(spread=Spread())[0] == "cannot tell"
    word, reasons = said(spread=Spread("hard", reach=0.7, margin=0.1, verdict="undecided"))
    assert word == "cannot tell"
    assert "Read each ordering twice" in reasons


def test_tests_are_adjusted_for_their_number():
    assert said({"p_points": 0.049})[0] == "equivalent"  # four tests: 0.196 after Holm
    word, reasons = said({"p_points": 0.007})
    assert word == "biased"
    assert "p = 0.028" in reasons
    assert said({"p_points": 0.007, "p_usual": 0.9})[0] == "equivalent"  # five tests: 0.035


SOFT = dataclasses.replace(QUIET, name="soft")


def test_option_probabilities_decide_log_odds_and_written_scores_points():
    odd = dataclasses.replace(QUIET, p_selection=1e-9, p_preference=1e-9, p_interaction=1e-9, p_points=0.5)
    both = dataclasses.replace(PLAIN, hard=odd, soft=SOFT)
    assert verdict.judge(both).word == "equivalent"
    assert set(both.tests) == {("soft", "preference"), ("soft", "interaction"), ("hard", "points")}
    assert said({"p_points": 0.009}, soft=SOFT)[0] == "biased"  # three tests: 0.027
    assert said({"p_points": 1e-9}, soft=SOFT, drawn=True)[0] == "equivalent"  # expected scores decide


def test_a_judge_that_gives_every_score_the_same_probability_is_never_equivalent():
    """True if its ties are written as one score, and are no failures."""
    written = {"soft": SOFT, "top_probability": 1 / 3}
    tied = written | {"hard": None, "n_reads": 0, "n_failed": 400, "commonest_score": None}
    for changes in (written, tied):
        found = dataclasses.replace(PLAIN, **changes)
        decided = verdict.judge(found)
        assert decided.word == "cannot tell"
        assert decided.reasons[0].startswith("The judge says nothing of these texts: each of the 3 scores has the same")
        assert decided.planned is None
        assert "tokens of its labels" in decided.advice
        content = card.Card(found, decided).to_dict()
        assert content["says_nothing"]
        assert (
            "Mean probability of the most probable score",
            "33%; equal for all 3 scores: this judge says nothing",
        ) in (card.facts(found))
    assert said(soft=SOFT, top_probability=0.34)[0] == "equivalent"
    assert not dataclasses.replace(PLAIN, soft=SOFT, top_probability=0.34).says_nothing
    # Probabilities that differ by next to nothing, and always in favour of one place, are a bias.
    assert said({"p_points": 1e-9}, soft=SOFT, top_probability=1 / 3)[0] == "biased"


def test_of_two_levels_one_test_decides_and_no_interaction_is_asked_for():
    two = {"keys": PLAIN.keys | {"n": 2}}
    unknown = {"interaction": Interval(), "p_interaction": math.nan, "small_interaction": Small("undecided", 0.2)}
    word, reasons = said(unknown | {"p_usual": 0.5}, **two)
    assert word == "equivalent"
    assert "The test finds no effect of the order: p = 0.500, where 0.03 or less would be a finding." in reasons
    assert said(unknown | {"p_points": 0.029}, **two)[0] == "biased"
    assert said(unknown | {"p_points": 0.029, "p_usual": 0.029})[0] == "cannot tell"  # of three levels
    one = dataclasses.replace(PLAIN, **two, soft=SOFT, drawn=True).tests
    assert one == {("soft", "preference"): 0.5}


def test_a_shift_by_the_usual_ordering_alone_is_a_bias():
    word, reasons = said({"p_usual": 0.005, "usual": Interval(0.1, 0.05, 0.15)})
    assert word == "biased"
    assert "The usual ordering moves the mean score: it lies +0.10 [+0.05, +0.15] points" in reasons
    assert "p is adjusted for 5 tests, and 0.03 or less is a finding." in reasons


def test_a_card_without_a_finding_names_the_smallest_p_and_the_level():
    _, reasons = said({"p_points": 0.009})
    assert "of 4 tests the smallest p is 0.036, adjusted for their number, where 0.03 or less" in reasons
    content = card.Card(PLAIN, verdict.judge(PLAIN)).to_dict()
    assert (content["level"], content["n_tests"], content["smallest_p"]) == (0.03, 4, 1.0)
    facts = dict(card.facts(PLAIN))
    assert facts["Smallest p, adjusted (0.03 or less is a finding)"] == "1.000 of 4 tests"


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ({}, "6, each read 1 time per item"),
        (
            {"most": 3},
            "6, each read 1 to 3 times per item; each ordering counts once per item, every score stands equally often",
        ),
        (
            {"fewest": 0, "balanced": False},
            "each read 0 to 1 times per item; each ordering counts once per item, every score",
        ),
    ],
)
def test_a_card_says_how_often_each_ordering_was_read(design, words):
    assert words in dict(card.facts(dataclasses.replace(PLAIN, **design)))["Orderings"]


def test_orderings_of_their_own_are_named_only_where_items_have_them():
    unknown = {"small_points": Small()}
    assert "orderings of their own" in said(unknown, shared=False)[1]
    assert "orderings of their own" not in said(unknown)[1]


@pytest.mark.parametrize(
    ("readout", "changes", "why"),
    [
        ({"p_points": 0.0001}, {"n_groups": 19}, "19 groups"),
        ({"p_points": 0.0001}, {"n_groups": 1}, "is 1 group"),
        ({"p_points": 0.0001}, {"n_failed": 120}, "23% of the reads have no score"),
        ({"p_points": 0.0001}, {"commonest_share": 0.96}, "score 1 in 96% of its reads"),
        ({"saturated": True}, {"discordant_share": 0.02}, "only 2.0% of the pairs"),
        ({"v": Interval()}, {}, "No item was read in several orderings"),
        ({}, {"n_orderings": 1, "crossed": False}, "in one ordering"),
        ({}, {"n_orderings": 2, "crossed": False}, "(2 orderings)"),
        ({}, {"hard": None, "n_reads": 0}, "No read has a score."),
    ],
)
def test_reads_that_cannot_answer_the_question_say_so_whatever_the_tests_say(readout, changes, why):
    word, reasons = said(readout, **changes)
    assert word == "cannot tell"
    assert why in reasons


def test_a_card_speaks_of_as_many_groups_as_are_needed_and_not_of_one_less():
    assert "at least 20 are needed" in said({}, n_groups=19)[1]
    assert "at least 20 are needed" not in said({}, n_groups=20)[1]


def test_limits_count_the_groups_that_equal_ones_would_be_and_the_card_names_the_heaviest():
    word, reasons = said({"p_points": 0.0001}, n_groups=60, effective_groups=7.4, heaviest_group=0.31)
    assert word == "cannot tell"
    assert "60 groups of items" in reasons
    assert "no more than 7 equal ones (the largest has 31% of the items); at least 20 are needed" in reasons
    few = Small("undecided", 0.1, Interval(0.0, -0.01, 0.01))
    reasons = said({"small_points": few}, n_groups=60, effective_groups=24.0, heaviest_group=0.1)[1]
    assert "no more than 24 equal ones (the largest has 10% of the items) are too few" in reasons
    unequal = dataclasses.replace(PLAIN, effective_groups=33.2, heaviest_group=0.08)
    shown = dict(card.facts(unequal))
    assert shown["Effective number of groups"] == "33; the largest group has 8% of the items"


def test_effective_groups_are_known_of_reads_and_those_of_equal_groups_are_all():
    table = simulated_reads(groups=24, candidates=6, strategies=["balanced"], seed=3)
    (equal,) = card.cards(estimates.of_card(table))
    assert equal.evidence.effective_groups == pytest.approx(24)
    assert equal.evidence.heaviest_group == pytest.approx(1 / 24)
    first = table["group_id"].factorize(sort=True)[0] < 2
    number = table.groupby("group_id")["item_id"].transform(lambda ids: ids.factorize(sort=True)[0])
    (unequal,) = card.cards(estimates.of_card(table[first | (number < 1)]))
    assert unequal.evidence.n_groups == 24
    assert unequal.evidence.heaviest_group == pytest.approx(6 / 34)
    assert unequal.evidence.effective_groups == pytest.approx(34**2 / (2 * 6**2 + 22))
    assert unequal.verdict.word == "cannot tell"
    assert unequal.to_dict()["effective_groups"] == unequal.evidence.effective_groups


def test_a_wide_interval_and_few_groups_leave_a_bias_open():
    wide = Small("undecided", 0.1, Interval(0.05, -0.1, 0.2))
    word, reasons = said({"small_points": wide})
    assert word == "cannot tell"
    assert "up to 0.20 points, and the margin is 0.1." in reasons
    word, reasons = said({"small_interaction": Small("undecided", 0.2, Interval(0.1, -0.1, 0.3))})
    assert word == "cannot tell"
    assert "more to high scores than to low ones by up to 0.30 log-odds" in reasons
    few = Small("undecided", 0.1, Interval(0.0, -0.01, 0.01))
    word, reasons = said({"small_points": few}, n_groups=25)
    assert word == "cannot tell"
    assert "25 groups are too few" in reasons


def test_a_preference_that_changes_with_the_score_is_a_bias():
    word, reasons = said({"p_interaction": 1e-9, "interaction": Interval(-0.3, -0.4, -0.2)})
    assert word == "biased"
    assert (
        "High and low scores are preferred at different positions (p < 0.001). The first position adds +0.30 [+0.20, "
        "+0.40] log-odds more to the highest score than to scores on average. So does the last position to the lowest "
        "score." in reasons
    )


def test_a_bias_that_is_small_is_called_a_bias_and_small():
    word, reasons = said({"p_selection": 1e-9})
    assert word == "biased"
    assert "The mean score is hardly moved" in reasons
    assert "It is not small" in said({"p_points": 1e-9, "small_points": Small("not shown", 0.1)})[1]
    open_ = Small("undecided", 0.1, Interval(-0.09, -0.12, -0.06))
    assert (
        "cannot be told: one ordering could move the mean score by up to 0.12"
        in said({"p_points": 1e-9, "small_points": open_})[1]
    )


def test_what_is_left_open_is_rounded_up():
    small = Small("shown", 0.2, Interval(0.001, -0.001, 0.003))
    assert "at most 0.01" in said({"small_log_odds": small})[1]


def test_what_rounds_to_nothing_has_one_sign_in_reasons_as_in_facts():
    _, reasons = said({"usual": Interval(-0.25, -0.5, -0.001), "p_points": 0.0001})
    assert "-0.25 [-0.50, +0.00] points" in reasons


def test_v_of_few_groups_is_not_offered_as_evidence():
    assert "so few groups cannot be relied on" in said({}, n_groups=8)[1]
    assert "relied on" not in said({"small_points": Small("undecided", 0.1, Interval(0.05, -0.1, 0.2))})[1]


def test_a_saturated_judge_whose_probabilities_move_is_not_called_unbiased():
    soft = dataclasses.replace(SOFT, p_preference=1e-9)
    word, reasons = said({"saturated": True}, commonest_share=0.99, soft=soft, top_probability=0.9)
    assert word == "biased by its option probabilities"
    assert "The judge hardly shows a bias in its written scores: it gives score 1 in 99% of its reads." in reasons
    assert "Some positions are preferred by the option probabilities" in reasons
    # Written scores that do not vary say nothing about the size: expected scores do.
    large = dataclasses.replace(soft, small_points=Small("not shown", 0.1))
    reasons = said({"saturated": True}, commonest_share=0.99, soft=large, top_probability=0.9)[1]
    assert "It is not small: one ordering moves the mean score by more than 0.1 points (expected scores)" in reasons
    word, reasons = said({"saturated": True}, commonest_share=0.99, soft=SOFT, top_probability=0.9)
    assert word == "cannot tell"
    assert "The option probabilities do not show it either." in reasons
    assert said({"saturated": True}, commonest_share=0.99, soft=soft, n_groups=19)[0] == "cannot tell"


def test_a_judge_that_no_order_moves_is_not_said_to_give_one_score():
    """20 items per score, each with the same score in all of ten orderings: scores tell the items apart."""
    rows = [
        {"item": f"i{item}", "ordering": ordering, "score": item % 5 + 1}
        for item in range(100)
        for ordering in cyclic(5)
    ]
    (made,) = ro.bias_card(pd.DataFrame(rows))
    assert made.verdict.word == "cannot tell"
    # Of 100 groups without a pair that differs: 1 - 0.05 ** (1 / 100) is 2.95%.
    assert made.verdict.reasons[0] == (
        "The order changed no score: in 1,000 reads every item has one score in all its orderings. With 95% confidence "
        "it changes a score in at most 3.0% of the groups. Scores that never change cannot show a weak preference."
    )
    # The bound is of groups, whatever their sizes: half of the groups have 9 items, so that 100 count as 61.
    table = pd.DataFrame(rows)
    sizes = [9 if group % 2 else 1 for group in range(100)]
    unequal = pd.concat(
        table[table["item"] == f"i{group}"].assign(item=f"i{group} {copy}", group=f"g{group}")
        for group, size in enumerate(sizes)
        for copy in range(size)
    )
    (card,) = ro.bias_card(unequal)
    assert 50 < card.evidence.effective_groups < 70
    assert "in at most 3.0% of the groups." in card.verdict.reasons[0]
    assert "Check that the judge sees the rubric: some servers ignore system messages" in made.verdict.advice
    assert "nearly one score" not in made.verdict.advice
    # Where a few pairs differ, it is saturated, and the advice is about the same.
    word, reasons = said({"saturated": True}, discordant_share=0.02)
    assert (word, "only 2.0% of the pairs" in reasons, "changed no score" in reasons) == ("cannot tell", True, False)
    assert "sees the rubric" in advice({"saturated": True}, discordant_share=0.02)
    # A judge that gives one score to all items is another case.
    assert "nearly one score" in advice({"saturated": True}, commonest_share=1.0, discordant_share=0.0)


def cyclic(n):
    """The orderings of strategy balanced, as words."""
    up = list(range(1, n + 1))
    turned = [levels[shift:] + levels[:shift] for levels in (up, up[::-1]) for shift in range(n)]
    return [" ".join(map(str, levels)) for levels in turned]


def test_rows_name_their_readout_where_there_are_two():
    soft = dataclasses.replace(SOFT, v=Interval(0.098, 0.078, 0.116))
    both = dict(card.facts(dataclasses.replace(PLAIN, soft=soft, top_probability=0.6)))
    assert both["Cramér's V of the shares (0: equal) (written scores)"] == "0.010 [0.000, 0.030]"
    assert both["Cramér's V of the shares (0: equal) (option probabilities)"] == "0.098 [0.078, 0.116]"
    assert "Share of each position, first to last (written scores)" in both
    assert "Share of each position, first to last (option probabilities)" in both
    assert "Preference of each position, log-odds (option probabilities)" in both
    one = dict(card.facts(PLAIN))
    assert "Cramér's V of the shares (0: equal)" in one
    assert not any("(written scores)" in name for name in one)


def test_a_number_that_is_not_known_has_a_reason():
    once = dataclasses.replace(PLAIN, spread=ONCE, n_items=50)
    rows = dict(card.facts(once))
    moved = "not known: needs each ordering read twice, or option probabilities"
    assert rows["What an ordering does to single items, SD between items, points"] == moved
    assert rows["Items whose score another ordering than the usual one changes, beyond chance"] == moved
    best = "Groups whose best candidate it changes, beyond chance"
    assert rows[best] == "not known: no group has several candidates"
    assert dict(card.facts(dataclasses.replace(once, n_items=100)))[best] == moved
    assert rows["Mean probability of the most probable score"] == "not known: the reads have no option probabilities"
    hard = ReadoutResults("hard")
    rows = dict(card.facts(dataclasses.replace(PLAIN, hard=hard, n_orderings=2, crossed=False, spread=Spread())))
    uncrossed = "not known: not every score was shown in every position"
    assert [
        rows[f"{name}"] for name in ("Cramér's V of the shares (0: equal)", "Preference of each position, log-odds")
    ] == [uncrossed] * 2
    assert rows["Usual ordering less mean of all orderings, points"].startswith("not known: needs items that share")
    saturated = dict(card.facts(dataclasses.replace(PLAIN, commonest_share=0.98)))
    least = "Smallest V that a study of this size finds with 80% power"
    assert saturated[least] == "not known: the scores are saturated"


def test_reads_without_a_score_have_their_reasons():
    failures = {"no_score": 12, "empty": 5, "truncated": 3, "echo": 1, "out_of_range": 1}
    found = dataclasses.replace(PLAIN, n_reads=778, n_failed=22, failures=failures)
    words = "778 with a score, 22 without (no_score 12, empty 5, truncated 3, 2 more reasons)"
    assert dict(card.facts(found))["Reads"] == words
    assert card.Card(found, verdict.judge(found)).to_dict()["failures"] == failures
    assert dict(card.facts(PLAIN))["Reads"] == "400 with a score, 0 without"
    reads = simulated_reads(groups=30, strategies=("balanced",))
    failed = reads.index < 7
    gone = {name: reads[name].mask(failed) for name in ("score", "position")}
    (made,) = card.cards(estimates.of_card(reads.assign(**gone, failure=np.where(failed, "truncated", None))))
    assert made.to_dict()["failures"] == {"truncated": 7}


def test_a_card_as_json_has_none_for_what_is_not_known():
    hard = ReadoutResults("hard")
    found = card.Card(dataclasses.replace(PLAIN, hard=hard), verdict.judge(dataclasses.replace(PLAIN, hard=hard)))
    content = found.to_dict()
    assert [content[name] for name in ("v", "preference", "usual_minus_balanced", "top_probability")] == [None] * 4
    assert content["verdict"] == "cannot tell"
    assert (content["judge"], content["n_items"], content["n_groups"], content["n_reads"]) == ("j", 100, 50, 400)
    assert "&lt;j" in dataclasses.replace(found, evidence=renamed(found.evidence, "<j"))._repr_html_()


def renamed(evidence, judge):
    return dataclasses.replace(evidence, keys=evidence.keys | {"judge": judge})


def of_reads(scores):
    (found,) = card.cards(estimates.of_card(scores))
    return found


def simulated(judge, seed, *, groups, candidates, **keys):
    reads = studies.read_items(judge, n=5, strategies=["balanced"], groups=groups, candidates=candidates, seed=seed)
    return studies.as_scores(reads, candidates=candidates, **keys)


def without_people(scores):
    """Agreement with people decides no verdict, and takes most of the time of a card."""
    return scores.assign(human_score=math.nan)


@pytest.mark.parametrize(
    ("judge", "groups", "expected", "why"),
    [
        (Simulation(preference="first"), 60, "biased", "Position 1 adds"),
        (Simulation(preference="u_shaped"), 60, "biased", "position 3"),
        (Simulation(interaction=1.0), 60, "biased", "The order moves the mean score"),
        (Simulation(leniency=6, tolerance=0.4), 60, "cannot tell", "saturated"),
        (Simulation(preference="first"), 8, "cannot tell", "8 groups"),
        (Simulation(), 1500, "equivalent", "No test finds"),
    ],
)
def test_judges_whose_bias_is_known(judge, groups, expected, why):
    scores = simulated(judge, 3, groups=groups, candidates=2)
    found = of_reads(scores)
    assert found.verdict.word == expected
    assert why in " ".join(found.verdict.reasons)
    assert of_reads(without_people(scores)).verdict == found.verdict


def test_a_judge_that_always_takes_the_first_position_is_biased():
    found = of_reads(simulated_reads(groups=40, candidates=1, strategies=("balanced",), preference=[99, 0, 0, 0, 0]))
    assert found.verdict.word == "biased"
    assert found.to_dict()["v"] == pytest.approx(1)
    assert found.to_dict()["preference"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "groups", "wrong"),
    [
        (Simulation(group_positions=1.0), 20, "biased"),
        (Simulation(group_scores=1.0, leniency=1.5), 40, "biased"),
        (Simulation(decisiveness=0.3), 200, "biased"),
        (Simulation(preference="first", preference_strength=0.4), 200, "equivalent"),
        (Simulation(interaction=0.3), 200, "equivalent"),
    ],
)
def test_a_card_errs_in_at_most_one_of_twenty_studies(judge, groups, wrong):
    words = []
    for first in range(1000, 1100, 10):  # in tens, which takes less time than one by one
        each = (
            simulated(judge, seed, groups=groups, candidates=4, study=f"study_{seed}")
            for seed in range(first, first + 10)
        )
        statistics = estimates.of_card(without_people(pd.concat(each, ignore_index=True)))
        words += [found.verdict.word for found in card.cards(statistics)]
    assert len(words) == 100  # `tests/recovery/unfavourable.py` has more
    assert words.count(wrong) <= 5 + 4  # 5%, and two standard errors of 100 studies


def advice(readout=None, **changes):
    hard = dataclasses.replace(QUIET, **(readout or {}))
    return verdict.judge(dataclasses.replace(PLAIN, **({"hard": hard} | changes))).advice


def test_a_card_says_what_to_do():
    assert "one ordering will do" in advice()
    assert "average its scores" in advice({"p_points": 0.0001})
    assert "at least 20" in advice(n_groups=19)
    assert "items that differ more" in advice(commonest_share=0.96)
    assert "single reads" in advice(n_failed=120)
    assert "strategy balanced" in advice(crossed=False)


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        ({}, "That takes 6 calls per text."),
        ({"needed": Interval(3, 2, 5)}, "3 [2, 5] randomly chosen orderings of the 6 come typically within 0.1 points"),
        ({"needed": Interval(3, 2, 5)}, ": 3 calls per text in the place of 6."),
        (
            {"needed": Interval(1), "at_most": True},
            "At most 1 randomly chosen ordering of the 6 comes typically within",
        ),
        ({"needed": Interval(1)}, ": 1 call per text in the place of 6."),
        ({"needed": Interval(2), "readout": "soft"}, "points of the mean of all (expected scores): 2 calls per text"),
        ({"needed": Interval(math.inf, 5, math.inf)}, "That takes 6 calls per text."),
        ({"needed": Interval(6, 5, 6)}, "That takes 6 calls per text."),
    ],
)
def test_advice_to_average_names_its_cost(spread, words):
    of = dataclasses.replace(PLAIN.spread, orderings=6, **spread)
    assert words in advice({"p_points": 0.0001}, spread=of)
    assert words in advice({"small_points": WIDE}, spread=of)
    assert "calls" not in advice(spread=of)  # nothing is to be averaged
    own = advice({"p_points": 0.0001}, spread=dataclasses.replace(of, orderings=0, needed=Interval()), shared=False)
    assert "That takes 4 calls per text." in own  # 400 reads of 100 items, in orderings of their own


ERRORS = {"preference_errors": (0.1,) * 3, "interaction_error": 0.1, "shift_errors": (0.06,) * 6}
WIDE = Small("undecided", 0.1, Interval(0.0, -0.2, 0.2))
ONCE = Spread("hard", reach=0.7, margin=0.1, verdict="undecided", confidence=0.95, level=0.05)


def test_a_card_that_cannot_tell_says_how_many_groups_would():
    found = verdict.judge(dataclasses.replace(PLAIN, hard=dataclasses.replace(QUIET, small_points=WIDE, **ERRORS)))
    assert found.word == "cannot tell"
    numbers = found.planned.content()
    # The spread is small; of 50 groups the error is .06 points, and two one-sided tests of six need about .03.
    assert 180 < numbers["groups_for_equivalent"] < 400
    assert numbers["groups_for_biased"]["points"] > 50
    assert "show a judge without bias to be equivalent" in found.advice
    assert "More groups" in advice({"small_points": WIDE})  # without errors there is no number


def test_a_card_with_one_read_an_ordering_says_that_no_number_of_groups_is_enough():
    hard = dataclasses.replace(QUIET, small_points=WIDE, **ERRORS)
    found = verdict.judge(dataclasses.replace(PLAIN, hard=hard, spread=ONCE, n_reads=600))
    assert found.planned.content()["groups_for_equivalent"] is None
    assert found.planned.content()["groups_for_equivalent_with_repeats"] > 50
    assert "No number of groups shows equivalence: where orderings are read once" in found.advice
    assert "With each ordering read twice" in found.advice
    sd = Interval(0.15, 0.14, 0.16)
    moved = Spread("soft", sd, 0.155, 0.1, "not shown", confidence=0.95, level=0.05, logarithm=True)
    assert "single items differ by as much as the margin" in advice(ERRORS | {"small_points": WIDE}, spread=moved)


def test_the_number_of_groups_does_not_depend_on_estimates_as_they_happen_to_be():
    near = dataclasses.replace(WIDE, worst=Interval(0.098, -0.1, 0.3))
    numbers = {
        verdict.judge(
            dataclasses.replace(PLAIN, hard=dataclasses.replace(QUIET, small_points=small, **ERRORS))
        ).planned.content()["groups_for_equivalent"]
        for small in (WIDE, near)
    }
    assert len(numbers) == 1


def test_a_spread_that_reads_do_not_tell_from_none_moves_the_number_little():
    """An estimate and none with the same error: the ends differ by the error of the variance."""
    found = []
    for variance in (0.0, 0.006):
        ends = Interval(math.sqrt(variance), 0.0, math.sqrt(variance + 0.0080))
        spread = Spread("hard", ends, math.sqrt(variance + 0.0067), 0.1, "undecided", confidence=0.95, level=0.05)
        hard = dataclasses.replace(QUIET, small_points=WIDE, **ERRORS)
        found.append(verdict.judge(dataclasses.replace(PLAIN, hard=hard, spread=spread, n_reads=1200)).planned)
    assert found[0].equivalent == found[1].equivalent


TINY = Interval(0.00123, 0.00101, 0.00148)


def test_an_effect_of_probabilities_without_noise_is_written_with_its_digits_and_its_margin():
    """Both found, and both far below what matters: with two decimals they were +0.00 [+0.00, +0.00]."""
    _, reasons = said(
        {"interaction": TINY, "p_interaction": 1e-6, "small_points": Small("undecided", 0.1, Interval(0))}
    )
    gains = "The first position adds +0.0012 [+0.0010, +0.0015] log-odds more to the lowest score than to scores on"
    little = "So little is found where reads have next to no noise; the margin is 0.2 log-odds."
    assert f"{gains} average. So does the last position to the highest score. {little}" in reasons
    values = (TINY, Interval(0.0, -0.0001, 0.0001), -TINY)
    _, reasons = said({"preference": values, "p_preference": 1e-6})
    assert "(p < 0.001). Position 1 adds +0.0012 [+0.0010, +0.0015] to the log-odds of the score" in reasons
    assert "position 3 -0.0012 [-0.0015, -0.0010]" in reasons
    assert "0.00 [" not in reasons
    assert little in reasons


def test_an_effect_that_matters_and_one_that_is_none_have_two_decimals():
    _, reasons = said({"interaction": Interval(0.41, -0.001, 0.9), "p_interaction": 1e-6})
    assert "(p < 0.001). The first position adds +0.41 [+0.00, +0.90] log-odds more to the lowest score" in reasons
    assert "no noise" not in reasons
    assert verdict._interval(Interval(0.0, 0.0, 0.0), "+z.2f") == "+0.00 [+0.00, +0.00]"


def test_few_groups_and_not_the_shifts_leave_open_whether_a_bias_is_small():
    shift = Small("undecided", 0.1, Interval(0.0001, 0.00005, 0.0002))
    _, reasons = said({"interaction": TINY, "p_interaction": 1e-6, "small_points": shift})
    assert "cannot be told: with so few groups one ordering could move the mean score by 0.1 points or more." in reasons
    assert "up to 0.00" not in reasons


def test_a_shape_beyond_two_positions_is_named():
    ends = [Interval(0.4, 0.3, 0.5), Interval(-0.5, -0.6, -0.4), Interval(-0.3, -0.4, -0.2), Interval(0.4, 0.2, 0.6)]
    _, reasons = said({"preference": tuple(ends), "p_preference": 0.0001})
    assert "By their intervals positions 1 and 4 are preferred and positions 2 and 3 are avoided." in reasons
    ends[1] = ends[2] = Interval(-0.1, -0.3, 0.1)
    _, reasons = said({"preference": (*ends, Interval(0.1, 0.05, 0.2)), "p_preference": 0.0001})
    assert "By their intervals positions 1, 4 and 5 are preferred." in reasons
    assert "avoided" not in reasons


def agreement_row(quantity, estimate, **about):
    ends = {"ci_low": estimate - 0.1, "ci_high": estimate + 0.1}
    about = {"criterion": "all", "readout": "hard", "cluster": "group", "n_items": 30} | about
    return {"strategy": "balanced"} | about | {"quantity": quantity, "estimate": estimate} | ends


def gathered(usual, compared, ranked=()):
    """A card of reads in two strategies, with tables about people that are made by hand."""
    reads = simulated_reads(groups=30, candidates=2, strategies=("balanced", usual), reads=2)
    keys = {name: reads[name].iloc[0] for name in KEYS if name != "strategy"}
    found = dict(estimates.of_card(reads))
    rows = [agreement_row("pearson", 0.75), agreement_row("human_reliability", 0.81)]
    rows.append(agreement_row("pearson", 0.5, strategy=usual))
    found["human_agreement"] = pd.DataFrame([keys | row for row in rows])
    found["strategy_comparison"] = pd.DataFrame([keys | agreement_row(*row, baseline=usual) for row in compared])
    if ranked:
        found["rank_reversal"] = pd.DataFrame([keys | row for row in ranked])
    (made,) = [each for each in card.cards(found) if each.evidence.keys["strategy"] == "balanced"]
    return made


@pytest.mark.parametrize(("usual", "of_usual", "one_read"), [("single", 0.0, 0.5), ("fixed", 0.125, 0.375)])
def test_agreement_goes_from_the_usual_order_over_single_orders_to_their_mean(usual, of_usual, one_read):
    parts = [("order", -0.0625), ("averaging", 0.3125), ("averaging_baseline", of_usual)]
    found = gathered(usual, parts)
    agreement = found.evidence.agreement
    assert (agreement.usual.estimate, agreement.single) == (one_read, one_read - 0.0625)
    assert agreement.mean == Interval(0.75, pytest.approx(0.65), pytest.approx(0.85))
    assert agreement.ceiling == pytest.approx(0.9)
    written = dict(card.facts(found.evidence))
    assert written["Of the change, due to averaging"] == "+0.31 [+0.21, +0.41]"
    assert written["Highest r that the raters allow"] == "0.90; their mean has reliability 0.81 [0.71, 0.91]"
    assert found.to_dict()["agreement"]["single"] == one_read - 0.0625


@pytest.mark.parametrize("turned", [False, True])
def test_rankings_that_change_are_found_in_either_order_of_the_strategies(turned):
    about = {"readout": "hard", "quantity": "top1_flip", "n_prompts": 30, "ci_low": 0.0, "ci_high": 0.5}
    about |= {"strategy": "balanced", "other": "fixed", "k": 10, "k_other": 2}
    if turned:
        about |= {"strategy": "fixed", "other": "balanced", "k": 2, "k_other": 10}
    rows = [about | {"comparison": name, "estimate": value} for name, value in (("between", 0.25), ("excess", 0.125))]
    found = gathered("fixed", [("pearson", 0.25)], rows)
    ranks = found.evidence.rankings
    assert (ranks.flip.estimate, ranks.excess.estimate, ranks.usual_reads, ranks.n_prompts) == (0.25, 0.125, 2, 30)
    assert found.evidence.agreement.usual == Interval()  # there are no parts of a difference
    words = dict(card.facts(found.evidence))
    assert words["Best candidate changes from the usual ordering (2 reads) to all"] == "25% [0%, 50%] of 30 prompts"


UNRELATED = Agreement(mean=Interval(0.05, -0.22, 0.30), n_items=20, gold=INTENDED)


def test_agreement_that_is_not_shown_comes_first_and_is_not_mended_by_averaging():
    found = verdict.judge(dataclasses.replace(PLAIN, agreement=UNRELATED))
    assert found.word == "equivalent"
    assert found.reasons[0] == (
        "Agreement with intended levels is not shown to be above 0: r = 0.05 [-0.22, 0.30] over 20 items, mean of all "
        "reads."
    )
    assert found.advice.startswith(
        "First test another judge or prompt against people: agreement with intended levels is not shown to be above 0, "
        "and averaging over orderings does not mend that. "
    )
    assert found.advice.endswith(verdict.ONE_ORDER)
    # Few groups say little of agreement too: more of them come first.
    few = verdict.judge(dataclasses.replace(PLAIN, agreement=UNRELATED, n_groups=19))
    assert few.reasons[-1] == found.reasons[0]
    assert "another judge" not in few.advice


@pytest.mark.parametrize(
    ("r", "expected", "word"),
    [
        (Interval(0.5, 0.1, 0.8), Interval(), ""),
        (Interval(0.15, 0.05, 0.25), Interval(), "with people is low: r = 0.15"),
        (Interval(-0.4, -0.6, -0.1), Interval(), "with people is below 0: r = -0.40"),
        (Interval(0.05, -0.2, 0.3), Interval(0.6, 0.4, 0.8), ""),  # its probabilities know what it does not write
        (Interval(0.05, -0.2, 0.3), Interval(0.1, -0.1, 0.3), "[-0.20, 0.30] by its written scores and 0.10 [-0.10"),
        (Interval(0.05), Interval(), ""),  # without an interval
    ],
)
def test_agreement_is_in_doubt_by_the_interval_of_the_readout_that_agrees_best(r, expected, word):
    found = verdict.judge(dataclasses.replace(PLAIN, agreement=Agreement(mean=r, expected=expected, n_items=90)))
    assert (word in found.reasons[0]) if word else not any("Agreement" in text for text in found.reasons)
    assert ("another judge" in found.advice) == bool(word)


def test_the_demo_judge_is_not_shown_to_agree_with_anybody():
    (one,) = ro.bias_card(ROOT / "docs/data/smollm2_demo.parquet")
    both = "r = 0.05 [-0.22, 0.30] by its written scores and 0.12 [-0.28, 0.48] by its expected ones over 20 items"
    assert f"is not shown to be above 0: {both}" in one.verdict.reasons[0]
    assert one.to_dict()["agreement"]["expected"] == pytest.approx(0.1177, abs=1e-3)


def test_reads_without_human_scores_have_cards_without_people():
    reads = simulated_reads(groups=30, strategies=("balanced",))
    (made,) = card.cards(estimates.of_card(reads))
    assert made.evidence.agreement.mean.estimate > 0.5
    (made,) = card.cards(estimates.of_card(reads.assign(human_score=float("nan"))))
    assert made.evidence.agreement is None
    assert made.to_dict()["agreement"] is made.to_dict()["rankings"] is None
    assert not any("people" in name for name, _ in card.facts(made.evidence))


def test_rotations_without_reversals_tell_the_shift_by_the_usual_ordering():
    reads = simulated_reads(groups=60, candidates=1, strategies=("repeated_rotations",), noise=0.5)
    reads = reads[reads["read_index"] < 5].assign(strategy="recorded")
    content = of_reads(reads).to_dict()
    assert content["usual_minus_balanced"] is not None
    assert content["readouts"]["hard"]["smaller_than_margin"]["points"] is not None
    assert content["design"] == {"fewest": 1, "most": 1, "shared": True, "balanced": True, "crossed": True}
    (found,) = limits.check([content], limits.Limits(points=0.8))
    assert found.outcome == "passed"


def test_a_judge_of_two_levels_without_bias_can_be_equivalent():
    found = of_reads(
        without_people(simulated_reads(groups=600, candidates=1, n=2, strategies=("balanced",), noise=0.7))
    )
    assert [*found.verdict.tests] == [("hard", "points")]
    assert found.verdict.word == "equivalent"


def test_a_card_has_the_shift_by_written_and_by_expected_scores():
    """The demo's judge writes 5 nearly always: what its probabilities do stands beside that, not in its place."""
    (one,) = ro.bias_card(ROOT / "docs/data/smollm2_demo.parquet")
    shifts = {name: value for name, value in card.facts(one.evidence) if name.startswith("Usual ordering less")}
    name = "Usual ordering less mean of all orderings, points"
    assert shifts == {
        f"{name} (written scores)": "+0.05 [-0.02, +0.13]",
        f"{name} (expected scores)": "+0.25 [+0.20, +0.30]",
    }


def there_and_back(rng, *, shift, groups=40, group_shift=0.0):
    """Scores of items in unequal groups, each read from 1 to 5 and from 5 to 1.

    Args:
        shift: mean of the first reading less the second, in points, of all groups. group_shift: its SD between groups.
    """
    group = np.repeat(np.arange(groups), rng.integers(1, 5, groups))
    moved = shift + group_shift * rng.standard_normal(groups)[group]
    quality = rng.normal(3, 0.8, len(group))
    rows = []
    for ordering, part in (("1 2 3 4 5", moved / 2), ("5 4 3 2 1", -moved / 2)):
        score = np.clip(np.rint(quality + part + rng.normal(0, 0.7, len(group))), 1, 5).astype(int)
        rows.append(pd.DataFrame({"item": np.arange(len(group)), "group": group, "ordering": ordering, "score": score}))
    return pd.concat(rows, ignore_index=True)


def test_a_judge_that_takes_the_first_position_is_biased_in_two_orderings_too():
    """Half of 40 items are read as 1 and 5, the other half as 2 and 4: the shift is 2 points of each of them, or 1."""
    scores = {"1 2 3 4 5": [1] * 20 + [2] * 20, "5 4 3 2 1": [5] * 20 + [4] * 20}
    table = pd.concat(pd.DataFrame({"item": range(40), "ordering": o, "score": s}) for o, s in scores.items())
    (made,) = ro.bias_card(table)
    content = made.to_dict()
    assert content["verdict"] == "biased"
    assert content["headline"] == "Biased: the usual order scores 1.50 points below the mean of all orders."
    assert content["usual_minus_balanced"] == pytest.approx(-1.5)
    mean = stats.t.interval(0.95, 39, -1.5, stats.sem([-2] * 20 + [-1] * 20))
    assert (content["usual_minus_balanced_low"], content["usual_minus_balanced_high"]) == pytest.approx(mean)
    assert content["n_tests"] == 1
    assert content["v"] is content["preference"] is None
    assert verdict.UNKNOWN_POSITIONS in content["reasons"]


def test_two_orderings_without_a_difference_cannot_tell_and_say_what_was_seen():
    table = there_and_back(np.random.default_rng(1), shift=0)
    (made,) = ro.bias_card(table)
    assert made.verdict.word == "cannot tell"
    assert "Not every score was shown often enough in every position (2 orderings)" in made.verdict.reasons[0]
    assert "points from the mean of these orderings" in made.verdict.reasons[1]
    assert "The test finds no effect of the order: p = " in made.verdict.reasons[1]


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "group_shift", "least", "most"), [(0, 0, 0, 7), (0, 0.8, 0, 7), (0.5, 0.4, 85, 100)])
def test_two_orderings_find_a_shift_and_seldom_one_that_is_none(shift, group_shift, least, most):
    """100 studies of 40 unequal groups; the level of a card is 3%."""
    rng = np.random.default_rng(2)
    studies_read = [
        there_and_back(rng, shift=shift, group_shift=group_shift).assign(judge=f"j{number}") for number in range(100)
    ]
    biased = [made.verdict.word == "biased" for made in ro.bias_card(pd.concat(studies_read, ignore_index=True))]
    assert len(biased) == 100
    assert least <= sum(biased) <= most


def test_the_record_of_a_card_has_the_keys_of_the_schema():
    properties = summary.schema()["$defs"]["card"]
    assert set(properties["properties"]) == set(CardRecord.__annotations__) - {"criterion"}
    assert set(properties["required"]) == CardRecord.__required_keys__
    (made,) = ro.bias_card(pd.DataFrame({"item": ["a", "b"] * 4, "ordering": ["1 2", "2 1"] * 4, "score": [1, 2] * 4}))
    assert set(made.to_dict()) == set(properties["properties"]) - {"cost"}


NEVER = Needed(math.inf, "even 1,000,000 groups are too few")


@pytest.mark.parametrize(
    ("log_odds", "points", "equivalent", "expected"),
    [
        (
            Needed(34),
            Needed(120),
            Needed(51),
            "With 80% power, 34 groups like these find a preference of 0.2 log-odds for one position, and 120 a shift "
            "of 0.1 points by the usual ordering; 51 show a judge without bias to be equivalent.",
        ),
        (
            NEVER,
            Needed(120),
            Needed(51),
            "With 80% power, 120 groups like these find a shift of 0.1 points by the usual ordering. No number of "
            "groups finds a preference of 0.2 log-odds for one position: even 1,000,000 groups are too few. With 80% "
            "power, 51 groups show a judge without bias to be equivalent.",
        ),
        (
            NEVER,
            NEVER,
            NEVER,
            "No number of groups finds a preference of 0.2 log-odds for one position or a shift of 0.1 points by the "
            "usual ordering: even 1,000,000 groups are too few. No number of groups shows equivalence: even 1,000,000 "
            "groups are too few.",
        ),
    ],
)
def test_numbers_of_groups_are_said_in_whole_sentences(log_odds, points, equivalent, expected):
    assert groups.sentence(groups.Groups(log_odds, points, equivalent, None, (0.2, 0.1), 0.8)) == expected
