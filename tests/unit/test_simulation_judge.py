import dataclasses

import numpy as np
import pytest
from factories import complete_judge
from scipy import stats

from rubric_order.prompts import conditions, orderings
from rubric_order.simulation import judge as simulation
from rubric_order.simulation.judge import Simulation

FIVE = np.arange(1, 6)


def selected(judge, *, items=2000, shown=None, temperature=1.0, reads=1, opinion=3.0, first_read=0, groups=None):
    """A judge's answers on items, all in the same orderings, each read some times over."""
    shown = FIVE[None] if shown is None else np.asarray(shown)
    item, group = (
        np.repeat(simulation.keys(names), len(shown) * reads)
        for names in ([f"item {k}" for k in range(items)], [f"group {k % (groups or items)}" for k in range(items)])
    )
    tiled = np.tile(np.repeat(shown, reads, axis=0), (items, 1))
    read = simulation.joined(item, first_read + np.arange(len(item)))
    opinions = np.full(len(item), opinion)
    return simulation.select(judge, tiled, opinion=opinions, item=item, group=group, read=read, temperature=temperature)


def test_a_neutral_judge_chooses_among_the_scores_by_their_distance_from_its_opinion():
    judge = Simulation(tolerance=1.0)
    expected = np.exp(-((FIVE - 3.2) ** 2) / 2)
    found = selected(judge, items=1, opinion=3.2).probabilities[0]
    assert found == pytest.approx(expected / expected.sum())
    turned = selected(judge, items=1, opinion=3.2, shown=[[5, 4, 3, 2, 1]]).probabilities[0]
    assert turned == pytest.approx(found[::-1])


def test_a_preference_for_a_position_multiplies_its_odds():
    plain = selected(Simulation(), items=1).probabilities[0]
    biased = selected(Simulation(preference=[np.log(2), 0, 0, 0, 0]), items=1).probabilities[0]
    odds = (biased / biased[4]) / (plain / plain[4])
    assert odds == pytest.approx([2, 1, 1, 1, 1])


def test_the_shapes_of_preference_are_what_their_names_say():
    judges = {name: Simulation(preference=name, preference_strength=2) for name in simulation.SHAPES}
    weights = {name: judge.position_weights(5) for name, judge in judges.items()}
    assert weights["none"].tolist() == [0, 0, 0, 0, 0]
    assert weights["first"].tolist() == [2, 1.5, 1, 0.5, 0]
    assert weights["last"].tolist() == [0, 0.5, 1, 1.5, 2]
    assert weights["u_shaped"].tolist() == [2, 0.5, 0, 0.5, 2]


def test_lists_are_interpolated_where_a_scale_has_another_length():
    judge = Simulation(preference=[0, 1, 4], failure_rate=[0.0, 0.2], criterion_position=[1, 0])
    assert judge.position_weights(3).tolist() == [0, 1, 4]
    assert judge.position_weights(5).tolist() == [0, 0.5, 1, 2.5, 4]
    assert judge.failure_rates(5) == pytest.approx([0, 0.05, 0.1, 0.15, 0.2])
    assert judge.criterion_shifts(3).tolist() == [1, 0.5, 0]
    assert Simulation(failure_rate=0.1).failure_rates(4).tolist() == [0.1] * 4
    assert Simulation(criterion_position=2).criterion_shifts(3).tolist() == [0, 1, 2]


def test_an_interaction_given_as_a_number_favours_the_highest_score_at_the_first_position():
    weights = Simulation(interaction=0.8).interaction_weights(5)  # a row per score, a column per position
    assert weights[4, 0] == weights[0, 4] == pytest.approx(0.8)
    assert weights[0, 0] == weights[4, 4] == pytest.approx(-0.8)
    assert weights[2].tolist() == weights[:, 2].tolist() == [0] * 5


def test_an_interaction_given_as_a_matrix_is_taken_as_it_stands():
    matrix = [[0, 1], [2, 3]]
    assert Simulation(interaction=matrix).interaction_weights(2).tolist() == matrix
    assert Simulation(interaction=matrix).interaction_weights(3).tolist() == [[0, 0.5, 1], [1, 1.5, 2], [2, 2.5, 3]]


