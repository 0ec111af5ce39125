"""The simulated judge where candidates are compared: it does what its parameters say, also from plan to scores."""

import numpy as np
import pandas as pd
import pytest
from factories import complete_judge
from scipy import special

from rubric_order import datasets
from rubric_order.analyses.comparisons.length_control import estimate as length_control
from rubric_order.judging import engines, shard
from rubric_order.planning import reads as planned
from rubric_order.planning import requests as asked
from rubric_order.prompts import frames
from rubric_order.scoring.scores import score_reads
from rubric_order.simulation import judge as simulation
from rubric_order.simulation.judge import Simulation

READS = 20_000


def compare(judge, merit, *, shown=None, temperature=1.0, tie=False, ranking=False, reads=READS):
    """A judge's answers on one unit that is read many times."""
    n = len(merit)
    key = np.zeros(reads, dtype=np.uint64)
    return simulation.compare(
        judge,
        np.tile(np.arange(1, n + 1) if shown is None else shown, (reads, 1)),
        np.tile(np.array(merit, dtype=float), (reads, 1)),
        unit=key,
        group=key,
        read=simulation.keys(str(number) for number in range(reads)),
        temperature=temperature,
        tie=tie,
        ranking=ranking,
    )


def test_the_first_place_is_worth_its_log_odds():
    found = compare(Simulation(preference=[0.8, 0.0]), [0.3, 0.0], shown=[2, 1])
    assert found.probabilities[0] == pytest.approx(special.softmax([0.8, 0.3]))
    assert np.mean(found.places == 0) == pytest.approx(special.expit(0.5), abs=0.015)


def test_a_tie_is_davidsons():
    found = compare(Simulation(tie=np.log(0.7)), [1.0, 0.0], tie=True)
    first, second = np.exp(1.0), 1.0
    weights = np.array([first, second, 0.7 * np.sqrt(first * second)])
    assert found.probabilities[0] == pytest.approx(weights / weights.sum())
    shares = np.bincount(found.places[:, 0], minlength=3) / READS
    assert shares == pytest.approx(weights / weights.sum(), abs=0.015)


def test_a_ranking_is_a_draw_without_replacement():
    merit = np.array([1.0, 0.0, -0.5])
    places = compare(Simulation(), merit, ranking=True).places
    share = np.exp(merit) / np.exp(merit).sum()
    expected = share[0] * np.exp(-0.5) / (np.exp(0.0) + np.exp(-0.5))
    assert np.mean((places == [0, 2, 1]).all(axis=1)) == pytest.approx(expected, abs=0.015)


def test_at_temperature_0_repeats_agree_and_name_the_most_probable():
    found = compare(Simulation(preference=[0.8, 0.0]), [0.0, 0.5], temperature=0, reads=50)
    assert (found.places == 0).all()
    assert found.probabilities[0] == pytest.approx(special.softmax([0.8, 0.5]))


def test_failures_take_their_share():
    found = compare(Simulation(failure_rate=[0.3, 0.1]), [0.0, 0.0], tie=True)
    assert 1 - found.probabilities[0].sum() == pytest.approx(0.2)
    assert found.failed.mean() == pytest.approx(0.2, abs=0.015)


@pytest.fixture
def scored(root):
    """Scores of simulated pairs or lists, by a judge with these parameters."""

    def run(probe="pair_order", n=2, *, candidates=4, strategy="swap", conditions=("baseline",), **parameters):
        judge = complete_judge(
            engine="simulated", answer_prefix="", sampling={"temperature": 1, "max_tokens": 8}, simulation=parameters
        )
        options = {"n_groups": 40, "n_candidates": candidates, "length_spread": 0.5}
        tables = datasets.prepare("sim", datasets.read("simulated", {}, options, dataset="sim"))
        tables = (tables.items, tables.rubrics, tables.pairs)
        template = frames.load_template(root / "resources/templates/compare_letter.jinja")
        chosen = {"pairs": "all", "sample": None, "lists": 2, "seed": 1, "prompt": "compare_letter"}
        design = planned.Design([n], [strategy], conditions=conditions, comparisons=chosen)
        named = {"study": "s", "judge_id": "j", "judge": judge, "template": template, "probe": probe}
        reads = planned.plan_reads(*tables, design=design, **named)
        requests = asked.distinct_requests(reads, owned_elsewhere=[])
        units = asked.units_asked(requests, *tables, template, probe=probe, comparisons=chosen)
        requests = asked.render_requests(requests, units)
        answers = pd.DataFrame(engines.load(judge).answer(shard.as_requests(requests)))
        return score_reads(reads, answers, probe=probe)

    return run


