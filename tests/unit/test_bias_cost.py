"""Bias Cost: against plain sums, and a plain version of choosing and looking elsewhere.

`test_published` has the costs that the paper prints.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rubric_order.analyses.position.bias_cost import estimate as bias_cost
from rubric_order.base import randomness
from rubric_order.prompts import orderings
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 3}


def test_the_cost_of_a_hand_worked_case_reads_scores_as_rows():
    table = [[0.7, 0.3], [0.4, 0.6]]
    assert bias_cost.bias_cost(table, [1, 2]) == pytest.approx(0.2 + 0.1)
    assert bias_cost.bias_cost(table, [2, 1]) == pytest.approx(0.1 + 0.2)
    table = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [1, 0, 0]]
    expected = abs(1 - 1 / 3) + abs(0.3 - 1 / 3) + abs(0.1 - 1 / 3)
    assert bias_cost.bias_cost(table, [3, 1, 2]) == pytest.approx(expected)


@given(st.integers(2, 6).flatmap(lambda n: st.permutations(range(1, n + 1))), st.integers(0, 100))
def test_the_cost_agrees_with_a_plain_sum_and_is_0_without_bias(ordering, seed):
    n = len(ordering)
    table = np.random.default_rng(seed).dirichlet(np.ones(n), size=n)
    plain = sum(abs(table[score - 1][place] - 1 / n) for place, score in enumerate(ordering))
    assert bias_cost.bias_cost(table, ordering) == pytest.approx(plain)
    assert bias_cost.bias_cost(np.full((n, n), 1 / n), ordering) == pytest.approx(0)


@given(st.integers(2, 6), st.integers(0, 100))
def test_many_tables_and_orderings_at_once_are_one_by_one(n, seed):
    rng = np.random.default_rng(seed)
    tables, shown = rng.dirichlet(np.ones(n), size=(3, n)), orderings.balanced(n)
    costs = bias_cost.bias_cost(tables, shown)
    assert costs.shape == (3, 2 * n)
    for table, row in zip(tables, costs, strict=True):
        assert row == pytest.approx([float(bias_cost.bias_cost(table, ordering)) for ordering in shown])


@pytest.mark.parametrize(
    ("table", "ordering"),
    [(np.ones((2, 3)), [1, 2]), (np.eye(2), [1, 1]), (np.eye(2), [0, 1]), (np.eye(3), [1, 2])],
)
def test_what_does_not_fit_is_refused(table, ordering):
    with pytest.raises(ValueError, match="permutation"):
        bias_cost.bias_cost(table, ordering)


def test_a_score_that_is_never_selected_adds_nothing():
    table = np.array([[0.7, 0.3], [np.nan, np.nan]])
    assert bias_cost.bias_cost(table, [1, 2]) == pytest.approx(0.2)
    assert np.isnan(bias_cost.bias_cost(np.full((2, 2), np.nan), [1, 2]))
    assert np.isnan(bias_cost.bias_cost(np.full((2, 2), np.nan), [[1, 2], [2, 1]])).all()


def test_equally_cheap_orderings_share_the_choice():
    costs = np.array([[0.3, 0.1, 0.2], [0.1, 0.1 + 1e-15, 0.2], [np.nan] * 3])
    np.testing.assert_allclose(bias_cost.cheapest(costs), [[0, 1, 0], [0.5, 0.5, 0], [np.nan] * 3])


BIASED = {"preference": [0.6, 0, 0.2, 0, 0.3], "strategies": ["balanced"], "noise": 0.8}


@pytest.fixture(scope="module")
def data():
    parts = [simulated_reads(groups=30, dataset=name, seed=seed, **BIASED) for seed, name in enumerate("ab")]
    parts.append(simulated_reads(groups=20, dataset="c", seed=7, human=False, **BIASED))
    return parts, bias_cost.estimate(iter(parts), **BOOTSTRAP, splits=3)


def plain_shares(table):
    counts = pd.crosstab(table["score"], table["position"]).reindex(range(1, 6), fill_value=0)
    return counts.to_numpy() / counts.to_numpy().sum(axis=1, keepdims=True)


def plain_pearson(table):
    wide = table.pivot(index="item_id", columns="read_index", values="score").astype(float)
    human = table.drop_duplicates("item_id").set_index("item_id")["human_score"][wide.index]
    return np.array([np.corrcoef(wide[read], human)[0, 1] for read in wide])


def test_costs_and_correlations_of_each_ordering_are_those_of_a_loop(data):
    parts, found = data
    shown = orderings.balanced(5)
    names = [" ".join(map(str, ordering)) for ordering in shown]
    scopes = {part["dataset"].iloc[0]: [part] for part in parts} | {"all": parts}
    for dataset, tables in scopes.items():
        rows = found[(found["dataset"] == dataset) & (found["cluster"] == "group")]
        shares = plain_shares(pd.concat(tables))
        costs = [sum(abs(shares[s - 1, p] - 0.2) for p, s in enumerate(ordering)) for ordering in shown]
        cost = rows[rows["quantity"] == "cost"].set_index("ordering")
        assert cost["estimate"][names].tolist() == pytest.approx(costs)
        rated = [table for table in tables if table["human_score"].notna().all()]
        pearson = rows[rows["quantity"] == "pearson"].set_index("ordering")["estimate"]
        if not rated:
            assert pearson.empty
            continue
        expected = np.mean([plain_pearson(table) for table in rated], axis=0)
        assert pearson[names].tolist() == pytest.approx(expected.tolist())
        ranks = rows[rows["quantity"] == "pearson_rank"].set_index("ordering")["estimate"][names]
        assert ranks.tolist() == (len(expected) - expected.argsort().argsort()).tolist()


def plain_costs_without_noise(table, shown, unit):
    """Costs of the orderings, with what each share's error adds to its distance from 1/5 subtracted, cell by cell."""
    shares, costs = plain_shares(table), []
    units = [part[["score", "position"]].to_numpy() for _, part in table.groupby(["dataset", unit])]
    times = (table["score"].to_numpy() == np.arange(1, 6)[:, None]).sum(axis=1)
    added = np.zeros((5, 5))
    for score, place in itertools.product(range(5), range(5)):
        moved = []
        for reads in units:
            own = reads[reads[:, 0] == score + 1, 1]
            moved.append(((own == place + 1).sum() - shares[score, place] * len(own)) / times[score])
        error = np.sqrt(sum(move**2 for move in moved) * len(units) / (len(units) - 1))
        away = abs(shares[score, place] - 0.2)
        added[score, place] = away - (error * stats.foldnorm.mean(away / error) - away)
    for ordering in shown:
        costs.append(sum(added[score - 1, place] for place, score in enumerate(ordering)))
    return np.array(costs)


