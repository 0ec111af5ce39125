"""The first line of a card: verdict, points and decisions, and the words of its numbers."""

import dataclasses
import math

import pytest
from test_cards import PLAIN

from rubric_order.base.gold import INTENDED
from rubric_order.base.intervals import Interval
from rubric_order.base.readouts import Readout
from rubric_order.cards import card, headline, terms
from rubric_order.cards.evidence import Agreement, Rankings, ReadoutResults, Small
from rubric_order.cards.numbers import interval_text, list_text, percent
from rubric_order.cards.spread import Spread
from rubric_order.cards.verdict import VERDICTS, Verdict, judge

OPEN = Small("undecided", 0.1, Interval(0.1, -0.1, 0.27))
FAR = Small("not shown", 0.2, Interval(0.5, 0.4, 0.6))
SHIFT = {"p_points": 1e-9, "small_points": OPEN}
CHANGES = Spread(readout=Readout.SOFT, scores=Interval(0.31, 0.28, 0.34), best=Interval(0.16, 0.1, 0.22))


@pytest.mark.parametrize(
    ("readout", "changes", "expected"),
    [
        (
            SHIFT | {"usual": Interval(-0.34, -0.4, -0.28)},
            {"spread": CHANGES},
            "Biased: the usual order scores 0.34 [0.28, 0.40] points below the mean of all orders; by the option "
            "probabilities 31% [28%, 34%] of scores change with the order beyond chance; the best answer changes in "
            "16% [10%, 22%] of prompts.",
        ),
        # A number whose interval contains 0, or that has no interval, is not there.
        (SHIFT | {"usual": Interval(0.05, -0.1, 0.2)}, {"spread": Spread()}, "Biased."),
        (SHIFT | {"usual": Interval(0.05)}, {"spread": Spread(readout="hard", scores=Interval(0.1))}, "Biased."),
        (
            SHIFT | {"usual": Interval(0.3, 0.2, 0.4)},
            {"spread": Spread(readout="hard", scores=Interval(0.001, 0.0, 0.004), best=Interval(-0.02, -0.1, 0.01))},
            "Biased: the usual order scores 0.30 [0.20, 0.40] points above the mean of all orders; hardly a "
            "score changes with the order beyond chance; the best answer changes in hardly a prompt.",
        ),
        (
            {
                "p_preference": 1e-9,
                "small_log_odds": FAR,
                "preference": (Interval(0.5, 0.4, 0.6), Interval(-0.5, -0.6)),
            },
            {"spread": Spread()},
            "Biased: position 1 adds +0.50 [+0.40, +0.60] log-odds.",
        ),
        (
            {},
            {},
            "Equivalent to a judge without bias: no order moves the mean score by 0.1 points or more; at least 1.0% "
            "[0.0%, 3.0%] of scores change with the order beyond chance.",
        ),
        (
            {"small_points": OPEN, "usual": Interval(0.2, 0.1, 0.3)},
            {"spread": Spread()},
            "Cannot tell: an order could move the mean score by up to 0.27 points.",
        ),
        (
            {"small_log_odds": OPEN},
            {"spread": Spread("hard", margin=0.1)},
            "Cannot tell: no order moves the mean score by 0.1 points or more; not shown to be small: what a position "
            "adds and what an ordering does to single items.",
        ),
        (
            {},
            {"n_reads": 600, "n_failed": 400, "spread": Spread()},
            "Cannot tell: 40% of the reads have no score; an order could move the mean score by up to 0.10 points.",
        ),
        ({}, {"n_reads": 20, "n_failed": 980}, "Cannot tell: 98% of the reads have no score."),
    ],
)
def test_the_first_line_is_the_verdict_and_numbers_with_their_intervals(readout, changes, expected):
    hard = dataclasses.replace(PLAIN.hard, **readout)
    found = dataclasses.replace(PLAIN, hard=hard, **changes)
    assert headline.headline(found, judge(found)).sentence == expected


def test_a_bias_of_the_probabilities_has_its_size_in_expected_scores():
    soft = ReadoutResults(Readout.SOFT, usual=Interval(0.25, 0.2, 0.3), **SHIFT)
    found = dataclasses.replace(PLAIN, soft=soft, commonest_share=0.99, drawn=True, spread=Spread())
    assert headline.headline(found, judge(found)).sentence == (
        "Biased by its option probabilities: the usual order's expected score is 0.25 [0.20, 0.30] points above the "
        "mean of all orders."
    )