def test_pairs_from_plan_to_scores(scored):
    scores = scored(preference=[1.0, 0.0], item_error=0.0, decisiveness=0.5, tie=-1.0, conditions=("tie", "no_tie"))
    assert len(scores) == 40 * 6 * 2 * 2
    assert scores["failure"].isna().all()
    assert (scores.loc[scores["condition"] == "no_tie", "score"] > 0).all()
    ties = scores[scores["condition"] == "tie"]
    assert 0.05 < (ties["score"] == 0).mean() < 0.3
    decided = scores[scores["score"] > 0]
    assert (decided["position"] == 1).mean() > 0.6
    # What was written is a draw from the probabilities of the positions.
    first = np.stack(scores.loc[scores["condition"] == "no_tie", "position_probabilities"])[:, 0]
    assert (scores.loc[scores["condition"] == "no_tie", "position"] == 1).mean() == pytest.approx(
        first.mean(), abs=0.04
    )


def test_quality_length_and_family_move_the_verdict(scored):
    base = {"item_error": 0.0, "decisiveness": 0.0}
    longer = scored(length=1.5, conditions=("baseline", "padded_2"), **base)
    lengths = np.stack(longer["lengths"])
    chosen = longer["score"].to_numpy(dtype=int)
    baseline = (longer["condition"] == "baseline").to_numpy()
    assert np.mean((lengths.argmax(axis=1) + 1 == chosen)[baseline]) > 0.75
    assert np.mean(chosen[~baseline] == 2) > np.mean(chosen[baseline] == 2) + 0.15
    own = scored(own_family=2.0, family=["c01"], **base)
    with_own = own[[row[0] == "c01" for row in own["candidates"]]]
    assert (with_own["score"] == 1).mean() == pytest.approx(special.expit(2.0), abs=0.06)
    better = scored(item_error=0.0, decisiveness=2.0)
    gap = np.array([scores[0] - scores[1] for scores in better["human_scores"]])
    assert np.mean((better["score"] == 1)[gap > 1]) > 0.8


def test_length_control_finds_what_the_judge_likes(scored):
    liking = scored(length=1.0, padding=1.5, decisiveness=0.0, conditions=("baseline", "padded_1", "padded_2"))
    found = length_control.estimate(liking.assign(benchmark="sim"), confidence=0.95).set_index(
        ["varied", "readout", "quantity"]
    )
    # A doubling is ln 2 / .5 standard deviations of the texts' lengths; padding is worth 1.5 of them.
    for key, planted in (
        (("baseline", "soft", "length_doubling"), 2 * np.log(2)),
        (("padding", "soft", "padding"), 1.5),
    ):
        assert found.loc[key, "estimate"] == pytest.approx(planted, abs=0.03)
    for key, planted in (
        (("baseline", "hard", "length_doubling"), 2 * np.log(2)),
        (("padding", "hard", "padding"), 1.5),
    ):
        assert found.loc[key, "ci_low"] < planted < found.loc[key, "ci_high"]
        assert found.loc[key, "ci_low"] > 0.8
    free = length_control.estimate(scored().assign(benchmark="sim"), confidence=0.95).set_index(["quantity"])
    free = free[free["readout"] == "hard"]
    for quantity in ("length", "length_given_people", "length_doubling", "correlation"):
        assert free.loc[quantity, "ci_low"] < 0 < free.loc[quantity, "ci_high"]
    changed = free.loc["difference"]
    assert ((changed["ci_low"] < 0) & (changed["ci_high"] > 0)).all()


def test_lists_from_plan_to_scores(scored):
    scores = scored(
        "list_order", 3, candidates=6, strategy="cyclic", conditions=("baseline", "ranking"), decisiveness=0.0
    )
    assert len(scores) == 40 * 2 * 3 * 2
    assert scores["failure"].isna().all()
    ranked = scores[scores["condition"] == "ranking"]
    assert all(sorted(row) == [1, 2, 3] for row in ranked["ranking"])
    assert all(row[0] == score for row, score in zip(ranked["ranking"], ranked["score"], strict=True))
    assert scores["position"].value_counts(normalize=True).to_numpy(dtype=float) == pytest.approx(1 / 3, abs=0.08)
