"""Recovery of a preference for a place that was planted in comparisons."""

import numpy as np
import pytest
import statsmodels.api as api
from scipy import special
from statsmodels.base.model import GenericLikelihoodModel
from statsmodels.discrete.conditional_models import ConditionalMNLogit

from rubric_order.methods.comparisons import series

SPREADS = (0.5, 1.5, 4.0)  # of what a judge thinks of candidates, in log-odds: from indecisive to decisive
KINDS = {"pairs": (2, None), "ties": (2, 0.0), "lists": (3, None)}


def study(kind, spread, beta, rng, *, groups=80, per_group=6):
    """Winners of comparisons in cyclic orders, what was shown, and groups, as `series.place_preference` takes them."""
    p, tie = KINDS[kind]
    units = groups * per_group
    group = np.repeat(np.arange(groups), per_group)
    shown = np.array([[(start + place) % p + 1 for place in range(p)] for start in range(p)])
    worth = spread * (rng.normal(size=(groups, p))[group] + rng.normal(size=(units, p))) / np.sqrt(2)
    places = np.linspace(beta / 2, -beta / 2, p)
    weights = worth[:, shown - 1] + places
    if tie is not None:  # Davidson's: a tie is worth the mean of both, the places left out
        level = tie + rng.normal(0, 0.5, groups)[group]
        weights = np.concatenate([weights, np.repeat((worth.mean(axis=1) + level)[:, None, None], p, axis=1)], axis=2)
    at = (weights + rng.gumbel(size=weights.shape)).argmax(axis=2)
    padded = np.column_stack([shown, np.full(p, series.TIE)])
    return padded[np.arange(p), at], np.broadcast_to(shown, (units, p, p)), group


def recovered(kind, spread, beta, studies, seed):
    """Mean estimate, coverage of 95% intervals, and share of p-values below .05."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(studies):
        fit, _ = series.place_preference(*study(kind, spread, beta, rng))
        found.append(fit.interval(series.first_last(KINDS[kind][0]), 0.95))
    inside = [each["ci_low"] <= beta <= each["ci_high"] for each in found]
    return np.mean([each["estimate"] for each in found]), np.mean(inside), np.mean([each["p"] < 0.05 for each in found])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", SPREADS)
def test_planted_preference_is_recovered_at_every_level_of_decisiveness(kind, spread):
    mean, coverage, _ = recovered(kind, spread, 0.6, 40, 20261122)
    assert mean == pytest.approx(0.6, abs=0.05)
    assert coverage >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", SPREADS)
def test_intervals_cover_and_the_test_keeps_its_level(kind, spread):
    mean, coverage, _ = recovered(kind, spread, 0.6, 1000, 20261123)
    assert mean == pytest.approx(0.6, abs=0.03)
    assert 0.93 <= coverage <= 0.97
    assert 0.035 <= recovered(kind, spread, 0.0, 1000, 20261124)[2] <= 0.065


def test_estimates_are_those_of_a_logistic_regression_of_statsmodels():
    winners, shown, group = study("pairs", 1.0, 0.6, np.random.default_rng(3))
    # Of A,A and B,B pairs the log-odds of A,A are twice the difference of the places.
    primacy = winners[:, 0] == 1
    told = winners[:, 0] != winners[:, 1]
    # Of one coefficient Firth's penalty is half a comparison more of each outcome.
    outcome, weight = np.append(primacy[told].astype(float), [1.0, 0.0]), np.append(np.ones(told.sum()), [0.5, 0.5])
    family = api.families.Binomial()
    fitted = api.GLM(outcome, np.full((len(outcome), 1), 2.0), family=family, freq_weights=weight).fit(tol=1e-12)
    fit, told_pairs = series.place_preference(winners, shown, group)
    assert told_pairs == told.sum()
    assert fit.contrast(series.first_last(2))[0] == pytest.approx(fitted.params[0], abs=1e-6)


def multinomial(winners, shown):
    """Worth of each place over that of the last one: the multinomial logit of statsmodels, with Firth's penalty.

    In an order a candidate's log-weight is the worth of its place, and a tie's is one of the order. Two reads of a
    comparison that differ are a group. The likelihood is taken given the two choices of each group: so what a judge
    thinks of the candidates, and how often it calls a tie, may be anything.
    """
    p = shown.shape[2]
    choices = np.where(winners == series.TIE, p, winners - 1)
    two = np.stack(np.triu_indices(winners.shape[1], 1), axis=1)
    unit, pair = (choices[:, two[:, 0]] != choices[:, two[:, 1]]).nonzero()
    chosen, order = choices[unit[:, None], two[pair]], two[pair]
    of_option = np.zeros((len(shown[0]), p + 1, p))  # how much the worth of each place weighs in each order
    of_option[:, :p] = np.eye(p)[np.argsort(shown[0], axis=1)]
    of_option = of_option[:, : chosen.max() + 1, :-1]
    if chosen.max() == p:  # and a tie's in each order but the first
        of_tie = np.zeros((len(shown[0]), p + 1, len(shown[0]) - 1))
        of_tie[1:, p] = np.eye(len(shown[0]) - 1)
        of_option = np.concatenate([of_option, of_tie], axis=2)
    terms = of_option.shape[2]
    over_the_first = (of_option[:, 1:] - of_option[:, :1]).reshape(-1, terms)
    orders, groups = np.eye(len(shown[0]))[order.ravel()], np.repeat(np.arange(len(unit)), 2)
    model = ConditionalMNLogit(chosen.ravel(), orders, groups=groups)
    apart = (of_option[order, chosen] - of_option[order, chosen[:, ::-1]]).sum(axis=1)

    def penalised(worth):
        varied = special.expit(apart @ worth) * special.expit(-(apart @ worth))
        return model.loglike(over_the_first @ worth) + np.linalg.slogdet((apart * varied[:, None]).T @ apart)[1] / 2

    full = GenericLikelihoodModel(chosen[:, 0], apart, loglike=penalised)
    return full.fit(np.zeros(terms), method="newton", tol=1e-8, disp=False, skip_hessian=True).params[: p - 1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_worth_of_each_place_is_that_of_a_conditional_multinomial_logit_of_statsmodels(kind):
    winners, shown, group = study(kind, 1.0, 0.6, np.random.default_rng(5), groups=30, per_group=4)
    assert (kind == "ties") == (winners == series.TIE).any()
    fit, _ = series.place_preference(winners, shown, group)
    p = KINDS[kind][0]
    over_the_last = np.eye(p - 1, 2 * p) - np.eye(2 * p)[p - 1]
    found = [fit.contrast(weights)[0] for weights in over_the_last]
    assert found == pytest.approx(multinomial(winners, shown), abs=1e-6)
