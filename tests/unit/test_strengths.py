"""Strengths of candidates: independent fits, planted ones, and no number where comparisons do not connect."""

import numpy as np
import pandas as pd
import pytest
from factories import comparison_table
from scipy import optimize, special

from rubric_order.analyses.comparisons.strengths import estimate as strengths
from rubric_order.analyses.comparisons.strengths import table as strengths_table
from rubric_order.methods.comparisons import strengths as method

SETTINGS = {"confidence": 0.95, "resamples": 400, "seed": 1, "forms": {}}


def drawn(theta, b, nu, *, reads, p, rng, groups=40, ranking=False):
    """Choices by the model itself: each read shows some p of the candidates."""
    shown = np.argsort(rng.random((reads, len(theta))), axis=1)[:, :p]
    weights = theta[shown] + b
    if ranking:
        noise = rng.gumbel(size=weights.shape)
        chosen = np.argsort(-(weights + noise), axis=1)
        return method.Choices(shown, chosen, np.zeros(reads, dtype=bool), rng.integers(0, groups, reads))
    tie = np.column_stack([weights, np.full(reads, nu) + theta[shown].mean(axis=1)])
    cumulated = np.cumsum(special.softmax(tie, axis=1), axis=1)
    chosen = (rng.random((reads, 1)) > cumulated[:, :-1]).sum(axis=1)[:, None]
    return method.Choices(shown, chosen, np.full(reads, np.isfinite(nu)), rng.integers(0, groups, reads))


def contrast(found, count):
    values = found.fit.coefficients[:count]
    return values - values.mean()


def test_pairs_with_a_place_are_a_logistic_regression():
    from statsmodels.genmod import families
    from statsmodels.genmod.generalized_linear_model import GLM

    rng = np.random.default_rng(1)
    choices = drawn(np.array([0.0, 0.5, -0.7, 1.0]), np.array([0.4, 0.0]), -np.inf, reads=300, p=2, rng=rng)
    found = method.fit(choices, 4, places=True)
    one = np.eye(4)
    x = np.column_stack([(one[choices.shown[:, 0]] - one[choices.shown[:, 1]])[:, 1:], np.ones(300)])
    theirs = GLM((choices.chosen[:, 0] == 0).astype(float), x, family=families.Binomial()).fit(tol=1e-12)
    b = found.fit.coefficients
    assert [*(b[1:4] - b[0]), b[4] - b[5]] == pytest.approx(theirs.params, abs=1e-6)
    # With each read as a cluster of its own the error is White's, but for leaving one out.
    alone = method.fit(choices._replace(cluster=np.arange(300)), 4, places=True).fit
    weights = np.zeros(7)
    weights[4:6] = 1, -1
    robust = GLM((choices.chosen[:, 0] == 0).astype(float), x, family=families.Binomial()).fit(cov_type="HC0").bse[-1]
    assert alone.interval(weights, 0.95)["se"] == pytest.approx(robust, rel=0.05)


@pytest.mark.parametrize(("p", "nu", "ranking"), [(2, -0.3, False), (3, 0.2, False), (3, -np.inf, True)])
def test_ties_lists_and_rankings_are_the_maximum_of_their_likelihood(p, nu, ranking):
    rng = np.random.default_rng(2)
    theta, b = np.array([0.0, 0.6, -0.4, 0.3]), np.linspace(0.5, 0, p)
    choices = drawn(theta, b, nu, reads=80, p=p, rng=rng, ranking=ranking)
    found = method.fit(choices, 4, places=True).fit.coefficients

    def loss(free):
        t, places, tie = np.append(0, free[:3]), np.append(0, free[3 : 2 + p]), free[2 + p]
        total = 0.0
        for shown, chosen in zip(choices.shown, choices.chosen, strict=True):
            left = list(range(p))
            for place in chosen[: p - 1 if ranking else 1]:
                weights = {k: np.exp(t[shown[k]] + places[k]) for k in left}
                if not ranking:
                    weights[p] = np.exp(tie + t[shown].mean())
                total -= np.log(weights[place] / sum(weights.values()))
                left = [k for k in left if k != place]
        return total

    best = optimize.minimize(loss, np.zeros(3 + p), method="BFGS", options={"gtol": 1e-6}).x
    assert found[1:4] - found[0] == pytest.approx(best[:3], abs=1e-4)
    assert found[5 : 4 + p] - found[4] == pytest.approx(best[3 : 2 + p], abs=1e-4)
    if not ranking:
        assert found[-1] - found[4] == pytest.approx(best[2 + p], abs=1e-4)


