"""Cards of prompts that ask for several criteria: verdicts by planted effects, their level, and where they stand."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from test_criterion_order import of_groups

import render_summary
from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.cards import criteria, summary
from rubric_order.methods import tidy
from rubric_order.methods.position import order_tests

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
    words = ["readout", "quantity", "criterion", "test", "method"]
    return tidy.from_rows_with_gaps([{**common, **row} for row in rows], criterion_order.ESTIMATES, words)


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
    assert together.first.low < 0.8 < together.first.high
    assert together.n_scores == sum(card.n_scores for card in own) == 3 * 40 * 8 * 6


def test_a_bias_of_one_criterion_is_on_its_card_and_on_the_one_for_all():
    panel = planted()
    values = panel.values.copy()
    values[:, :, 0] += panel.positions[:, :, 0] == 1
    together, *own = cards_of(panel._replace(values=values))
    assert [card.verdict == "biased" for card in own] == [True, False, False]
    assert together.verdict == "biased"
    assert "biased: " + own[0].criterion in together.reasons[-1]


def test_no_effect_is_equivalent_within_a_margin_and_cannot_be_told_within_a_smaller_one():
    panel = planted(n_groups=100)
    assert [card.verdict for card in cards_of(panel, margin=0.2)] == ["equivalent"] * 4
    together, *own = cards_of(panel, margin=0.001)
    assert [card.verdict for card in (together, *own)] == ["cannot tell"] * 4
    assert all("Intervals do not exclude a shift of 0.001 points" in card.reasons[1] for card in own)
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
    labels = {"judges": {"j": "<b>Judge</b>"}, "datasets": {"d": "Data"}}
    shown, reads = {"tables": [], "figures": []}, {"s": "reads/s/index.html"}
    render_summary.main({"criterion_order": path}, shown, labels, {}, reads, data, page, margin=0.3)
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
