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
from rubric_order.cards import card, groups, summary, verdict
from rubric_order.cards.evidence import Agreement, Evidence, ReadoutResults, Small
from rubric_order.cards.record import CardRecord
from rubric_order.cards.spread import Spread
from rubric_order.extras.gate import limits
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
    assert "an order moves the mean score by at most 0.03 points, margin 0.1;" in reasons
    assert "a position adds at most 0.04 log-odds, margin 0.2;" in reasons


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


def test_a_card_speaks_of_as_many_groups_as_are_needed_and_not_of_one_less():
    assert "at least 20 are needed" in said({}, n_groups=19)[1]
    assert "at least 20 are needed" not in said({}, n_groups=20)[1]


def test_effective_groups_are_known_of_reads_and_those_of_equal_groups_are_all():
    table = simulated_reads(groups=24, candidates=6, strategies=["balanced"], seed=3)
    (equal,) = card.cards(estimates.card_statistics(table))
    assert equal.evidence.effective_groups == pytest.approx(24)
    assert equal.evidence.heaviest_group == pytest.approx(1 / 24)
    first = table["group_id"].factorize(sort=True)[0] < 2
    number = table.groupby("group_id")["item_id"].transform(lambda ids: ids.factorize(sort=True)[0])
    (unequal,) = card.cards(estimates.card_statistics(table[first | (number < 1)]))
    assert unequal.evidence.n_groups == 24
    assert unequal.evidence.heaviest_group == pytest.approx(6 / 34)
    assert unequal.evidence.effective_groups == pytest.approx(34**2 / (2 * 6**2 + 22))
    assert unequal.verdict.word == "cannot tell"
    assert unequal.to_dict()["effective_groups"] == unequal.evidence.effective_groups


def test_what_is_left_open_is_rounded_up():
    small = Small("shown", 0.2, Interval(0.001, -0.001, 0.003))
    assert "at most 0.01" in said({"small_log_odds": small})[1]


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
    moved = "not known: needs repeats of each ordering that are no copies, or option probabilities"
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
    assert saturated[least] == "not known: the reads of an item hardly differ"


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
    (made,) = card.cards(estimates.card_statistics(reads.assign(**gone, failure=np.where(failed, "truncated", None))))
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
    (found,) = card.cards(estimates.card_statistics(scores))
    return found


def simulated(judge, seed, *, groups, candidates, **keys):
    reads = studies.read_items(judge, n=5, strategies=["balanced"], groups=groups, candidates=candidates, seed=seed)
    return studies.as_scores(reads, candidates=candidates, **keys)


def without_people(scores):
    """Agreement with people decides no verdict, and takes most of the time of a card."""
    return scores.assign(human_score=math.nan)


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
        statistics = estimates.card_statistics(without_people(pd.concat(each, ignore_index=True)))
        words += [found.verdict.word for found in card.cards(statistics)]
    assert len(words) == 100  # `tests/recovery/unfavourable.py` has more
    assert words.count(wrong) <= 5 + 4  # 5%, and two standard errors of 100 studies


def advice(readout=None, **changes):
    hard = dataclasses.replace(QUIET, **(readout or {}))
    return verdict.judge(dataclasses.replace(PLAIN, **({"hard": hard} | changes))).advice


ERRORS = {"preference_errors": (0.1,) * 3, "interaction_error": 0.1, "shift_errors": (0.06,) * 6}
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


def test_groups_that_find_a_shift_follow_from_the_usual_orderings_own_interval():
    """The usual ordering is read five times, others once: its error is smaller. Power of an F test, by hand."""
    rng = np.random.default_rng(3)
    orders = np.vstack([np.roll(np.arange(1, 6), k) for k in (0, 0, 0, 0, 0, 1, 2, 3, 4)])
    item, read = (places.ravel() for places in np.indices((60, len(orders))))
    table = pd.DataFrame({"item": item, "ordering": [" ".join(map(str, orders[k])) for k in read]})
    (made,) = card.cards(
        estimates.card_statistics(estimates.scores_of(table.assign(score=rng.integers(1, 6, len(item)))))
    )
    usual, tests = made.evidence.points.usual, len(made.verdict.tests)
    error = (usual.high - usual.low) / 2 / stats.t.ppf(0.975, 59)

    def power(n_groups):
        critical = stats.f.ppf(1 - groups.order_tests.LEVEL / tests, 1, n_groups - 1)
        return stats.ncf.sf(critical, 1, n_groups - 1, (0.1 / error) ** 2 * n_groups / 60)

    found = made.to_dict()["groups_for_biased"]["points"]
    assert power(found) >= 0.8 > power(found - 1)