def test_the_choice_of_half_of_the_groups_is_looked_at_in_the_other_half(data):
    parts, found = data
    shown = orderings.balanced(5)
    expected, of_costs = {}, {"item": {}, "group": {}}
    for split in range(3):
        halves = [[], []]
        for part in parts:
            groups = np.unique(part["group_id"])
            drawn = randomness.generator(3, "bias cost split", part["dataset"].iloc[0], split).permutation(len(groups))
            first = part["group_id"].isin(groups[drawn[: len(groups) // 2]])
            halves[0].append(part[first])
            halves[1].append(part[~first])
        for train, test in (halves, halves[::-1]):
            chosen = bias_cost.bias_cost(plain_shares(pd.concat(train)), shown).argmin()
            for cluster, of in of_costs.items():
                costs = plain_costs_without_noise(pd.concat(test), shown, f"{cluster}_id")
                values = {"chosen": costs[chosen], "canonical": costs[0], "mean": costs.mean()}
                for name, value in (values | {"saved": costs[0] - costs[chosen]}).items():
                    of.setdefault(f"heldout_cost_{name}", []).append(value)
            r = np.mean([plain_pearson(part) for part in test[:2]], axis=0)
            values = {"pearson_chosen": r[chosen], "pearson_canonical": r[0], "pearson_mean": r.mean()}
            values |= {"pearson_gained": r[chosen] - r[0]}
            for name, value in (values | {"pearson_over_mean": r[chosen] - r.mean()}).items():
                expected.setdefault(f"heldout_{name}", []).append(value)
    for cluster in ("item", "group"):
        rows = found[(found["dataset"] == "all") & (found["cluster"] == cluster)].set_index("quantity")["estimate"]
        for name, values in (expected | of_costs[cluster]).items():
            assert rows[name] == pytest.approx(np.mean(values)), name
    assert not found.query("dataset == 'c'")["quantity"].str.contains("pearson").any()


def test_the_share_of_resamples_that_choose_an_ordering_sums_to_1(data):
    _, found = data
    shares = found[found["quantity"] == "chosen_share"].groupby(["dataset", "cluster"])["estimate"].sum()
    assert shares.to_numpy() == pytest.approx(np.ones(8))


def test_a_strong_preference_is_chosen_against_in_every_resample():
    # Scores 1 and 5 are taken wherever they stand first, and the others are not: only some orderings avoid that.
    table = simulated_reads(groups=200, strategies=["balanced"], noise=0.5)
    lured = [(o[0] in (1, 5)) for o in table["ordering"]]
    table.loc[lured, "score"] = [o[0] for o in table["ordering"][lured]]
    table["position"] = pd.array([list(o).index(s) + 1 for o, s in zip(table["ordering"], table["score"], strict=True)])
    found = bias_cost.estimate(table, **BOOTSTRAP).query("dataset == 'd' and cluster == 'group'")
    chosen = found[found["quantity"] == "chosen_share"].set_index("ordering")["estimate"]
    assert chosen[[name for name in chosen.index if name[0] in "15"]].sum() == 0
    saved = found[found["quantity"] == "heldout_cost_saved"].iloc[0]
    assert saved["ci_low"] > 0.05


@pytest.mark.slow
def test_the_noise_is_what_an_unbiased_judge_costs():
    costs, noise = [], []
    for seed in range(60):
        table = simulated_reads(groups=50, candidates=2, strategies=["balanced"], seed=seed)
        rows = bias_cost.estimate(table, **BOOTSTRAP).query(
            "dataset == 'd' and cluster == 'item' and quantity == 'cost'"
        )
        costs.append(rows["estimate"].mean())
        noise.append(rows["noise"].mean())
    assert np.mean(costs) == pytest.approx(np.mean(noise), rel=0.06)


def test_a_rare_score_has_more_noise_than_a_common_one():
    # Two selections of score 1 are missing from one resample in seven; those resamples say nothing of its noise.
    table = simulated_reads(groups=20, candidates=2, strategies=["balanced"], seed=1)
    ones = table.index[table["score"] == 1]
    noise = []
    for kept in (0, 2):
        failed = table.index.isin(ones.difference(table.loc[ones].drop_duplicates("item_id").index[:kept]))
        reads = table.assign(**{name: table[name].mask(failed) for name in ("score", "position")})
        rows = bias_cost.estimate(reads, **BOOTSTRAP)
        noise.append(rows.query("dataset == 'd' and cluster == 'item' and quantity == 'cost'")["noise"].mean())
    # What score 1 adds. Its shares are 0, 1/2 or 1.
    assert 0.1 < noise[1] - noise[0] < 0.3


def test_what_few_groups_say_is_saved_is_what_their_choice_saves():
    # The true shares are those of very many items; nothing of the estimator is in them.
    judge, shown = Simulation(interaction=1.0), orderings.balanced(5)
    many = studies.read_items(judge, n=5, strategies=["balanced"], groups=20_000, seed=1)["balanced"]
    shares = np.array([(many.probabilities * (many.shown == score)).sum(axis=(0, 1)) for score in range(1, 6)])
    true = bias_cost.bias_cost(shares / shares.sum(axis=1, keepdims=True), shown)
    parts = []
    for seed in range(100, 160):
        reads = studies.read_items(judge, n=5, strategies=["balanced"], groups=20, candidates=2, seed=seed)
        parts.append(studies.as_scores(reads, candidates=2, study="s", dataset=f"d{seed}", judge="j"))
    scores = pd.concat(parts, ignore_index=True)
    found = bias_cost.estimate(scores, resamples=2, confidence=0.95, seed=3, splits=3)
    rows = found.query("quantity == 'heldout_cost_saved' and cluster == 'group' and readout == 'hard'")
    rows = rows[rows["dataset"] != "all"]
    saved, plain = [], []
    for part in parts:
        groups = np.unique(part["group_id"])
        for split in range(3):
            drawn = randomness.generator(3, "bias cost split", part["dataset"].iloc[0], split).permutation(20)
            first = part["group_id"].isin(groups[drawn[:10]])
            costs = [bias_cost.bias_cost(plain_shares(half), shown) for half in (part[first], part[~first])]
            for train, test in (costs, costs[::-1]):
                chosen = train.argmin()
                saved.append(true[0] - true[chosen])
                plain.append(test[0] - test[chosen])
    # Absolute values lose what the choice saves to the noise of the cheapest ordering.
    assert np.mean(plain) < rows["estimate"].mean() < np.mean(saved) + 0.02
    assert ((rows["ci_low"] <= np.mean(saved)) & (rows["ci_high"] >= np.mean(saved))).mean() >= 0.9


def test_two_levels_cannot_be_told_apart():
    # What the first position takes too much of a score, the second takes too little: both orderings cost as much.
    table = simulated_reads(groups=30, n=2, strategies=["balanced"], preference=[1, 0])
    found = bias_cost.estimate(table, **BOOTSTRAP).query("dataset == 'd' and cluster == 'item'")
    rows = found[found["quantity"] == "chosen_share"].set_index("ordering")["estimate"]
    assert rows.to_dict() == {"1 2": 0.5, "2 1": 0.5}
    held_out = found.set_index("quantity")["estimate"]
    assert held_out["heldout_cost_saved"] == pytest.approx(0)
    assert held_out["heldout_pearson_chosen"] == pytest.approx(held_out["heldout_pearson_mean"])
