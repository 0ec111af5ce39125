"""Ten points in which a number misled: what was reported, and what is reported, in small versions with fixed seeds."""

import argparse

import defect_recovery
import numpy as np
import pandas as pd
import point_recovery
import pytest
import recover
from scipy import stats

from rubric_order.analyses.agreement.canonical_rank import estimate as canonical_rank
from rubric_order.analyses.agreement.rank_reversal import estimate as rank_reversal
from rubric_order.simulation import studies as simulated_studies
from rubric_order.simulation.judge import Simulation


def of(table, judge, quantity):
    """The one row whose judge and quantity begin so."""
    (found,) = table[table["judge"].str.startswith(judge) & table["quantity"].str.startswith(quantity)].to_dict(
        "records"
    )
    return found


def test_averaging_gains_where_no_order_is_preferred_and_is_told_apart_from_the_order():
    judge, temperature = point_recovery.AVERAGED["temperature 0, no preference"]
    studied = [point_recovery.averaged(judge, temperature, groups=160, seed=seed) for seed in range(8)]
    found = pd.DataFrame(studied)
    assert found["difference"].mean() > 0.08
    assert (found["difference_p"] < 0.05).mean() > 0.8
    assert abs(found["order"].mean()) < 0.03
    assert found["averaging"].mean() == pytest.approx(found["difference"].mean(), abs=0.03)
    assert found["averaging_baseline"].abs().max() < 1e-9  # repeats at temperature 0 are one read


def test_the_order_at_temperature_0_is_what_canonical_rank_calls_the_advantage_the_other_way_round():
    judge, temperature = point_recovery.AVERAGED["temperature 0, the ends preferred"]
    options = {"n": 5, "strategies": ["balanced", "fixed"], "temperature": temperature, "groups": 40, "candidates": 2}
    scores = simulated_studies.as_scores(simulated_studies.read_items(judge, **options, seed=3), candidates=2)
    ranked = canonical_rank.estimate(scores, resamples=2, confidence=0.95, seed=1)
    wanted = "quantity == 'advantage' and readout == 'hard' and cluster == 'group'"
    found = point_recovery.averaged(judge, temperature, groups=40, seed=3, resamples=0)
    assert found["order"] == pytest.approx(-ranked.query(wanted)["estimate"].item())


def test_weighted_r_is_that_of_the_items_it_repeats():
    rng = np.random.default_rng(1)
    x, y, times = rng.normal(size=9), rng.normal(size=9), rng.integers(0, 3, size=9)
    repeated = stats.pearsonr(np.repeat(x, times), np.repeat(y, times)).statistic
    assert point_recovery.weighted_r(times[None].astype(float), x, y) == pytest.approx([repeated])


def test_v_falls_with_decisiveness_at_one_preference():
    found = {}
    for decisive in (0.25, 4.0):
        judge = Simulation(tolerance=1.0, decisiveness=decisive, preference=point_recovery.PREFERRED)
        found[decisive] = pd.DataFrame([point_recovery.selected(judge, 5, seed=seed) for seed in range(4)]).mean()
    assert found[0.25]["v"] > 1.7 * found[4.0]["v"]
    for each in found.values():
        assert each["first_last"] == pytest.approx(1.6, abs=0.25)


def test_an_interaction_is_near_uniform_by_v_and_moves_scores():
    judge = Simulation(tolerance=1.0, interaction=point_recovery.INTERACTION)
    found = pd.DataFrame([point_recovery.selected(judge, 5, seed=seed) for seed in range(4)])
    assert found["v"].max() < 0.05
    assert found["near_uniform"].mean() > 0.5
    assert (found["p_order"] < 0.05).all()
    lenient = Simulation(tolerance=1.0, interaction=point_recovery.INTERACTION, leniency=point_recovery.LENIENCY)
    found = pd.DataFrame([point_recovery.selected(lenient, 5, seed=seed) for seed in range(4)])
    assert found["first_biased"].all()
    assert found["given_term"].mean() == pytest.approx(0, abs=0.2)
    assert found["term"].mean() == pytest.approx(-point_recovery.INTERACTION, abs=0.2)


def test_a_judge_that_repeats_itself_is_named_and_has_no_interval_of_no_width():
    found = point_recovery.selected(Simulation(leniency=20.0, preference="first"), 5, seed=1)
    assert found["v"] == 0
    assert found["near_uniform"]
    assert found["no_width"]
    assert not found["no_width_now"]
    assert found["saturated"]
    assert np.isnan(found["first_last"])


def test_tests_by_texts_reject_what_groups_have_in_common_and_tests_by_groups_do_not():
    rng = np.random.default_rng(2)
    studied = [
        point_recovery.order_p_values(point_recovery.read_criteria(40, 0.3, rng=rng), rng=rng, resamples=99)
        for _ in range(20)
    ]
    rejected = {name: np.mean([each[name] < 0.05 for each in studied]) for name in studied[0]}
    assert min(rejected["gap_texts"], rejected["ranks_texts"]) > 0.1
    assert max(rejected["gap_groups"], rejected["ranks_groups"]) < 0.15


def test_p_by_texts_is_that_of_friedman():
    rng = np.random.default_rng(3)
    panel = point_recovery.read_criteria(10, 0.0, rng=rng)
    found = point_recovery.order_p_values(panel, rng=rng, resamples=19)["ranks_texts"]
    for criterion, p in enumerate(found):
        at = panel.positions[0, :, criterion]
        means = [panel.values[:, at == place, criterion].mean(axis=1) for place in range(1, 5)]
        assert p == pytest.approx(stats.friedmanchisquare(*np.round(means, 9)).pvalue)