def test_a_card_with_one_read_an_ordering_says_that_no_number_of_groups_is_enough():
    hard = dataclasses.replace(QUIET, small_points=WIDE, **ERRORS)
    found = verdict.judge(dataclasses.replace(PLAIN, hard=hard, spread=ONCE, n_reads=600))
    assert found.planned.content()["groups_for_equivalent"] is None
    assert found.planned.content()["groups_for_equivalent_with_repeats"] > 50
    assert (
        "No number of groups can show a judge without bias to be equivalent: where orderings are read once"
        in found.advice
    )
    assert "With each ordering read twice, " in found.advice


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


def agreement_row(quantity, estimate, **about):
    ends = {"ci_low": estimate - 0.1, "ci_high": estimate + 0.1}
    about = {"criterion": "all", "readout": "hard", "cluster": "group", "n_items": 30} | about
    return {"strategy": "balanced"} | about | {"quantity": quantity, "estimate": estimate} | ends


def gathered(usual, compared, ranked=()):
    """A card of reads in two strategies, with tables about people that are made by hand."""
    reads = simulated_reads(groups=30, candidates=2, strategies=("balanced", usual), reads=2)
    keys = {name: reads[name].iloc[0] for name in KEYS if name != "strategy"}
    found = dict(estimates.card_statistics(reads))
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
    (made,) = card.cards(estimates.card_statistics(reads))
    assert made.evidence.agreement.mean.estimate > 0.5
    (made,) = card.cards(estimates.card_statistics(reads.assign(human_score=float("nan"))))
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
    assert content["headline"].startswith("Biased: the usual order scores 1.50 [")
    assert "points below the mean of all orders" in content["headline"]
    assert content["usual_minus_balanced"] == pytest.approx(-1.5)
    mean = stats.t.interval(0.95, 39, -1.5, stats.sem([-2] * 20 + [-1] * 20))
    assert (content["usual_minus_balanced_low"], content["usual_minus_balanced_high"]) == pytest.approx(mean)
    assert content["n_tests"] == 1
    assert content["v"] is content["preference"] is None
    assert any("Not every score was shown" in text for text in content["reasons"])


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
            "Groups like these that 80% power needs: 34 to find a preference of 0.2 log-odds for one position; 120 to "
            "find a shift of 0.1 points by the usual ordering; 51 to show a judge without bias to be equivalent.",
        ),
        (
            NEVER,
            Needed(120),
            Needed(51),
            "Groups like these that 80% power needs: 120 to find a shift of 0.1 points by the usual ordering; 51 to "
            "show a judge without bias to be equivalent. No number of groups can find a preference of 0.2 log-odds "
            "for one position: even 1,000,000 groups are too few.",
        ),
        (
            NEVER,
            NEVER,
            NEVER,
            "No number of groups can find a preference of 0.2 log-odds for one position: even 1,000,000 groups are "
            "too few. No number of groups can find a shift of 0.1 points by the usual ordering: even 1,000,000 groups "
            "are too few. No number of groups can show a judge without bias to be equivalent: even 1,000,000 groups "
            "are too few.",
        ),
    ],
)
def test_numbers_of_groups_are_said_in_whole_sentences(log_odds, points, equivalent, expected):
    assert groups.sentence(groups.Groups(log_odds, points, equivalent, None, (0.2, 0.1), 0.8)) == expected


SOFT = dataclasses.replace(QUIET, name="soft")
BY_BOTH = {"soft": SOFT, "exponent": (0.9, 1.1)}  # answers are drawn from the probabilities
WIDE = Small("undecided", 0.1, Interval(0.0, -0.2, 0.2))
OPEN = {"small_points": WIDE}
UNEQUAL = {"n_groups": 60, "effective_groups": 7.4, "heaviest_group": 0.31}
MOVED = Spread("soft", Interval(0.15, 0.14, 0.16), 0.16, 0.1, "not shown", Interval(0.2, 0.18, 0.22))