def test_an_interaction_moves_the_option_that_has_that_score_at_that_position():
    matrix = np.zeros((5, 5))
    matrix[1, 3] = np.log(3)  # score 2 at position 4
    judge = Simulation(interaction=matrix.tolist())
    assert selected(judge, items=1).probabilities[0] == pytest.approx(selected(Simulation(), items=1).probabilities[0])
    shown = [[1, 3, 4, 2, 5]]
    plain, moved = (selected(each, items=1, shown=shown).probabilities[0] for each in (Simulation(), judge))
    assert (moved / moved[0]) / (plain / plain[0]) == pytest.approx([1, 1, 1, 3, 1])


def test_reads_at_temperature_one_follow_the_stated_probabilities():
    judge = Simulation(preference="last", tolerance=1.5)
    found = selected(judge, items=20_000)
    counts = np.bincount(found.position, minlength=6)[1:]
    assert stats.chisquare(counts, 20_000 * found.probabilities[0]).pvalue > 1e-3
    wrong = selected(Simulation(tolerance=1.5), items=1).probabilities[0]
    assert stats.chisquare(counts, 20_000 * wrong).pvalue < 1e-9  # the test can fail


def test_a_low_temperature_sharpens_and_temperature_zero_takes_the_most_probable_option():
    judge = Simulation(preference=[0.3, 0, 0, 0, 0.2], tolerance=3)
    reads = {temperature: selected(judge, items=20_000, temperature=temperature).position for temperature in (1.0, 0.5)}
    shares = {temperature: np.bincount(positions, minlength=6)[1:] / 20_000 for temperature, positions in reads.items()}
    powered = shares[1.0] ** 2 / (shares[1.0] ** 2).sum()
    assert shares[0.5] == pytest.approx(powered, abs=0.015)
    greedy = selected(judge, temperature=0)
    assert set(greedy.position) == {int(greedy.probabilities[0].argmax()) + 1}


def test_repeats_of_a_prompt_are_one_read_at_temperature_zero_and_differ_above():
    judge = Simulation(tolerance=2, prompts=1, item_scores=1)
    shown = orderings.balanced(5)
    for temperature, kinds in ((0, {1}), (1.0, {1, 2, 3, 4, 5})):
        found = selected(judge, items=50, shown=shown, reads=6, temperature=temperature)
        found = found.position.reshape(50 * 10, 6)
        assert {len(set(row)) for row in found} <= kinds
        assert (found.min(axis=1) == found.max(axis=1)).all() == (temperature == 0)


def test_what_an_item_has_for_scores_follows_the_score_and_what_it_has_for_positions_stays():
    shown = orderings.balanced(5)
    by_score = selected(Simulation(tolerance=1e6, item_scores=1), items=200, shown=shown, temperature=0)
    scores = np.take_along_axis(np.tile(shown, (200, 1)), by_score.position[:, None] - 1, axis=1).reshape(200, 10)
    assert (scores == scores[:, :1]).all()
    by_position = selected(Simulation(tolerance=1e6, item_positions=1), items=200, shown=shown, temperature=0)
    positions = by_position.position.reshape(200, 10)
    assert (positions == positions[:, :1]).all()
    # Over items, no score and no position is preferred.
    for found in (scores[:, 0], positions[:, 0]):
        assert stats.chisquare(np.bincount(found, minlength=6)[1:]).pvalue > 1e-3


def test_effects_of_prompts_differ_between_the_orderings_of_an_item():
    shown = [[1, 2, 3, 4, 5], [1, 2, 3, 5, 4]]
    found = selected(Simulation(tolerance=1e6, prompts=1), items=2000, shown=shown, temperature=0)
    first, second = found.position.reshape(2000, 2).T
    assert (first == second).mean() == pytest.approx(0.2, abs=0.04)


def test_failures_fall_where_they_are_said_to_and_take_their_share_of_the_probability():
    rates = np.array([0.5, 0, 0, 0, 0.1])
    found = selected(Simulation(tolerance=3, failure_rate=rates.tolist()), items=20_000)
    plain = selected(Simulation(tolerance=3), items=1).probabilities[0]
    assert found.probabilities[0] == pytest.approx(plain * (1 - rates))
    failed = [found.failed[found.position == position].mean() for position in FIVE]
    assert failed == pytest.approx(rates, abs=0.025)


