"""Cards of prompts that ask for several criteria: verdicts by planted effects, their level, and where they stand."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from test_criterion_order import of_groups

from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.labels import Labels
from rubric_order.cards import criteria, summary
from rubric_order.jobs.render_summary import render_summary
from rubric_order.methods import tidy
from rubric_order.methods.position import order_tests
from rubric_order.methods.uncertainty import equivalence

KEY = {
    "study": "s",
    "judge": "j",
    "profile": "default",
    "condition": "baseline",
    "dataset": "d",
    "strategy": "balanced",
}
KEY |= {"n": 5}


def statistic(panel, readout="hard"):
    """Estimates of one panel as the statistic writes them."""
    rows = criterion_order.estimates(panel, levels=5, resamples=499, confidence=0.95, seed=1, key=("x",))
    common = {**KEY, "readout": readout, "n_texts": len(panel.texts), "n_groups": panel.n_groups}
    return tidy.make_table_with_gaps([{**common, **row} for row in rows], criterion_order.ESTIMATES)


def cards_of(panel, margin=0.1):
    return criteria.cards(statistic(panel), margin)


def planted(n_groups=40, shift=0.0, seed=1, **options):
    """Three criteria; the first place adds `shift` points to each."""
    rng = np.random.default_rng(seed)
    return of_groups(n_groups, effect=0.0, rng=rng, mean=shift * np.array([1, 0, 0]), n_criteria=3, **options)


def test_a_planted_effect_of_the_place_is_biased_on_each_card_and_on_the_one_for_all():
    together, *own = cards_of(planted(shift=0.8))
    assert together.criterion == EVERY
    assert [card.verdict for card in (together, *own)] == ["biased"] * 4
    for card in own:
        first, *others = card.shifts
        assert first.low > 0 > max(shift.estimate for shift in others)
        assert first.estimate - np.mean([shift.estimate for shift in others]) == pytest.approx(0.8, abs=0.15)
        assert "position 1 gives it +0." in card.reasons[1]
        assert "adjusted for all tests of the prompt" in card.reasons[0]
    assert together.p <= min(card.p for card in own) <= order_tests.LEVEL
    assert together.effects[0].value.low < 0.8 < together.effects[0].value.high
    assert together.n_scores == sum(card.n_scores for card in own) == 3 * 40 * 8 * 6


def test_a_bias_of_one_criterion_is_on_its_card_and_on_the_one_for_all():
    panel = planted()
    values = panel.values.copy()
    values[:, :, 0] += panel.positions[:, :, 0] == 1
    together, *own = cards_of(panel._replace(values=values))
    assert [card.verdict == "biased" for card in own] == [True, False, False]
    assert together.verdict == "biased"
    assert "biased: " + own[0].criterion in together.reasons[-1]


def test_groups_are_those_in_which_a_criterion_stands_and_all_criteria_together_show_the_effect():
    panel = planted(n_groups=60, shift=0.35, per=1)
    positions = panel.positions.copy()
    positions[np.arange(60) % 20 > 0, :, 2] = 0
    values = np.where(positions > 0, panel.values, np.nan)
    together, *_, rare = cards_of(panel._replace(values=values, positions=positions))
    assert (rare.n_texts, rare.n_groups, rare.verdict) == (3, 3, "cannot tell")
    assert rare.reasons[0] == "There are 3 groups of texts that are independent of each other; at least 20 are needed."
    assert (together.verdict, together.n_groups) == ("biased", 60)
    assert together.effects[0].value.low < 0.35 < together.effects[0].value.high
    assert "over all criteria, the first position gives +0." in together.reasons[0]


def test_an_effect_that_is_the_same_in_all_groups_is_found():
    panel = planted(n_groups=40, per=1)
    panel = panel._replace(values=3.0 + (panel.positions == 1))
    assert [card.verdict for card in cards_of(panel)] == ["biased"] * 4


def test_scores_that_never_change_in_few_texts_are_no_sign_of_a_small_effect():
    few, many = (planted(n_groups=groups, per=1) for groups in (60, 200))
    still = [panel._replace(values=np.round(panel.values[:, :1] + 0 * panel.values)) for panel in (few, many)]
    assert [cards_of(panel)[1].verdict for panel in still] == ["cannot tell", "equivalent"]


def test_the_bounds_are_those_of_the_test_of_clusters_with_a_known_largest_value():
    panel = planted(n_groups=40, shift=0.3)
    of = criterion_order.scores_of(panel, [0])
    _, most = criterion_order.bounds(of, 5, draws=20_000, rng=np.random.default_rng(1))
    means = of.total / of.count
    by_group = (means - means.mean(axis=1, keepdims=True)).reshape(40, 8, 3).mean(axis=1)
    for place in range(3):
        reach = [
            equivalence.p_bounded(by_group[:, [place]], np.ones(40), margin=margin, largest=8 / 3)[0]
            for margin in (most[place] - 0.01, most[place] + 0.01)
        ]
        assert (reach[0] > 0.05 > reach[1]) or by_group[:, place].mean() < 0  # there the lower bound is the farther one


def test_missing_scores_are_counted_by_position_and_at_their_worst():
    panel = planted(n_groups=30, per=1)
    positions = np.where(panel.positions[:, :, 0] == 3, 2, panel.positions[:, :, 0])[:, :3, None]
    values = panel.values[:, :3, :1] + (positions == 1)
    values[(positions == 2) & (values <= 2)] = np.nan
    of = criterion_order.scores_of(panel._replace(values=values, positions=positions), [0])
    counts = of.lost.sum(axis=0)
    assert counts[0] == 0 < counts[1] == np.isnan(values).sum()
    # The missing scores are the highest ones, against the better first position; with one row a group and all scores,
    # the first position less the second is a mean of differences, weighted by n1 n2 / (n1 + n2).
    asked = of.count + of.lost
    assert (asked == asked[0]).all()
    apart = of.total[:, 0] / asked[:, 0] - (of.total[:, 1] + 5 * of.lost[:, 1]) / asked[:, 1]
    expected = scipy.stats.ttest_1samp(apart, 0, alternative="greater").pvalue
    found = criterion_order.lost(of, 5)
    assert found["p_worst"] == pytest.approx(min(1, 2 * expected), rel=0.05)
    assert found["p_lost"] < 0.01


@pytest.mark.parametrize(("p", "verdict"), [(0.001, "biased"), (0.015, "cannot tell")])
def test_a_finding_at_the_worst_of_missing_scores_is_adjusted_like_any_other(p, verdict):
    table = statistic(planted(shift=0.8))
    table["p_worst"] = np.where(table["quantity"].isin(["gap", "pooled_first", "pooled_test"]), p, np.nan)
    assert [card.verdict for card in criteria.cards(table, 0.1)] == [verdict] * 4


def test_no_effect_is_equivalent_within_a_margin_and_cannot_be_told_within_a_smaller_one():
    panel = planted(n_groups=100)
    assert [card.verdict for card in cards_of(panel, margin=0.2)] == ["equivalent"] * 4
    together, *own = cards_of(panel, margin=0.001)
    assert [card.verdict for card in (together, *own)] == ["cannot tell"] * 4
    assert all("Bounds do not exclude a shift of 0.001 points" in card.reasons[1] for card in own)
    assert own[0].commonest_share < 0.9


def test_without_an_effect_a_prompt_is_called_biased_in_few_cases():
    biased = [cards_of(planted(n_groups=20, seed=seed, per=2))[0].verdict == "biased" for seed in range(60)]
    assert sum(biased) <= 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("groups", "There are 12 groups of texts that are independent of each other; at least 20 are needed."),
        ("failed", "of 1,920 scores are missing, and those could change the result."),
        ("saturated", "The judge is saturated: 100% of the scores are one score."),
        ("fixed", "It stood in one position alone, or has too few scores, so nothing can be compared."),
    ],
)
def test_reads_that_cannot_answer_are_never_an_all_clear(change, message):
    panel = planted(n_groups=12 if change == "groups" else 40, shift=1.0)
    values, positions = panel.values.copy(), panel.positions.copy()
    if change == "failed":
        values[:, :2, 0] = np.nan
    if change == "saturated":
        values[:] = 4
    if change == "fixed":
        positions[:] = [1, 2, 3]
    together, first, *_ = cards_of(panel._replace(values=values, positions=positions))
    assert first.verdict == "cannot tell"
    assert any(message in reason for reason in first.reasons)
    if change == "failed":
        assert (first.n_failed, together.n_failed) == (640, 640)
        assert together.verdict == "biased"
    else:
        assert together.verdict == "cannot tell"


@pytest.mark.parametrize(
    ("change", "whose", "reason", "advice"),
    [
        ("saturated", EVERY, "The judge is saturated: at least 100% of the scores of each criterion", criteria.VARY),
        ("fixed", EVERY, "Each criterion stood in one position alone", criteria.ORDERS),
        ("fixed", "own", "It stood in one position alone", criteria.ORDERS),
        ("never", "own", "None of its 1,920 scores was given.", criteria.LOOK),
        ("one", EVERY, "Each criterion stood in one position alone", criteria.ONE),
        ("one", "own", "It stood in one position alone", criteria.ONE),
        ("groups", EVERY, "There are 12 groups of texts", criteria.MORE),
        ("wide", EVERY, "No effect of the position is found: over all criteria, the first position gives", "average"),
    ],
)
def test_a_card_advises_what_its_first_reason_calls_for(change, whose, reason, advice):
    panel = planted(n_groups=12 if change == "groups" else 40)
    values, positions, names = panel.values.copy(), panel.positions.copy(), panel.criteria
    if change == "saturated":
        values[:] = 5
    if change == "never":
        values[:, :, 0] = np.nan
    if change in ("fixed", "one"):
        positions[:] = [1, 2, 3]
    if change == "one":
        values, positions, names = values[..., :1], positions[..., :1], names[:1]
    options = {"values": values, "positions": positions, "criteria": names}
    options |= {name: getattr(panel, name)[..., : len(names)] for name in ("before", "human")}
    together, first, *_ = cards_of(panel._replace(**options), margin=0.001)
    made = together if whose == EVERY else first
    assert made.verdict == "cannot tell"
    assert made.reasons[0].startswith(reason)
    assert advice in made.advice
    assert "at least 20" not in made.advice or change == "groups"
    assert "no interval" not in " ".join(made.reasons)
    assert "Of 1 criterion, cannot tell" in together.reasons[-1] or change != "one"


def test_p_is_that_of_the_effect_that_the_sentence_describes():
    """An effect smaller than the margin on one criterion, which the pooled tests do not find."""
    panel = planted(n_groups=100)
    values = panel.values + np.array([0.12, 0, 0]) * (panel.positions == 1)
    values[:, :, 1:] -= 0.06 * (panel.positions[:, :, 1:] == 1)
    together, first, *_ = cards_of(panel._replace(values=values), margin=0.3)
    pooled = together.effects[0]
    assert first.effects[0].found
    assert not pooled.found
    assert (together.verdict, together.p) == ("equivalent", first.p)
    assert f"(p = {pooled.p:.3f}, adjusted" in together.reasons[0]
    assert "some positions differ" not in together.reasons[0]
    assert together.reasons[-1].endswith(f"An effect smaller than the margin is found for {first.criterion}.")


@pytest.mark.parametrize(("n_groups", "verdict"), [(25, "cannot tell"), (30, "equivalent")])
def test_thirty_groups_show_that_an_effect_is_small(n_groups, verdict):
    made = cards_of(planted(n_groups=n_groups, per=40), margin=0.5)
    assert [card.verdict for card in made] == [verdict] * 4
    few = (
        "There are 25 groups of texts that are independent of each other; at least 30 are needed to show that an effect"
    )
    assert all((few in " ".join(card.reasons)) == (n_groups == 25) for card in made)
    biased = cards_of(planted(n_groups=n_groups, shift=0.8))[0]
    assert (biased.verdict, "are needed" in " ".join(biased.reasons)) == ("biased", False)


def test_expected_scores_decide_where_nothing_was_written():
    hard = statistic(planted(shift=0.8))
    soft = hard.assign(readout="soft")
    assert [card.verdict for card in criteria.cards(soft, 0.1)] == ["biased"] * 4
    no_effect = statistic(planted()).assign(readout="soft")
    assert [card.verdict for card in criteria.cards(pd.concat([hard, no_effect]), 0.1)] == ["biased"] * 4


def test_the_summary_has_the_cards_and_keeps_to_its_schema(tmp_path):
    path = tmp_path / "criterion_order.parquet"
    statistic(planted(shift=0.8)).to_parquet(path)
    data, page = tmp_path / "summary.json", tmp_path / "summary.html"
    labels = Labels({"j": "<b>Judge</b>"}, {"d": "Data"})
    shown, reads = {"tables": [], "figures": []}, {"s": "reads/s/index.html"}
    render_summary({"criterion_order": path}, shown, labels, {}, reads, data, page, margin=0.3)
    content = json.loads(data.read_text())
    jsonschema.validate(content, summary.schema())
    assert content["cards"] == []
    assert content["criteria"][0]["criterion"] == EVERY
    assert {card["verdict"] for card in content["criteria"]} == {"biased"}
    assert {card["margin"] for card in content["criteria"]} == {0.3}
    assert set(KEYS) - {"n"} <= set(content["criteria"][0])
    html = page.read_text()
    assert html.count('id="criterion-') == 4
    assert "&lt;b&gt;Judge&lt;/b&gt;, Data, all criteria" in html
    assert "<b>Judge" not in html
    assert "Mean score at position 3, against all positions" in html