@pytest.mark.parametrize(
    ("readout", "changes", "word", "sentence"),
    [
        # Findings: adjusted for their number (four tests, or five), and not shown to be smaller than the margin.
        ({"p_points": 0.049} | OPEN, {}, "cannot tell", "p = 0.196 is the smallest of 4 tests, adjusted; 0.03 or less"),
        ({"p_points": 0.007} | OPEN, {}, "biased", "Mean scores differ between orderings: the two that differ most"),
        ({"p_points": 0.007, "p_usual": 0.9} | OPEN, {}, "cannot tell", "p = 0.035 is the smallest of 5 tests"),
        (
            {"p_usual": 0.005, "usual": Interval(0.1, 0.05, 0.15)} | OPEN,
            {},
            "biased",
            "The usual ordering shifts the mean score by +0.10 [+0.05, +0.15] points (p = 0.025).",
        ),
        (
            {
                "p_interaction": 1e-9,
                "interaction": Interval(-0.3, -0.4, -0.2),
                "small_interaction": Small("not shown", 0.2, Interval(-0.3, -0.4, -0.2)),
            },
            {},
            "biased",
            "The first position adds +0.30 [+0.20, +0.40] log-odds more to the highest score than to scores on average",
        ),
        (
            {"p_preference": 1e-9, "small_log_odds": Small("undecided", 0.2, Interval(0.2, 0.1, 0.3))},
            {},
            "biased",
            "Position 1 adds +0.01 [-0.02, +0.04] to the log-odds of the score that stands there, position 3 -0.01",
        ),
        (
            {"p_selection": 1e-9, "small_log_odds": Small("undecided", 0.2, Interval(0.2, 0.1, 0.3))},
            {},
            "biased",
            "Positions are not selected equally often: position 1 gets 34%, position 2 33%, where 33% is equal (V 0.01",
        ),
        # Found and shown to be smaller than the margin.
        (
            {"p_points": 0.007},
            {},
            "equivalent",
            "Detectable, but smaller than the margin (0.1): Mean scores differ between orderings",
        ),
        (
            {"p_interaction": 1e-6, "interaction": Interval(0.00123, 0.00101, 0.00148)},
            {},
            "equivalent",
            "The first position adds +0.0012 [+0.0010, +0.0015] log-odds more to the lowest score",
        ),
        ({"p_selection": 1e-9}, {"spread": Spread()}, "cannot tell", "Detectable, but smaller than the margin (0.2)"),
        # The readout that decides.
        ({"p_selection": 1e-9, "p_preference": 1e-9, "p_interaction": 1e-9}, BY_BOTH, "equivalent", "No test finds"),
        ({"p_points": 0.009} | OPEN, BY_BOTH, "biased", "p = 0.027"),
        ({"p_points": 1e-9} | OPEN, BY_BOTH | {"drawn": True}, "equivalent", "(expected scores)"),
        # Saturation is only a reason why nothing is found.
        ({"p_points": 1e-9} | OPEN, {"commonest_share": 0.96}, "biased", "Mean scores differ"),
        ({}, {"commonest_share": 0.96}, "cannot tell", "saturated: it gives score 1 in 96% of its reads"),
        ({"saturated": True}, {"discordant_share": 0.02}, "cannot tell", "only 2.0% of the pairs"),
        (
            {"saturated": True},
            {"discordant_share": 0.0, "n_reads": 1000, "n_groups": 100},
            "cannot tell",
            "No order changed a score in 1,000 reads: with 95% confidence it changes one in at most 3.0%",
        ),
        (
            {"saturated": True, "small_points": Small("undecided", 0.1, Interval())},
            {"discordant_share": 0.0, "n_reads": 1000, "n_groups": 100},
            "cannot tell",
            "No ordering moved the mean score of these reads; how far one could is not known.",
        ),
        # Two levels: one test, no interaction.
        (
            {"interaction": Interval(), "p_interaction": math.nan, "small_interaction": Small("undecided", 0.2)},
            {"keys": PLAIN.keys | {"n": 2}},
            "equivalent",
            "No test finds an effect of the order over all items: p = 0.500; 0.03 or less is a finding.",
        ),
        ({"p_points": 0.029} | OPEN, {"keys": PLAIN.keys | {"n": 2}}, "biased", "p = 0.029"),
        # Reads that cannot answer.
        ({"p_points": 1e-9} | OPEN, {"n_groups": 19}, "cannot tell", "19 groups"),
        ({"p_points": 1e-9} | OPEN, {"n_groups": 1}, "cannot tell", "is 1 group"),
        ({"p_points": 1e-9} | OPEN, {"n_failed": 120}, "cannot tell", "23% of the reads have no score"),
        ({"v": Interval()}, {}, "cannot tell", "No item was read in several orderings"),
        ({}, {"n_orderings": 1, "crossed": False}, "cannot tell", "in one ordering"),
        ({}, {"n_orderings": 2, "crossed": False}, "cannot tell", "(2 orderings)"),
        ({}, {"hard": None, "n_reads": 0}, "cannot tell", "No read has a score."),
        # Groups: the number that is meant.
        ({"p_points": 1e-9} | OPEN, UNEQUAL, "cannot tell", "as informative as 7 equal ones (the largest has 31%"),
        (
            {"p_points": 1e-9} | OPEN,
            UNEQUAL | {"causes": ({"cause": "group", "readout": "hard", "correlation": 0.1, "groups": 40.0},)},
            "biased",
            "Mean scores differ",
        ),
        # What is left open.
        (OPEN, {}, "cannot tell", "Not excluded: an order moves the mean score by up to 0.20 points (margin 0.1)."),
        (
            {"small_points": Small("undecided", 0.1, Interval(0.0, -0.01, 0.01))},
            {},
            "cannot tell",
            "50 groups cannot exclude that in a few an order moves the mean score by 0.1 points or more.",
        ),
        ({"small_interaction": Small("undecided", 0.2, Interval(0.1, -0.1, 0.3))}, {}, "cannot tell", "up to 0.30 log"),
        ({}, {"spread": MOVED}, "cannot tell", "moves single items, up or down, by 0.15 [0.14, 0.16] points"),
        ({}, {"spread": MOVED}, "cannot tell", "changes 20% [18%, 22%] of the scores by the option probabilities"),
        ({}, {"spread": Spread("hard", margin=0.1)}, "cannot tell", "read each one twice"),
    ],
)
def test_a_verdict_follows_from_the_table_of_estimands(readout, changes, word, sentence):
    found, reasons = said(readout, **changes)
    assert (found, sentence in reasons) == (word, True), reasons


