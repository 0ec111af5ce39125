import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rubric_order.methods.position import selections, uniformity
from rubric_order.methods.position.blocks import blocks
from rubric_order.prompts import orderings
from rubric_order.scoring.scores import score_reads
from rubric_order.simulation import judge as simulation
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation
from rubric_order.simulation.studies import true_agreement, true_selection, true_shares

ITEMS = 60_000  # of the truths below


def quadrature(judge, n, shown):
    """Probability of each score in each ordering, averaged over the normal opinion of the judge. Shape (orderings, n).

    Written anew, by integration: no random numbers, and nothing of `simulation` but the parameters.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    opinion = 3 + judge.leniency + judge.spread * np.sqrt(1 + judge.item_error**2) * nodes
    found = []
    for ordering in shown:
        logits = np.zeros((len(nodes), n))
        for position, score in enumerate(ordering):
            value = 1 + 4 * (score - 1) / (n - 1)
            logits[:, score - 1] = -((value - opinion) ** 2) / (2 * judge.tolerance**2) + judge.preference[position]
        shares = np.exp(logits)
        found.append(weights @ (shares / shares.sum(axis=1, keepdims=True)) / weights.sum())
    return np.array(found)


@pytest.mark.parametrize(("n", "preference"), [(2, [0.5, 0]), (3, [1, 0, 0.2]), (5, [0.8, 0.3, 0, -0.2, 0.5])])
@pytest.mark.parametrize("readout", ["hard", "soft"])
def test_true_shares_are_those_of_an_integral(n, preference, readout):
    judge = Simulation(preference=preference, leniency=0.4, tolerance=1.2)
    shown = orderings.balanced(n)
    expected = np.mean(np.take_along_axis(quadrature(judge, n, shown), shown - 1, axis=1), axis=0)
    found, v = true_selection(judge, n, readout=readout, items=ITEMS)
    assert (np.abs(found.value - expected) < 4 * found.error).all()
    assert found.error.max() < 0.002
    assert abs(v.value - uniformity.cramers_v(expected)) < 4 * v.error
    assert v.value > 20 * v.error  # it tells a bias from none


@pytest.mark.parametrize("temperature", [0, 0.5, 1.0])
def test_without_a_preference_for_positions_true_shares_are_uniform(temperature):
    judge = Simulation(item_scores=1, item_positions=2, prompts=1, leniency=1)
    found = true_shares(judge, 5, temperature=temperature, items=ITEMS)
    assert (np.abs(found.value - 0.2) < 4 * found.error).all()


@pytest.mark.slow
def test_errors_of_truths_are_their_standard_deviations():
    judge = Simulation(preference="first", item_positions=1, tolerance=1.5)
    options = {"items": 2000, "temperature": 0.5}
    both = [true_selection(judge, 3, seed=seed, **options) for seed in range(100, 160)]
    for runs in zip(*both, strict=True):  # of shares, and of V
        assert np.std([run.value for run in runs], axis=0) == pytest.approx(runs[0].error, rel=0.35)
    runs = [true_agreement(judge, 3, seed=seed, **options) for seed in range(100, 160)]
    assert np.std([run.value for run in runs], axis=0) == pytest.approx(runs[0].error, rel=0.35)


@pytest.mark.slow
def test_the_true_correlation_of_one_read_is_that_of_an_integral():
    judge = Simulation(preference=[0.8, 0.3, 0, -0.2, 0.5], item_error=0.6)
    # One rater without error says round(3 + quality), cut at 1 and 5; the judge's opinion is 3 + quality + error.
    quality, step = np.linspace(-6, 6, 1201, retstep=True)
    weight = stats.norm.pdf(quality) * step
    person = np.clip(np.rint(3 + quality), 1, 5)
    given = [
        quadrature(Simulation(preference=judge.preference, leniency=q, spread=0.6, item_error=0), 5, [[1, 2, 3, 4, 5]])
        for q in quality
    ]
    shares = np.vstack(given)
    scores = np.arange(1, 6)
    x, y = weight @ shares @ scores, weight @ person
    covariance = weight @ (shares @ scores * person) - x * y
    spread = np.sqrt((weight @ shares @ scores**2 - x**2) * (weight @ person**2 - y**2))
    found = true_agreement(judge, 5, strategies=["single"], raters=1, rater_noise=0.0, items=ITEMS)
    assert abs(found.value[0] - covariance / spread) < 4 * found.error[0]
    assert np.isnan(found.value[1])


@pytest.mark.slow
def test_balancing_gains_agreement_where_the_order_hurts_it():
    hurt = true_agreement(Simulation(preference="last", preference_strength=4, tolerance=1), 5, items=ITEMS)
    assert hurt.value[2] > 10 * hurt.error[2]
    # Without a bias ten independent reads of one ordering are as good as ten orderings.
    even = true_agreement(Simulation(tolerance=1), 5, items=ITEMS)
    assert abs(even.value[2]) < 4 * even.error[2]


def _as_responses(table):
    """The plan of some reads, and responses that say what they say."""
    results = ["score", "position", "failure", "expected_score", "option_mass", "position_probabilities"]
    reads = table.drop(columns=results).assign(request_id=[f"r{k}" for k in range(len(table))])
    logprobs = []
    for row in table.itertuples():
        by_score = np.asarray(row.position_probabilities)[np.argsort(row.ordering)]
        logprobs.append(np.log(row.option_mass * by_score))
    responses = pd.DataFrame(
        {
            "request_id": reads["request_id"],
            "text": ["I cannot say." if pd.isna(score) else str(score) for score in table["score"]],
            "error": None,
            "finish_reason": "stop",
            "option_logprobs": logprobs,
        }
    )
    return reads, responses


def test_reads_have_the_form_of_parsed_reads_and_the_values_that_were_selected():
    judge = Simulation(preference="first", failure_rate=0.2)
    reads = studies.read_items(
        judge, n=3, strategies=["balanced", "random", "fixed"], budget=4, groups=6, candidates=2, seed=5
    )
    table = studies.as_scores(reads, candidates=2, judge="planted")
    parsed = score_reads(*_as_responses(table), probe="score_order")
    columns = ["score", "position", "expected_score", "option_mass", "failure"]
    pd.testing.assert_frame_equal(parsed[columns], table[columns])
    assert set(parsed.columns) - set(table.columns) == {"request_id", "pattern"}
    assert np.allclose(np.stack(parsed["position_probabilities"]), np.stack(table["position_probabilities"]))
    assert table.groupby("strategy").size().to_dict() == {"balanced": 72, "random": 48, "fixed": 48}
    assert table["judge"].unique().tolist() == ["planted"]
    assert table.groupby("group_id")["item_id"].nunique().tolist() == [2] * 6
    for row in table[table["score"].notna()].itertuples():
        assert row.ordering[row.position - 1] == row.score
    assert (table["score"].isna() == table["failure"].notna()).all()
    assert 0.1 < table["score"].isna().mean() < 0.3
    balanced = table.query("strategy == 'balanced'")
    (block,) = blocks(balanced)
    counts = selections.counts(block, "hard")
    found = reads["balanced"].positions
    assert counts.tolist() == [[(row == k).sum() for k in (1, 2, 3)] for row in found]


def test_strategies_share_the_reads_of_prompts_that_they_share():
    judge = Simulation(tolerance=3)
    reads = studies.read_items(judge, n=5, strategies=["balanced", "fixed", "single"], groups=200, seed=1)
    first = {strategy: block.positions[:, 0] for strategy, block in reads.items()}  # all have the usual ordering first
    assert (first["balanced"] == first["fixed"]).all()
    assert (first["balanced"] == first["single"]).all()
    assert (reads["fixed"].positions[:, 0] != reads["fixed"].positions[:, 1]).any()  # repeats are drawn anew


def test_a_study_is_decided_by_its_seed():
    options = {"n": 3, "strategies": ["random"], "groups": 50}
    one, same, other = (studies.read_items(Simulation(), seed=seed, **options)["random"].scores for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_a_study_estimates_its_truth():
    judge = Simulation(preference="u_shaped", item_scores=0.5)
    reads = studies.read_items(judge, n=5, strategies=["balanced", "fixed"], groups=4000, seed=9)
    truth = true_shares(judge, 5, items=ITEMS)
    counts = np.apply_along_axis(np.bincount, 1, reads["balanced"].positions, minlength=6)[:, 1:]
    assert counts.sum(axis=0) / counts.sum() == pytest.approx(truth.value, abs=0.01)
    r = [np.corrcoef(block.scores.mean(axis=1), block.human)[0, 1] for block in reads.values()]
    assert [*r, r[0] - r[1]] == pytest.approx(true_agreement(judge, 5, items=ITEMS).value, abs=0.03)


def test_reads_of_the_same_group_share_part_of_their_quality():
    judge = Simulation(item_error=0)
    reads = studies.read_items(
        judge, n=9, strategies=["single"], groups=4000, candidates=2, raters=9, rater_noise=0, temperature=0, seed=2
    )
    scores = reads["single"].scores.reshape(4000, 2)
    assert np.corrcoef(scores.T)[0, 1] == pytest.approx(simulation.GROUP_SHARE, abs=0.06)