def test_an_answer_depends_on_its_own_keys_alone():
    judge = Simulation(preference="first", item_scores=1, item_positions=1, prompts=1, failure_rate=0.1)
    item = simulation.keys(map(str, range(300)))
    read = simulation.joined(item, np.arange(300))
    shown = np.random.default_rng(1).permuted(np.tile(FIVE, (300, 1)), axis=1)
    quality = simulation.quality_of(item, item, item)
    whole, part = (
        simulation.select(
            judge,
            shown[rows],
            opinion=simulation.opinions(judge, quality[rows], item=item[rows], group=item[rows]),
            item=item[rows],
            group=item[rows],
            read=read[rows],
            temperature=0.7,
        )
        for rows in (np.arange(300), np.arange(300)[::-1][:17])
    )
    for everything, some in zip(whole, part, strict=True):
        assert np.array_equal(everything[::-1][:17], some)


def test_random_numbers_are_uniform_and_independent_between_keys_purposes_and_places():
    key = simulation.keys(map(str, range(4000)))
    one, other = simulation.uniforms(key, 1, 5), simulation.uniforms(key, 2, 5)
    for column in (*one.T, *other.T):
        assert stats.kstest(column, "uniform").pvalue > 1e-4
    together = np.corrcoef(np.hstack([one, other]).T)[np.triu_indices(10, 1)]
    assert np.abs(together).max() < 5 / np.sqrt(4000)
    neighbours = simulation.uniforms(np.arange(4000, dtype=np.uint64), 1, 1)[:, 0]  # keys that differ in a bit or two
    assert stats.kstest(neighbours, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(neighbours[1:], neighbours[:-1])[0, 1]) < 5 / np.sqrt(4000)


def test_quality_is_standard_normal_and_shared_by_groups_and_by_texts():
    ids = [f"g{group}-c{candidate}-{name}" for group in range(2000) for candidate in range(2) for name in ("x", "y")]
    quality = simulation.latent_quality("d", ids).reshape(2000, 2, 2)
    assert stats.kstest(quality[:, 0, 0], "norm").pvalue > 1e-3
    same_text = np.corrcoef(quality[:, 0, 0], quality[:, 0, 1])[0, 1]
    same_group = np.corrcoef(quality[:, 0, 0], quality[:, 1, 1])[0, 1]
    assert same_text == pytest.approx(0.75, abs=0.05)
    assert same_group == pytest.approx(0.25, abs=0.07)


def test_quality_depends_on_dataset_and_id_alone():
    ids = ["g1-c1-x", "g2-c1", "plain", "g2-c2"]
    together = simulation.latent_quality("d", ids)
    assert [simulation.latent_quality("d", [item])[0] for item in ids] == together.tolist()
    assert not np.isin(simulation.latent_quality("e", ids), together).any()


def test_people_give_whole_scores_that_follow_quality():
    key = simulation.keys(map(str, range(5000)))
    quality = simulation.quality_of(key, key, key)
    exact = simulation.human_scores(quality, key, raters=2, rater_noise=0.0)
    assert (exact[:, 0] == exact[:, 1]).all()
    assert exact[:, 0].tolist() == np.clip(np.rint(3 + quality), 1, 5).tolist()
    noisy = simulation.human_scores(quality, key, raters=2, rater_noise=1.0)
    assert set(noisy.ravel()) == {1, 2, 3, 4, 5}
    assert 0.3 < np.corrcoef(noisy.T)[0, 1] < 0.55


def log_odds(judge, **options):
    """Log-odds of each position against the first, one row per read."""
    weights = np.log(selected(judge, **options).probabilities)
    return weights - weights[:, :1]


def test_decisiveness_multiplies_what_belongs_to_scores_and_leaves_preferences_alone():
    preference = [0.5, 0.0, 0.0, 0.0, -0.5]
    planted = Simulation(preference=preference, item_scores=0.7)
    both = log_odds(planted, opinion=3.4, items=20)
    half = log_odds(dataclasses.replace(planted, decisiveness=0.5), opinion=3.4, items=20)
    of_positions = np.subtract(preference, preference[0])
    assert half == pytest.approx(of_positions + (both - of_positions) / 2)


def test_usual_decisiveness_sharpens_the_usual_ordering_alone():
    shown = [FIVE, FIVE[::-1]]
    plain, sharp = (
        log_odds(Simulation(preference="first", usual_decisiveness=sharpness), shown=shown, items=3, opinion=2.5)
        for sharpness in (1, 2)
    )
    assert sharp[::2] == pytest.approx(2 * plain[::2])
    assert sharp[1::2] == pytest.approx(plain[1::2])