def cause(name, readout="hard", **values):
    return {"causes": ({"cause": name, "readout": readout} | values,)}


LOST = {"p": 1e-9, "share": 0.2, "others": 0.0, "ordering": "1 2 3", "low": -0.1, "high": 0.3}
LOST |= {"worst_low": -0.2, "worst_high": 0.6}
FOUND = {"p_points": 1e-9, "p_usual": 1e-9, "usual": Interval(0.2, 0.1, 0.3)} | OPEN
PREFERS = {"p_preference": 1e-9, "small_log_odds": Small("not shown", 0.2, Interval(0.5, 0.4, 0.6))}
UNSEEN = {"points": 0.6, "usual": 0.9}


@pytest.mark.parametrize(
    ("readout", "changes", "word", "sentence"),
    [
        (FOUND, cause("failures", tests=UNSEEN, **LOST), "cannot tell", "points (at worst -0.20 to +0.60)."),
        (FOUND, cause("failures", tests={"points": 1e-6}, **LOST), "biased", "in 20% of the reads of ordering 1 2 3"),
        (FOUND, cause("failures", p=0.3), "biased", "shifts the mean score"),
        ({}, cause("failures", tests=UNSEEN, **LOST), "cannot tell", "Scores are missing where it matters"),
        (
            PREFERS,
            cause("one ordering", ordering="3 2 1", tests={"preference": 0.4}),
            "cannot tell",
            "Without ordering 3 2 1",
        ),
        (PREFERS, cause("one ordering", "soft", ordering="3 2 1", tests={"preference": 0.4}), "biased", "Position 1"),
        (
            PREFERS | FOUND,
            cause("scale", ordering="3 2 1", times=2.0, tests={"preference": 0.4}),
            "biased",
            "Ordering 3 2 1 is 2.0 times as sure as others. Then no test finds a preference",
        ),
        (
            {},
            cause("copies", cells=40, differ=0.0, orderings=0.5),
            "cannot tell",
            "Repeats of one prompt never differ (40 prompts), two orderings of an item in 50%",
        ),
        (
            {},
            cause("copies", cells=40, differ=0.0, orderings=0.5) | {"temperature": 0.0},
            "equivalent",
            "No test finds",
        ),
        (
            {},
            BY_BOTH
            | cause("written", p=0.4, sd=0.05, low=0.0, high=0.14, bound=0.12, second=False, drawn=0.04)
            | {"spread": dataclasses.replace(PLAIN.spread, readout="soft")},
            "cannot tell",
            "beyond their probabilities is 0.05 [0.00, 0.14] points (SD; margin 0.1), not shown to be less",
        ),
        (
            {},
            BY_BOTH
            | cause("written", p=0.4, sd=0.0, low=0.0, high=0.01, bound=0.01, second=False, drawn=0.13)
            | {"spread": dataclasses.replace(PLAIN.spread, readout="soft")},
            "cannot tell",
            "an ordering moves single ones by up to 0.13 points (SD; margin 0.1)",
        ),
        (
            {},
            BY_BOTH | {"spread": dataclasses.replace(PLAIN.spread, readout="soft"), "written_spread": MOVED},
            "cannot tell",
            "By repeats, an ordering moves single written scores by 0.15 [0.14, 0.16] points",
        ),
        (
            {},
            BY_BOTH | {"spread": dataclasses.replace(PLAIN.spread, readout="soft"), "exponent": (50.0, math.inf)},
            "cannot tell",
            "The most probable score is nearly always written",
        ),
        (
            {},
            BY_BOTH | {"spread": dataclasses.replace(PLAIN.spread, readout="soft"), "exponent": (math.nan, math.nan)},
            "cannot tell",
            "Written scores are not shown to follow the option probabilities. Users see the written scores.",
        ),
        (
            {},
            BY_BOTH
            | {"spread": dataclasses.replace(PLAIN.spread, readout="soft"), "exponent": (math.nan, math.nan)}
            | cause("impossible", share=0.07),
            "cannot tell",
            "Written scores do not follow the option probabilities: 7.0% of them have probability 0.",
        ),
        (
            {},
            BY_BOTH | cause("rounding", "soft") | {"spread": dataclasses.replace(PLAIN.spread, readout="soft")},
            "cannot tell",
            "Option probabilities have one decimal",
        ),
    ],
)
def test_a_finding_has_to_survive_other_causes_and_smallness_needs_what_shows_it(readout, changes, word, sentence):
    found, reasons = said(readout, **changes)
    assert (found, sentence in reasons) == (word, True), reasons


