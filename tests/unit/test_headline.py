"""The first line of a card: verdict, points and decisions, and the words of its numbers."""

import dataclasses

import pytest
from test_cards import PLAIN

from rubric_order.base.gold import INTENDED
from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.readouts import Readout
from rubric_order.cards import card, headline, terms
from rubric_order.cards.evidence import Agreement, Rankings, ReadoutResults, Small
from rubric_order.cards.spread import Spread
from rubric_order.cards.verdict import VERDICTS, Verdict, judge

NOTHING = Small()


def line(word, *, usual=UNKNOWN, small=NOTHING, scores=UNKNOWN, best=UNKNOWN, readout=Readout.SOFT):
    hard = ReadoutResults(Readout.HARD, usual=usual, small_points=small)
    found = dataclasses.replace(PLAIN, hard=hard, soft=None, spread=Spread(readout=readout, scores=scores, best=best))
    return headline.headline(found, Verdict(word, (), {})).sentence


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"usual": Interval(-0.34), "scores": Interval(0.31), "best": Interval(0.16)},
            "Biased: the usual order scores 0.34 points below the mean of all orders; 31% of scores change with the "
            "order beyond chance; the best answer changes in 16% of prompts.",
        ),
        (
            {"usual": Interval(0.004), "scores": Interval(0.004), "best": Interval(-0.02)},
            "Biased: the usual order scores as the mean of all orders; hardly a score changes with the order beyond "
            "chance; the best answer changes in hardly a prompt.",
        ),
        (
            {"scores": Interval(0.1), "readout": Readout.HARD},
            "Biased: at least 10% of scores change with the order beyond chance.",
        ),
        ({}, "Biased."),
    ],
)
def test_a_bias_has_its_size_in_points_and_in_decisions(values, expected):
    assert line("biased", **values) == expected


def test_a_bias_of_the_probabilities_has_its_size_in_expected_scores():
    hard, soft = (
        ReadoutResults(name, usual=Interval(size)) for name, size in ((Readout.HARD, 0.05), (Readout.SOFT, 0.25))
    )
    both = dataclasses.replace(PLAIN, hard=hard, soft=soft, spread=Spread())
    verdict = Verdict("biased by its option probabilities", (), {})
    assert headline.headline(both, verdict).sentence == (
        "Biased by its option probabilities: the usual order's expected score is 0.25 points above the mean of all "
        "orders."
    )
    assert (
        "the usual order scores 0.05 points above"
        in headline.headline(dataclasses.replace(both, soft=None), verdict).size
    )


def test_other_verdicts_say_what_is_left_open():
    shown, open_ = Small("shown", 0.1, Interval(0.0, -0.02, 0.03)), Small("undecided", 0.1, Interval(0.1, -0.1, 0.27))
    assert line("equivalent", small=shown, scores=Interval(0.02)) == (
        "Equivalent to a judge without bias: no order moves the mean score by 0.1 points or more; 2.0% of scores "
        "change with the order beyond chance."
    )
    assert line("cannot tell", small=open_, usual=Interval(0.2)) == (
        "Cannot tell: an order could move the mean score by up to 0.27 points."
    )
    assert line("cannot tell") == "Cannot tell."


def test_of_a_judge_that_writes_one_score_the_line_says_that_its_probabilities_change():
    spread = Spread(readout=Readout.SOFT, scores=Interval(0.2), best=Interval(0.37))
    one_score = dataclasses.replace(PLAIN, commonest_share=1.0, soft=None, spread=spread)
    assert headline.headline(one_score, Verdict("cannot tell", (), {})).size.endswith(
        "by the option probabilities 20% of scores change with the order beyond chance; the best answer changes in 37% "
        "of prompts"
    )
    of_best = dataclasses.replace(one_score, spread=Spread(readout=Readout.SOFT, best=Interval(0.37)))
    assert headline.headline(of_best, Verdict("cannot tell", (), {})).size.endswith(
        "by the option probabilities the best answer changes in 37% of prompts"
    )
    written = dataclasses.replace(one_score, spread=dataclasses.replace(spread, readout=Readout.HARD))
    assert "probabilities" not in headline.headline(written, Verdict("cannot tell", (), {})).size


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


@pytest.mark.parametrize(
    ("failed", "sentence"),
    [
        (0.2, "Cannot tell: 31% of scores change with the order beyond chance."),
        (0.4, "Cannot tell: 40% of the reads have no score; 31% of scores change with the order beyond chance."),
        (0.98, "Cannot tell: 98% of the reads have no score."),
    ],
)
def test_reads_without_a_score_come_first_and_most_of_them_leave_no_size(failed, sentence):
    """800 reads of a model of which 13 had a score: the first line was about those 13."""
    asked = 1000
    counts = {"n_reads": round(asked * (1 - failed)), "n_failed": round(asked * failed)}
    single = Spread(readout=Readout.SOFT, scores=Interval(0.31))
    found = dataclasses.replace(PLAIN, hard=ReadoutResults(Readout.HARD), soft=None, spread=single, **counts)
    assert headline.headline(found, Verdict("cannot tell", (), {})).sentence == sentence


def test_agreement_of_the_few_reads_with_a_score_is_not_what_to_mend_first():
    doubted = dataclasses.replace(
        PLAIN, n_reads=16, n_failed=784, agreement=Agreement(mean=Interval(-0.2, -0.4, -0.03), n_items=4)
    )
    verdict = judge(doubted)
    assert verdict.advice.startswith("Look at the single reads first")
    assert "is below 0" in verdict.reasons[-1]
    assert "is below 0" in judge(dataclasses.replace(doubted, n_reads=784, n_failed=16)).reasons[0]