def test_the_line_says_that_no_order_changed_a_score():
    hard = dataclasses.replace(PLAIN.hard, saturated=True)
    still = dataclasses.replace(PLAIN, hard=hard, discordant_share=0.0, spread=Spread())
    assert "no order changed a score in 400 reads" in headline.headline(still, Verdict("cannot tell", (), {})).sentence
    one_score = dataclasses.replace(still, commonest_share=1.0)
    assert "no order changed" not in headline.headline(one_score, Verdict("cannot tell", (), {})).sentence


def test_each_verdict_has_words():
    assert set(headline.WORDS) == set(VERDICTS)


def test_each_fact_of_a_card_has_a_term_and_each_term_a_fact():
    known = Interval(0.5, 0.4, 0.6)
    agreement = Agreement(known, 0.5, known, known, known, known, 9)
    people = {"agreement": agreement, "rankings": Rankings(known, known, 1, 9), "copies": "a = b", "n_copies": 2}
    cards = [dataclasses.replace(PLAIN, spread=Spread(readout=readout), **people) for readout in Readout]
    cards.append(dataclasses.replace(PLAIN, agreement=dataclasses.replace(agreement, gold=INTENDED)))
    names = {name for evidence in cards for name, _ in card.facts(evidence)}
    assert [name for name in names if not terms.term(name)] == []
    assert {terms.term(name) for name in names} == set(terms.TERMS.values())


def test_agreement_of_the_few_reads_with_a_score_is_not_what_to_mend_first():
    doubted = dataclasses.replace(
        PLAIN, n_reads=16, n_failed=784, agreement=Agreement(mean=Interval(-0.2, -0.4, -0.03), n_items=4)
    )
    verdict = judge(doubted)
    assert verdict.advice.startswith("Look at the reads without a score first")
    assert "is below 0" in verdict.reasons[-1]
    assert "is below 0" in judge(dataclasses.replace(doubted, n_reads=784, n_failed=16)).reasons[0]


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0%"), (0.034, "3.4%"), (0.25, "25%"), (0.9975, "more than 99%"), (0.99, "99%"), (1, "100%")],
)
def test_a_share_is_100_percent_only_if_it_is_exactly_that(share, words):
    assert percent(share) == words


def test_an_end_that_is_not_0_is_not_written_as_0():
    assert interval_text(Interval(-0.17, -0.34, -0.003), "+z.2f") == "-0.170 [-0.340, -0.003]"
    assert interval_text(Interval(-0.17, -0.34, 0.003), "+z.2f") == "-0.17 [-0.34, +0.00]"


def test_a_bound_of_reads_that_are_missing_is_one_number_and_a_huge_one_is_none():
    causes = ({"cause": "failures", "readout": "hard", "p": 0.01, "position": 1, "low": -0.3, "high": 0.1},)
    hard = dataclasses.replace(PLAIN.hard, small_points=OPEN)
    evidence = dataclasses.replace(PLAIN, hard=hard, causes=causes)
    made = judge(evidence)
    assert headline.headline(evidence, made).size.startswith("an order could move the mean score by up to 0.32 points")
    assert any("mean score by up to 0.32 points" in reason for reason in made.reasons)
    huge = dataclasses.replace(hard, small_log_odds=Small("not shown", 0.2, Interval(0.1, -8257, 8257)))
    reasons = " ".join(judge(dataclasses.replace(PLAIN, hard=huge)).reasons)
    assert "a position adds 0.2 log-odds or more." in reasons


def test_option_probabilities_without_written_scores_are_no_failures():
    soft = dataclasses.replace(PLAIN.hard, name=Readout.SOFT)
    evidence = dataclasses.replace(PLAIN, hard=None, soft=soft, known_share=1.0, n_reads=0, n_failed=400)
    assert "no score" not in headline.headline(evidence, judge(evidence)).sentence
    assert "no score" in headline.headline(dataclasses.replace(evidence, known_share=0.5), judge(evidence)).sentence


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0.01, 0.004, -0.0041, -0.01), "+0.01, 0.00, 0.00, -0.01"),
        ((0.008, -0.002, -0.002), "+0.01, 0.00, 0.00"),
        ((0.0041, -0.002, 0.0), "+0.0041, -0.0020, 0.0000"),
        ((0.0, math.nan), "0.00, not known"),
    ],
)
def test_values_beside_each_other_have_no_sign_where_they_are_0(values, words):
    assert list_text(values) == words