def test_copies_come_first_on_a_card_and_nothing_is_said_of_chance():
    found = dataclasses.replace(PLAIN, **cause("copies", cells=40, differ=0.0, orderings=0.5))
    verdict_of = verdict.judge(found)
    assert verdict_of.reasons[0].startswith("Repeats of one prompt never differ")
    assert "chance is not known" in verdict_of.reasons[0] or "What chance does is not known" in verdict_of.reasons[0]
    assert "Read each prompt in two independent calls" in verdict_of.advice


def test_the_table_of_a_card_has_what_decides():
    found = dataclasses.replace(PLAIN, hard=dataclasses.replace(QUIET, **FOUND))
    rows = {row["name"]: row for row in card.Card(found, verdict.judge(found)).to_dict()["estimands"]}
    assert [*rows] == ["points", "log_odds", "interaction", "single", "best"]
    points = rows["points"]
    assert (points["estimate"], points["ci_low"], points["margin"], points["biased"]) == (0.2, 0.1, 0.1, True)
    assert (rows["log_odds"]["small"], rows["log_odds"]["bound_high"], rows["best"]["estimate"]) == (True, 0.04, None)


def test_a_judge_that_gives_every_score_the_same_probability_is_never_equivalent():
    """True if its ties are written as one score, and are no failures."""
    tied = {"hard": None, "n_reads": 0, "n_failed": 400, "commonest_score": None}
    for changes in ({}, tied):
        found = dataclasses.replace(PLAIN, **BY_BOTH | {"top_probability": 1 / 3} | changes)
        decided = verdict.judge(found)
        assert decided.word == "cannot tell"
        assert any(text.startswith("The judge says nothing of these texts") for text in decided.reasons)
        assert decided.planned is None
        assert "tokens of its labels" in decided.advice
        assert card.Card(found, decided).to_dict()["says_nothing"]
    assert said(**BY_BOTH, top_probability=0.34)[0] == "equivalent"
    # Probabilities that differ in favour of one position are a bias.
    assert said({"p_points": 1e-9} | OPEN, **BY_BOTH, top_probability=1 / 3)[0] == "biased"