@pytest.mark.parametrize(("name", "follows"), [("group_positions", "position"), ("group_scores", "score")])
def test_items_of_a_group_share_the_effects_of_their_group(name, follows):
    found = log_odds(Simulation(**{name: 0.5}), shown=[FIVE, FIVE[::-1]], items=4000, groups=2000)
    plain = log_odds(Simulation(), shown=[FIVE, FIVE[::-1]], items=1)
    effect = (found.reshape(2, 2000, 2, 5) - plain).swapaxes(0, 1)  # groups, items, orderings, positions
    assert effect[:, 0] == pytest.approx(effect[:, 1])
    if follows == "score":
        turned = effect[:, 0, 1, ::-1]
        assert effect[:, 0, 0] == pytest.approx(turned - turned[:, :1])
    else:
        assert effect[:, 0, 0] == pytest.approx(effect[:, 0, 1])
    assert effect[:, 0, 0, 1:].std() == pytest.approx(0.5 * np.sqrt(2), rel=0.05)


def test_a_group_shares_its_error():
    item, group = simulation.keys(map(str, range(6000))), simulation.keys(str(k // 2) for k in range(6000))
    judge = Simulation(item_error=0.6, group_error=0.8, spread=2)
    error = simulation.opinions(judge, np.zeros(6000), item=item, group=group).reshape(-1, 2) - 3
    assert error.std() == pytest.approx(2.0, rel=0.03)
    assert np.corrcoef(error.T)[0, 1] == pytest.approx(0.64, abs=0.04)


def test_parameters_come_from_a_block_of_config():
    planted = {"preference": [0, 1], "seed": 3, "family": ["gpt"]}
    assert Simulation.of(complete_judge(engine="simulated")) == Simulation()
    assert Simulation.of(complete_judge(engine="simulated", simulation=planted)) == Simulation(**planted)


# Conditions.


def of_conditions(names, shown, **planted):
    """Log-probabilities of the scores 1 to 5 of some items under each condition, shape (conditions, items, 5)."""
    judge = Simulation(**planted)
    item, group = simulation.keys(map(str, range(40))), simulation.keys(str(place // 4) for place in range(40))
    found = []
    for name in names:
        said = conditions.read(name, 5)
        rows = np.tile(shown, (40, 1))
        text = np.full(40, said.reference or 0)
        wording = simulation.Wording(np.tile(said.labels(5), (40, 1)), np.where(text > 0, said.id_level, 0), text)
        about = {"opinion": np.full(40, 3.2), "item": item, "group": group, "read": item, "temperature": 0}
        chosen = simulation.select(judge, rows, wording=wording, **about)
        found.append(np.log(np.take_along_axis(chosen.probabilities, np.argsort(rows, axis=1), axis=1)))
    return np.array(found)


def beside(found, base):
    """Differences of log-odds from those of another condition, the middle score being 0."""
    away = found - base
    return away - away[..., 2:3]


def test_an_id_is_worth_the_same_wherever_it_stands_and_whatever_it_stands_for():
    ids = {"A": 0.8, "E": -0.3}
    for shown in ([1, 2, 3, 4, 5], [3, 5, 1, 4, 2]):
        usual, letters, turned = of_conditions(
            ["reference_none", "letter", "letter_a_lowest"], shown, id_preference=ids, preference="first"
        )
        assert beside(letters, usual) == pytest.approx(np.tile([-0.3, 0, 0, 0, 0.8], (40, 1)))
        assert beside(turned, usual) == pytest.approx(np.tile([0.8, 0, 0, 0, -0.3], (40, 1)))


def test_a_reference_attracts_by_its_number_and_by_its_text():
    names = ["reference_none", "reference_5_as_2", "reference_5"]
    none, two, five = of_conditions(names, [1, 2, 3, 4, 5], number_attraction=0.5, text_attraction=0.2)
    assert beside(two, none)[0] == pytest.approx([-0.4 + 0.0, 0.5 - 0.2, 0, -0.5 + 0.2, -1.0 + 0.4])
    assert beside(five, none)[0] == pytest.approx([-1.4, -0.7, 0, 0.7, 1.4])


def test_groups_differ_in_the_attraction_and_items_of_one_do_not():
    none, two = of_conditions(["reference_none", "reference_5_as_2"], [1, 2, 3, 4, 5], group_attraction=0.4)
    pull = beside(two, none)[:, 1].reshape(10, 4)
    assert np.ptp(pull, axis=1) == pytest.approx(np.zeros(10))
    assert 0.2 < pull[:, 0].std() < 0.7