def test_rao_and_kuppers_ties_are_the_maximum_of_their_likelihood():
    rng = np.random.default_rng(4)
    shown = np.argsort(rng.random((400, 3)), axis=1)[:, :2]
    theta = np.array([0.0, 0.7, -0.5])
    d = theta[shown[:, 0]] - theta[shown[:, 1]] + 0.6
    draw = rng.random(400)
    chosen = np.where(draw < special.expit(d - 0.4), 0, np.where(draw > 1 - special.expit(-d - 0.4), 1, 2))
    choices = method.Choices(shown, chosen[:, None], np.ones(400, dtype=bool), np.arange(400) // 8)
    found = method.rao_kupper(choices, 3)

    def loss(free):
        t = np.append(0, free[:2])
        d = t[shown[:, 0]] - t[shown[:, 1]] + free[2]
        p = np.column_stack([special.expit(d - free[3]), special.expit(-d - free[3]), np.zeros(400)])
        p[:, 2] = 1 - p.sum(axis=1)
        return -np.log(p[np.arange(400), chosen]).sum()

    bounds = [(-5, 5)] * 3 + [(0.01, 3)]
    best = optimize.minimize(loss, [0, 0, 0, 0.3], bounds=bounds, options={"gtol": 1e-8, "ftol": 1e-14}).x
    b = found.coefficients
    assert [*(b[1:3] - b[0]), b[3], b[4]] == pytest.approx(best, abs=1e-3)
    row = found.interval(np.array([0, 0, 0, 1.0, 0]), 0.95)
    assert row["ci_low"] < 0.6 < row["ci_high"]
    without = choices._replace(tie=np.zeros(400, dtype=bool))
    assert method.rao_kupper(without, 3).problem


def test_planted_strengths_and_places_come_back():
    theta, b = np.array([-0.9, -0.3, 0.2, 1.0]), np.array([0.6, 0.1, 0.0])
    inside = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found = method.fit(drawn(theta, b, -0.2, reads=900, p=3, rng=rng, groups=60), 4, places=True).fit
        for k in range(3):
            weights = np.zeros(8)
            weights[[k, 3]] = 1, -1
            row = found.interval(weights, 0.95)
            inside.append(row["ci_low"] < theta[k] - theta[3] < row["ci_high"])
        weights = np.zeros(8)
        weights[[4, 6]] = 1, -1
        row = found.interval(weights, 0.95)
        inside.append(row["ci_low"] < 0.6 < row["ci_high"])
    assert 0.88 <= np.mean(inside) <= 1


def test_candidates_that_wins_do_not_connect_have_no_strength():
    shown = np.array([[0, 1], [0, 1], [2, 3], [2, 3], [1, 4], [0, 4]])
    chosen = np.array([0, 1, 0, 1, 0, 0])[:, None]  # 0 and 1 beat each other, so do 2 and 3, and 4 always loses
    choices = method.Choices(shown, chosen, np.zeros(6, dtype=bool), np.arange(6))
    assert not method.connected(choices, 5).any()
    tied = choices._replace(chosen=np.array([0, 1, 0, 1, 2, 0])[:, None], tie=np.ones(6, dtype=bool))
    assert method.connected(tied, 5).tolist() == [True, True, False, False, True]
    assert method.fit(choices, 5, places=True).fit.problem == "not connected"
    never = method.Choices(np.array([[0, 1]]), np.array([[0]]), np.zeros(1, dtype=bool), np.zeros(1, dtype=int))
    found = method.fit(never, 2, places=False)
    assert found.fit.problem == "not connected"
    assert not found.connected.any()


def judged(seed=0, *, place=0.8, groups=60):
    """A baseline and five candidates, in both orders, and a sixth that never wins."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(-1, 1, 5)
    chance = special.expit(np.stack([place - theta, place + theta], axis=1))
    rows = np.where(rng.random((groups, 5, 2)) < chance, 1, 2)
    rows = np.concatenate([rows, np.tile([1, 2], (groups, 1, 1))], axis=1)
    return comparison_table(rows.reshape(-1, 2).tolist(), per_group=6, tie=False)


def test_estimates_are_over_the_baseline_and_name_what_does_not_connect():
    found = strengths.estimate(judged(3), **SETTINGS)
    rows = found.query("model == 'with places' and quantity == 'strength'").set_index("candidate")
    assert rows.loc["base", "estimate"] == 0
    for k, planted in enumerate(np.linspace(-1, 1, 5)):
        assert rows.loc[f"c{k}1", "ci_low"] < planted < rows.loc[f"c{k}1", "ci_high"]
    assert np.isnan(rows.loc["c51", "estimate"])
    assert rows.loc["c51", "flag"] == "not connected"
    ranks = found.query("model == 'with places' and quantity == 'rank'").set_index("candidate")
    assert ranks["estimate"].dropna().sort_values().tolist() == [1, 2, 3, 4, 5, 6]
    assert (ranks["ci_low"].dropna() <= ranks["estimate"].dropna()).all()
    first = found.query("quantity == 'first_last'").iloc[0]
    assert first["ci_low"] < 0.8 < first["ci_high"]
    # Where the baseline stands first, it gains what the first place is worth: all candidates lose it.
    orders = found[found["quantity"] == "strength"].pivot(index="candidate", columns="model", values="estimate")
    moved = (orders["first order"] - orders["last order"]).drop(["base", "c51"])
    assert moved.mean() == pytest.approx(-1.6, abs=0.4)


def test_a_strength_that_cannot_be_told_from_its_place_has_no_rank_and_says_so():
    table = with_ties()
    once = table[[order[0] == 1 for order in table["ordering"]]]  # the baseline always stands first
    found = strengths.estimate(once, **SETTINGS).set_index(["model", "quantity", "candidate"])
    placed = found.loc["with places"]
    for name in ("c01", "c11"):
        assert placed.loc[("strength", name), ["estimate", "ci_low", "ci_high"]].isna().all()
        assert placed.loc[("strength", name), "flag"].startswith("not identified")
        assert np.isfinite(found.loc[("without places", "strength", name), "estimate"])
    assert placed.loc["rank", "estimate"].isna().all()
    assert placed.loc["rank", "flag"].str.startswith("not identified").all()
    for quantity in ("place_preference", "first_last"):
        assert placed.loc[quantity, "estimate"].isna().all()
        assert placed.loc[quantity, "flag"].eq("not identified").all()
    reversed_ = found.loc[("without places", "reversals", "all")]
    assert np.isnan(reversed_["estimate"])
    assert reversed_["flag"] == "not identified"
    assert found.loc["without places"].loc["rank", "estimate"].sort_values().tolist() == [1, 2, 3]
    rows = strengths_table.TABLE.table(found.reset_index(), study="judging_the_judges")
    assert rows["flag"].str.startswith("not identified").sum() == 3


def test_reversals_by_hand_and_ranks_with_ties():
    assert method.reversed_pairs(np.array([1, 2, 3]), np.array([2, 1, 3])) == (1, 3)
    assert method.ranks(np.array([3.0, 1.0, 3.0])).tolist() == [1.5, 3, 1.5]


def test_the_table_has_one_row_a_candidate_and_one_of_all():
    found = strengths.estimate(pd.concat([judged()], ignore_index=True), **SETTINGS)
    rows = strengths_table.TABLE.table(found, study="judging_the_judges")
    assert set(rows["candidate"]) == {"base", *(f"c{k}1" for k in range(6)), "all"}
    printed = strengths_table.TABLE.printout(rows)
    assert printed["candidate"].tolist()[0] == "c41"
    assert "reversed" in printed.columns


def with_ties(seed=0, groups=60):
    """A baseline and two candidates, in both orders, with ties."""
    rng = np.random.default_rng(seed)
    return comparison_table(rng.choice([0, 1, 1, 2], (2 * groups, 2)).tolist(), per_group=2)


def test_the_table_has_the_first_place_of_each_model_of_ties_in_its_own_column():
    found = strengths.estimate(with_ties(), **SETTINGS)
    first = found[found["quantity"] == "first_last"].set_index("model")["estimate"]
    assert set(first.index) == {"with places", "Rao-Kupper"}
    rows = strengths_table.TABLE.table(found, study="judging_the_judges")
    (row,) = rows[rows["candidate"] == "all"].to_dict("records")
    assert row["first_last"] == first["with places"]
    assert row["first_last_rao_kupper"] == first["Rao-Kupper"] != row["first_last"]
    assert len(rows) == 4


@pytest.mark.parametrize("places", [True, False])
def test_ties_that_are_offered_and_never_called_change_no_strength(places):
    rng = np.random.default_rng(6)
    without = drawn(np.array([0.0, 0.5, -0.7, 1.0]), np.array([0.4, 0.0]), -np.inf, reads=300, p=2, rng=rng)
    offered = without._replace(tie=np.ones(300, dtype=bool))
    one, other = (method.fit(choices, 4, places=places) for choices in (without, offered))
    assert not other.fit.problem
    assert np.array_equal(one.fit.coefficients, other.fit.coefficients)
    assert np.array_equal(one.fit.influence, other.fit.influence)


def test_a_tie_that_is_never_called_has_no_finite_number_and_all_else_has():
    tables = {tie: judged(3).assign(tie=tie) for tie in (True, False)}
    found = {
        tie: strengths.estimate(table, **SETTINGS).query("model == 'with places'") for tie, table in tables.items()
    }
    tie = found[True].query("quantity == 'tie'").iloc[0]
    assert np.isnan(tie["estimate"])
    assert tie["flag"] == "separated"
    rest = found[True].query("quantity != 'tie'").reset_index(drop=True)
    pd.testing.assert_frame_equal(rest, found[False].reset_index(drop=True))
    assert rest.query("quantity == 'first_last'")["flag"].item() == ""