def test_a_saturated_judge_whose_probabilities_move_is_biased_by_them():
    soft = dataclasses.replace(SOFT, p_preference=1e-9, small_log_odds=Small("not shown", 0.2, Interval(0.5, 0.4, 0.6)))
    of = {"commonest_share": 0.99, "top_probability": 0.9}
    word, reasons = said({"saturated": True}, soft=soft, **of)
    assert word == "biased by its option probabilities"
    assert "Written scores hardly show it: it gives score 1 in 99% of its reads." in reasons
    assert "by the option probabilities, position 3" in reasons
    assert said({"saturated": True}, soft=SOFT, **of)[0] == "cannot tell"
    assert said({"saturated": True}, soft=soft, n_groups=19, **of)[0] == "cannot tell"


def test_one_score_is_judged_in_each_ordering():
    assert dataclasses.replace(PLAIN, commonest_share=0.96).saturated
    assert not dataclasses.replace(PLAIN, commonest_share=0.96, **cause("saturation", least=0.6)).saturated


@pytest.mark.parametrize(
    ("readout", "changes", "words"),
    [
        ({}, {}, "one ordering is enough"),
        (FOUND, {}, "Average the scores over these orderings"),
        (FOUND, {}, "Averaging takes 6 calls per text."),
        ({}, {"n_groups": 19}, "at least 20"),
        ({}, {"commonest_share": 0.96}, "items that differ more"),
        ({}, {"n_failed": 120}, "reads without a score first"),
        ({}, {"crossed": False}, "strategy balanced"),
        ({"saturated": True}, {"discordant_share": 0.02}, "sees the rubric"),
        (FOUND, cause("failures", tests=UNSEEN, **LOST), "Find out why scores are missing"),
        ({}, cause("failures", **LOST), "Find out why scores are missing"),
        ({}, {"spread": MOVED}, "For single items, average"),
        (
            FOUND,
            {"spread": dataclasses.replace(PLAIN.spread, orderings=6, needed=Interval(3, 2, 5))},
            "3 [2, 5] random",
        ),
        (
            FOUND,
            {"spread": dataclasses.replace(PLAIN.spread, orderings=6, needed=Interval(1))},
            "Draw an ordering for each text at random: its score typically lies within 0.1 points",
        ),
        (FOUND, {"shared": False}, "Averaging takes 4 calls per text."),  # 400 reads of 100 items
    ],
)
def test_a_card_advises_what_its_table_lacks(readout, changes, words):
    assert words in advice(readout, **changes)


@pytest.mark.parametrize(
    ("judge", "groups", "expected", "why"),
    [
        (Simulation(preference="first"), 60, "biased", "Position 1 adds"),
        (Simulation(preference="u_shaped"), 60, "biased", "position 3"),
        (Simulation(interaction=1.0), 60, "biased", "Mean scores differ"),
        (Simulation(leniency=6, tolerance=0.4), 60, "cannot tell", "saturated"),
        (Simulation(preference="first"), 8, "cannot tell", "8 groups"),
        (Simulation(), 1500, "equivalent", "No test finds an effect of the order over all items"),
    ],
)
def test_judges_whose_bias_is_known(judge, groups, expected, why):
    scores = simulated(judge, 3, groups=groups, candidates=2)
    found = of_reads(scores)
    assert found.verdict.word == expected
    assert why in " ".join(found.verdict.reasons)
    other = of_reads(without_people(scores)).verdict
    assert (other.word, other.reasons, other.tests) == (found.verdict.word, found.verdict.reasons, found.verdict.tests)


def test_two_orderings_without_a_difference_cannot_tell_and_name_what_was_seen():
    (made,) = ro.bias_card(there_and_back(np.random.default_rng(1), shift=0))
    assert made.verdict.word == "cannot tell"
    reasons = " ".join(made.verdict.reasons)
    assert "Not every score was shown often enough in every position (2 orderings)" in reasons
    assert "points from the mean of these orderings" in reasons
    assert "No test finds an effect of the order over all items: p = " in reasons
