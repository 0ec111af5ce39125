"""The calculator of groups against simulated cards: small versions of the cells of `planning_recovery`."""

import json

import card_recovery
import numpy as np
import planning_recovery
import pytest
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.cards import groups
from rubric_order.commands.app import app
from rubric_order.methods.position import planning_groups


@pytest.mark.parametrize(
    ("settings", "soft"),
    [
        ({"n": 5, "tolerance": 0.12}, False),
        ({"n": 5, "tolerance": 0.25, "repeats": 2}, False),
        ({"n": 2, "tolerance": 0.5, "design": "rotations", "repeats": 2}, False),
        ({"n": 5, "tolerance": 0.25}, True),
        ({"n": 2, "tolerance": 0.5, "design": "rotations"}, True),
    ],
)
def test_errors_are_those_of_reads_of_another_simulator(settings, soft):
    cell = card_recovery.Cell("", 7, prompts=0.2, groups=400, soft=soft, stated=False, **settings)
    differ = planning_recovery.differing(planning_recovery.Planned(cell, "biased"))
    orderings = len(card_recovery.shown(cell)) // cell.repeats
    expected = planning_groups.expected(
        cell.n, differ, orderings=orderings, repeats=cell.repeats, soft=soft, groups=400, prompt_noise=0.2
    )
    (card,) = planning_recovery.made(cell, 1, 3)
    log_odds, points = card.evidence.log_odds, card.evidence.soft or card.evidence.hard
    assert np.mean(log_odds.preference_errors) == pytest.approx(expected.log_odds.mean(), rel=0.12)
    assert np.mean(points.shift_errors) == pytest.approx(expected.points.mean(), rel=0.12)
    assert np.mean(card.evidence.hard.shift_errors) == pytest.approx(expected.written.mean(), rel=0.12)
    if soft:
        low, high = card.evidence.exponent
        assert (high - low) / 2 / 2.576 == pytest.approx(expected.exponent, rel=0.2)
        assert groups._errors(card.evidence).beyond == pytest.approx(expected.beyond, rel=0.2)
    if cell.n > 2:
        assert log_odds.interaction_error == pytest.approx(expected.interaction, rel=0.15)


def run(*words):
    return CliRunner().invoke(app, ["plan-groups", *map(str, words)])


def test_the_command_takes_all_of_it_from_a_pilot(tmp_path):
    cell = card_recovery.Cell("", 7, groups=60, tolerance=0.12, soft=True)
    pilot = tmp_path / "pilot.csv"
    card_recovery.reads(cell, np.random.default_rng(1)).to_csv(pilot, index=False)
    (found,) = json.loads(run(pilot, "--json", "--effect", 0.05, "--effect-points", 0.2).stdout)
    assert found["groups_for_biased"]["log_odds"] is None  # below the margin
    assert found["groups_for_biased"]["points"] >= 20
    (found,) = json.loads(run(pilot, "--json", "--effect", 0.3).stdout)
    assert found["reads_per_group"] == 10
    assert found["groups_for_biased"]["log_odds"] >= 20
    assert found["groups_for_equivalent"] >= 107
    done = run(pilot, "--levels", 5)
    assert isinstance(done.exception, InputError)
    assert "expected no --levels" in str(done.exception)


def test_a_table_of_scores_and_probabilities_needs_groups_to_show_that_scores_follow_them(tmp_path):
    cell = card_recovery.Cell("", 7, groups=100, tolerance=0.25, soft=True, prompts=0.2)
    reads = card_recovery.reads(cell, np.random.default_rng(1))
    pilot = tmp_path / "pilot.csv"
    reads.to_csv(pilot, index=False)
    for words in ([pilot], ["--levels", 5, "--pairs-differ", 0.58, "--probabilities"]):
        table, one_answer = (
            json.loads(run(*words, *more, "--json").stdout)[0]["groups_for_equivalent"]
            for more in ([], ["--temperature-known"])
        )
        assert 107 <= one_answer < 200 < 500 < table


@pytest.mark.slow
@pytest.mark.parametrize("place", [1, 2])
def test_the_planned_number_is_near_the_one_that_simulated_cards_need(place):
    row = planning_recovery.run(planning_recovery.cells()[place], 40, 5).iloc[0]
    print(row.to_dict())
    assert 0.7 < row["now"] < 1.4  # 75% to 125%, and two standard errors of so few studies


def test_shares_that_jump_have_a_number_and_shares_below_have_none():
    assert 100 < planning_recovery._at_power({80: 0.0, 100: 0.0, 125: 1.0}, 40) < 125
    with pytest.raises(ValueError, match="expected a share from 80% on"):
        planning_recovery._at_power({108: 0.2, 135: 0.075, 169: 0.05, 3499: 0.0}, 40)


def test_every_cell_has_a_name_of_its_own():
    names = {(planning_recovery.setting(cell), cell.asks) for cell in planning_recovery.cells()}
    assert len(names) == len(planning_recovery.cells()) >= 6