def test_intervals_by_items_are_shorter_than_those_by_groups_where_groups_have_effects():
    found = [point_recovery.held(18, seed=seed) for seed in range(10)]
    width = {name: np.mean([np.ptp(each[name]) for each in found]) for name in found[0]}
    assert width["v_items"] < width["v_groups"]
    assert width["r_groups"] < width["r_jackknife"]


@pytest.mark.slow
def test_effects_that_add_up_in_log_odds_interact_in_points():
    found = point_recovery.crossed_table(15)
    near = of(found, "effects add up in log-odds, near", "an interaction")
    assert near["old"] > 0.5
    assert near["now"] < 0.3
    assert of(found, "effects do not add up", "an interaction")["now"] > 0.5


def test_a_ranking_is_not_the_reverse_of_itself():
    found = point_recovery.ties_table(2)
    for judge in ("whole scores", "means of ten"):
        assert of(found, judge, "Kendall")["old"] < 0.95
        assert of(found, judge, "prompts with another")["old"] > 0.05
        assert of(found, judge, "prompts with another")["now"] == 0
        assert of(found, judge, "pairs in the opposite")["now"] == 0
    assert of(found, "whole scores", "Kendall")["now"] == pytest.approx(1)
    scores, other = np.array([[2.0, 2.0, 1.0]]), np.array([[2.0, 2.0, 1.0]])
    tau, flip = point_recovery.tau_and_flips_with_broken_ties(scores, other)
    assert tau == pytest.approx([2 / 3])
    assert flip == pytest.approx([1 / 2])


def test_an_interval_over_items_holds_a_worse_judge_and_the_range_of_a_rerun_holds_the_same_one():
    found = point_recovery.rerun_table(30)
    same, *worse = found.to_dict("records")
    assert same["now"] > 0.85
    assert worse[0]["old"] > 0.6
    assert worse[-1]["now"] < 0.5


@pytest.mark.parametrize("title", [*point_recovery.FAMILIES, *point_recovery.PLANTED])
def test_families_have_a_test_for_each_judge_and_their_smallest_p_is_adjusted(title):
    table = (point_recovery.FAMILIES | point_recovery.PLANTED)[title](np.random.default_rng(4))
    assert len(table) == table["n_tests"].iloc[0]
    assert len(table) % point_recovery.JUDGES == 0
    assert table["p_holm"].min() == pytest.approx(min(1, len(table) * table["p"].min()))


@pytest.mark.slow
@pytest.mark.parametrize("title", ["halo: inside less alone", "rank_reversal: excess of reversed pairs"])
def test_tests_of_few_groups_keep_their_level_and_find_what_is_planted(title):
    rng = np.random.default_rng(11)
    found = [point_recovery.FAMILIES[title](rng) for _ in range(120)]
    p, holm = (np.array([table[name] for table in found]) for name in ("p", "p_holm"))
    assert 0.01 < (p < 0.05).mean() < 0.07  # of 720, two standard errors are 1.6%
    assert (holm < 0.05).any(axis=1).mean() < 0.1
    (planted,) = (make for name, make in point_recovery.PLANTED.items() if name.split(":")[0] == title.split(":")[0])
    assert (np.array([planted(rng)["p_holm"] for _ in range(10)]) < 0.05).mean() > 0.2


def test_intervals_of_few_groups_are_longer_than_percentiles():
    rng = np.random.default_rng(5)
    wide = {}
    for seed in range(6):
        for name, statistic in point_recovery.statistics_of(18, seed=seed).items():
            old, now = statistic.intervals(rng=rng)
            wide.setdefault(name, []).append(np.ptp(now) / np.ptp(old))
    assert len(wide) == 5
    assert np.mean(list(wide.values())) > 1.05


def test_the_halves_of_point_9_hold_no_answer_in_common(monkeypatch):
    made, drawn = rank_reversal.halves_of_two, []

    def kept(dealt, same, *args, **options):
        drawn.append((same, made(dealt, same, *args, **options)))
        return drawn[-1][1]

    monkeypatch.setattr(rank_reversal, "halves_of_two", kept)
    point_recovery.statistics_of(6, seed=3)
    ((same, halves),) = drawn
    assert same.any()
    for one, two in zip(*halves, strict=True):
        assert not (one[:, :, None] * same * two[:, None, :]).any()


@pytest.mark.slow
def test_chance_adds_to_v_and_more_reads_to_a_halo():
    old, now = point_recovery.mean_vs(Simulation(tolerance=1.0), seed=1)
    assert old > 1.5 * now
    rng = np.random.default_rng(6)
    old, now = np.mean([point_recovery.halo_of_unequal(rng) for _ in range(40)], axis=0)
    assert now > old + 0.03
    assert abs(now) < 0.05


def test_one_section_of_a_page_is_written_and_the_others_stay(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n## What other formulas give\n\nold\n\n## Last\n\nkept\n", encoding="utf-8")
    for name in defect_recovery.TABLES:
        pd.DataFrame().to_parquet(tmp_path / f"defects_{name}.parquet")
    monkeypatch.setattr(defect_recovery, "lines", lambda table: ["the table"])
    sizes = dict.fromkeys(("studies", "more", "defects", "resamples", "items"), 10)
    recover.write_page(argparse.Namespace(results=tmp_path, page=page, section="What other formulas give", **sizes))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\n## What other formulas give\n\n")
    assert text.endswith("## Last\n\nkept\n")
    assert "the table\n" in text
    assert "old\n" not in text
