"""Length control: a planted effect of length comes back, and a judge without one stays as it is."""

import numpy as np
import pandas as pd
import pytest
from factories import comparison_table
from scipy import special

from rubric_order.analyses.comparisons.length_control import estimate as length_control
from rubric_order.analyses.comparisons.length_control import table as length_table
from rubric_order.analyses.comparisons.length_controlled_win_rates import table as length_controlled_win_rates
from rubric_order.methods.comparisons import length_control as method


def planted(phi, *, questions=80, candidates=6, strength=0.8, place=0.4, seed=0, longer=None, noise=0.0, hard=0.5):
    """Pairs with a baseline, judged in both orders by AlpacaEval's own model, with difficulties of questions."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(-strength, strength, candidates)
    hard = rng.normal(0, hard, questions)
    habit = np.zeros(candidates) if longer is None else longer
    size = np.exp(rng.normal(0, 0.4, (questions, candidates)) + habit)
    base = np.exp(rng.normal(0, 0.4, questions))
    lengths = np.round(1000 * np.stack([np.broadcast_to(base[:, None], size.shape), size], axis=2)).reshape(-1, 2)
    gap = lengths[:, 0] - lengths[:, 1]
    z = -(theta[None, :] + hard[:, None]).ravel() + phi * np.tanh(gap / gap.std())
    z += rng.normal(0, noise, len(z)) if noise else 0
    chance = special.expit(np.column_stack([z + place, z - place]))
    won = rng.random(chance.shape) < chance
    # In the second order the first candidate stands last.
    verdicts = np.column_stack([np.where(won[:, 0], 1, 2), np.where(won[:, 1], 2, 1)])
    table = comparison_table(verdicts.tolist(), per_group=candidates, tie=False)
    units = table["unit_id"].unique()
    return table.assign(
        lengths=table["unit_id"].map(dict(zip(units, lengths.tolist(), strict=True))), criterion="overall"
    )


def estimated(table, **chosen):
    found = length_control.estimate(table, confidence=0.95)
    return found.query(" and ".join(["candidate == 'all'", *(f"{key} == {value!r}" for key, value in chosen.items())]))


def value(found, quantity):
    (row,) = found[found["quantity"] == quantity].to_dict("records")
    return row


def laid_out(table):
    verdict = table["score"].map({1: 1.0, 2: 0.0}).to_numpy(dtype=float)
    verdict[::7] = 0.5
    return length_control._pairs(table, verdict)


def test_the_regression_is_that_of_statsmodels():
    from statsmodels.genmod import families
    from statsmodels.genmod.generalized_linear_model import GLM

    pairs = laid_out(planted(1.0, questions=40))
    found = method.design(pairs, method.scaled(pairs))
    assert found.notes == ()
    ours = method.fit(found.x, pairs.verdict, pairs.cluster, 40)
    theirs = GLM(pairs.verdict, found.x, family=families.Binomial()).fit(tol=1e-12)
    assert ours.coefficients == pytest.approx(theirs.params, abs=1e-6)


def test_a_hard_question_is_hard_for_whoever_meets_the_baseline_whichever_is_named_first():
    pairs = laid_out(planted(1.0, questions=40))
    half = np.arange(len(pairs.verdict)) % 2 == 0
    one, other = np.where(half, pairs.second, pairs.first), np.where(half, pairs.first, pairs.second)
    turned = pairs._replace(first=one, second=other)
    assert method.design(pairs, method.scaled(pairs)).side.tolist() == [-1] * len(half)
    assert method.design(turned, method.scaled(pairs)).side.tolist() == np.where(half, 1, -1).tolist()


@pytest.mark.parametrize("seed", [2, 8])
def test_questions_that_are_equally_hard_leave_the_other_terms_their_intervals(seed):
    # Their standard deviation comes out as 0, where its likelihood is flat; without one group its information is none.
    found = estimated(planted(0.5, questions=20, seed=seed, hard=0.0), readout="hard")
    for quantity in ("length", "first_place"):
        row = value(found, quantity)
        assert row["ci_low"] < row["estimate"] < row["ci_high"]


def test_random_difficulties_by_another_integral():
    pairs = laid_out(planted(1.0, questions=12))
    design = method.design(pairs, method.scaled(pairs))
    b = np.append(np.linspace(-0.5, 0.5, design.x.shape[1]), 0.7)
    total, score, information = method._likelihood(
        b, design.x, design.side, pairs.verdict, pairs.question, 12, second=True
    )

    def loglik(b):
        grid = np.linspace(-8, 8, 801)
        sums = np.zeros((12, len(grid)))
        for k in range(len(pairs.verdict)):
            p = special.expit(design.x[k] @ b[:-1] + b[-1] * design.side[k] * grid)
            sums[pairs.question[k]] += pairs.verdict[k] * np.log(p) + (1 - pairs.verdict[k]) * np.log(1 - p)
        return np.log((np.exp(sums) * np.exp(-(grid**2) / 2)).sum(axis=1) * (grid[1] - grid[0]) / np.sqrt(2 * np.pi))

    assert total == pytest.approx(loglik(b).sum(), abs=1e-4)
    for k in (0, -3, -2, -1):
        step = np.zeros(len(b))
        step[k] = 1e-4
        assert score[:, k] == pytest.approx((loglik(b + step) - loglik(b - step)) / 2e-4, abs=1e-3)
        ends = [
            method._likelihood(b + side * step, design.x, design.side, pairs.verdict, pairs.question, 12)[1]
            for side in (1, -1)
        ]
        assert information[:, k] == pytest.approx(-(ends[0] - ends[1]) / 2e-4, abs=1e-5)


def test_a_planted_effect_of_length_comes_back_in_its_interval():
    inside, estimates = [], []
    for seed in range(10):
        row = value(estimated(planted(1.0, seed=seed, questions=60), readout="hard"), "length")
        inside.append(row["ci_low"] < 1.0 < row["ci_high"])
        estimates.append(row["estimate"])
    assert np.mean(estimates) == pytest.approx(1.0, abs=0.15)
    assert sum(inside) >= 8


def test_control_takes_back_what_length_won_and_leaves_a_judge_without_a_liking_as_it_is():
    habit = np.linspace(-0.5, 0.5, 6)  # the better candidates write longer
    for phi, moved in ((0.0, False), (1.5, True)):
        rates = length_control.estimate(planted(phi, longer=habit, strength=0.3, seed=3), confidence=0.95)
        rates = rates[(rates["quantity"] == "difference") & (rates["candidate"] != "base")]
        outside = (rates["ci_low"] > 0) | (rates["ci_high"] < 0)
        # The shortest gains by control, the longest loses, where length is liked.
        assert outside.iloc[[0, -1]].all() if moved else outside.mean() < 0.2
        if moved:
            assert rates["estimate"].iloc[0] > 0.05
            assert rates["estimate"].iloc[-1] < -0.05


@pytest.mark.parametrize("candidates", [1, 6])
def test_a_strong_effect_of_place_is_no_effect_of_length(candidates):
    table = planted(0.0, questions=300, candidates=candidates, strength=1.0, place=2.0, seed=11)
    rates = length_control.estimate(table, confidence=0.95)
    (rates, raw) = (rates[rates["quantity"] == name] for name in ("difference", "win_rate"))
    assert np.abs(raw["estimate"] - 0.5).max() > 0.08
    assert rates["estimate"].to_numpy() == pytest.approx(0, abs=0.01)
    assert ((rates["ci_low"] < 0) & (rates["ci_high"] > 0)).all()


def test_the_error_of_a_controlled_win_rate_holds_that_of_place():
    pairs = laid_out(planted(1.0, questions=60, candidates=1, strength=1.0, place=2.0))
    design = method.design(pairs, method.scaled(pairs))
    found = method.fit(design.x, pairs.verdict, pairs.cluster, 60)
    k = design.x.shape[1]

    def rate(**changed):
        return method.win_rate(pairs, design, found._replace(**changed), 0, 60)

    mix = rate(influence=np.zeros((60, k))).of_controlled  # whom it meets, and where
    slope = (rate(influence=np.eye(60, k)).of_controlled - mix)[:k]
    for column, step in enumerate(1e-5 * np.eye(k)):
        ends = [rate(coefficients=found.coefficients + way * step).controlled for way in (1, -1)]
        assert slope[column] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-8)
    assert slope[-2] == 0  # of length
    assert abs(slope[-1]) > 0.01


def chance_met(seed, questions=60, phi=0.0):
    """Pairs of A with one other candidate per question, as it is drawn: B is weak and C is strong."""
    rng = np.random.default_rng(seed)
    other = rng.integers(1, 3, questions)
    length = rng.normal(0, 300, questions)
    z = np.array([0, 1.8, -1.8])[other] + phi * np.tanh(length / length.std())
    verdict = (rng.random((2, questions)) < special.expit(z)).astype(float).ravel()
    question, place = np.tile(np.arange(questions), 2), np.repeat([1.0, -1.0], questions)
    return method.Pairs(
        verdict,
        np.zeros(2 * questions, dtype=int),
        np.tile(other, 2),
        -1,
        question,
        np.tile(length, 2),
        float(length.std()),
        place,
        question,
    )


def rate_of_a(pairs):
    design = method.design(pairs, method.scaled(pairs))
    some = pairs.rows(design.usable)
    found = method.fit(design.x, some.verdict, some.cluster, int(pairs.cluster.max()) + 1)
    return method.win_rate(some, design, found, 0, int(pairs.cluster.max()) + 1)


def test_the_error_of_a_controlled_win_rate_holds_whom_a_candidate_meets():
    pairs = chance_met(1, phi=0.8)
    found = rate_of_a(pairs)
    left_out = np.array([rate_of_a(pairs.rows(pairs.cluster != k)).controlled for k in range(60)])
    # Each question left out in turn, with all of the regression done anew.
    assert found.of_controlled == pytest.approx(found.controlled - left_out, abs=2e-3)
    # Over other questions the win rate varies by its opponents; what control changes hardly varies without a liking.
    rates = [rate_of_a(chance_met(seed)) for seed in range(60)]

    def ratio(values, influence):
        return np.mean([method.cluster_robust._error(each) for each in influence]) / np.std(values)

    controlled = ratio([rate.controlled for rate in rates], [rate.of_controlled for rate in rates])
    assert controlled == pytest.approx(1, abs=0.25)
    changes = [rate.controlled - rate.raw for rate in rates]
    of_changes = [rate.of_controlled - rate.of_raw for rate in rates]
    assert 0.8 < ratio(changes, of_changes) < 2


RATES = ["win_rate_controlled", "difference"]


@pytest.mark.parametrize("candidates", [1, 6])
@pytest.mark.parametrize("gaps", ["one", "of each candidate"])
def test_win_rates_without_length_are_not_known_where_each_candidate_is_longer_by_a_constant(candidates, gaps):
    table = planted(1.0, candidates=candidates, questions=60, seed=4)
    number = table["candidate"].str[1].astype(int) + 1 if gaps == "of each candidate" else pd.Series(1, table.index)
    table = table.assign(lengths=[[1000, 1000 + 100 * gap] for gap in number])
    found = length_control.estimate(table, confidence=0.95)
    rates = found[found["quantity"].isin(RATES)]
    assert len(rates) == 2 * (candidates + 1)
    assert rates[["estimate", "ci_low", "ci_high"]].isna().all(axis=None)
    assert rates["flag"].str.startswith("not identified").all()
    assert found.loc[found["quantity"] == "win_rate", "estimate"].notna().all()
    effects = found[found["quantity"].isin(["length", "length_two_steps"]) & (found["readout"] == "hard")]
    assert len(effects) == 1 + (candidates > 4)
    assert effects["estimate"].isna().all()
    assert effects["flag"].str.contains("not identified").all()
    shown = length_controlled_win_rates.TABLE.table(found, study="judging_the_judges", varied="baseline")
    assert shown["flag"].str.startswith("not identified").all()
    assert len(length_controlled_win_rates.TABLE.printout(shown)) == candidates + 1


@pytest.mark.parametrize("candidates", [1, 6])
def test_in_one_order_place_is_not_known_but_win_rates_at_that_place_are(candidates):
    table = planted(0.0, candidates=candidates, questions=150, seed=6, place=1.0)
    table = table[[order[0] == 1 for order in table["ordering"]]]
    found = length_control.estimate(table, confidence=0.95)
    place = found[(found["quantity"] == "first_place") & (found["readout"] == "hard")]
    assert place["estimate"].isna().all()
    assert place["flag"].str.contains("not identified").all()
    rates = found[found["quantity"] == "difference"]
    assert rates["estimate"].to_numpy() == pytest.approx(0, abs=0.02)
    assert (rates["flag"].str.contains("not identified")).sum() == 0
    # With a constant gap as well nothing is left.
    same = length_control.estimate(table.assign(lengths=[[900, 1000]] * len(table)), confidence=0.95)
    assert same.loc[same["quantity"].isin(RATES), "estimate"].isna().all()


def test_texts_of_one_length_are_at_a_difference_of_0_already():
    table = planted(0.0, questions=60, seed=4)
    found = length_control.estimate(table.assign(lengths=[[1000, 1000]] * len(table)), confidence=0.95)
    assert found.loc[found["quantity"] == "difference", "estimate"].to_numpy() == pytest.approx(0, abs=0.01)


def test_controlled_win_rates_are_those_of_the_same_judge_without_a_liking_for_length():
    habit = np.linspace(-0.5, 0.5, 6)
    options = {"longer": habit, "strength": 0.3, "questions": 200, "seed": 5}
    liking, free = (
        length_control.estimate(planted(phi, **options), confidence=0.95).set_index(["candidate", "quantity"])
        for phi in (1.5, 0.0)
    )
    for name in [f"c{k}1" for k in range(6)]:
        controlled, plain = liking.loc[name, "win_rate_controlled"], free.loc[name, "win_rate"]
        assert controlled["estimate"].item() == pytest.approx(plain["estimate"].item(), abs=0.08)
    assert liking.loc[("c51", "win_rate"), "estimate"].item() > free.loc[("c51", "win_rate"), "estimate"].item() + 0.1


def test_raw_win_rates_correlation_and_longer_wins_by_hand():
    table = comparison_table([(1, 2), (1, 1), (0, 2), (2, 1)], tie=True)
    lengths = {f"u{k:04d}": row for k, row in enumerate([[200, 100], [100, 200], [300, 100], [100, 100]])}
    table = table.assign(lengths=table["unit_id"].map(lengths))
    found = estimated(table, readout="hard")
    # Reads of the first candidate: 1, 1; 1, 0; a half, 1; 0, 0. The longer one wins 2 of 2, 1 of 2, 1.5 of 2.
    assert value(found, "longer_wins")["estimate"] == pytest.approx((2 + 1 + 1.5) / 6)
    gaps, wins = np.repeat([100, -100, 200, 0], 2), [1, 1, 1, 0, 0.5, 1, 0, 0]
    assert value(found, "correlation")["estimate"] == pytest.approx(np.corrcoef(gaps, wins)[0, 1])
    assert value(found, "length")["flag"] == "no difficulties, few clusters"


def test_a_candidate_that_always_wins_is_left_out_and_named():
    table = planted(0.5, candidates=6)
    best = table["candidate"] == "c51"
    table.loc[best, "score"] = 2
    found = estimated(table, readout="hard")
    assert "always or never win" in value(found, "length")["flag"]
    assert np.isfinite(value(found, "length")["estimate"])


def test_log_probabilities_give_the_same_without_chance():
    table = planted(0.0)
    lengths = np.stack(table["lengths"].to_numpy())
    gap = lengths[:, 0] - lengths[:, 1]
    sd = gap[~table["unit_id"].duplicated().to_numpy()].std()
    place = np.array([1 if order[0] == 1 else -1 for order in table["ordering"]])
    z = place * (0.7 * np.tanh(gap / sd) + 0.3 * place)  # of the first place over the second
    p = special.expit(z)
    table = table.assign(position_probabilities=list(np.column_stack([p, 1 - p])))
    found = estimated(table, readout="soft")
    assert value(found, "length")["estimate"] == pytest.approx(0.7, abs=1e-6)
    assert value(found, "first_place")["estimate"] == pytest.approx(0.3, abs=1e-6)


def with_shares(phi, *, hard, candidates=6, questions=60):
    """Reads whose options have the probabilities of a judge with planted strengths, place and liking for length."""
    table = planted(0.0, questions=questions, candidates=candidates)
    lengths = np.stack(table["lengths"].to_numpy())
    gap = lengths[:, 0] - lengths[:, 1]
    sd = gap[~table["unit_id"].duplicated().to_numpy()].std()
    place = np.array([1 if order[0] == 1 else -1 for order in table["ordering"]])
    other = table["candidate"].str[1].astype(int).to_numpy() / candidates
    difficulty = np.random.default_rng(3).normal(0, hard, questions)[pd.factorize(table["group_id"])[0]]
    z = phi * np.tanh(gap / sd) - other + 0.3 * place - difficulty
    share = special.expit(place * z)
    table = table.assign(position_probabilities=list(np.column_stack([share, 1 - share])))
    # The verdict is the likelier one, as of a judge at temperature 0.
    table["score"] = pd.array(np.where(z > 0, 1, 2), dtype="Int8")
    return table, z, phi * np.tanh(gap / sd)


def test_win_rates_by_probabilities_take_them_as_they_are():
    table, z, liking = with_shares(1.2, hard=0.0, candidates=3)  # too few candidates for difficulties
    found = length_control.estimate(table, confidence=0.95)
    rates = found[found["readout"] == "soft"].set_index(["candidate", "quantity"])["estimate"]
    names = table["candidate"].to_numpy()
    for name in ("c01", "c11", "c21"):
        mine = names == name  # the second candidate, beside the baseline
        assert rates[name, "win_rate"] == pytest.approx(special.expit(-z[mine]).mean())
        truth = special.expit(-(z - liking)[mine]).mean()
        assert rates[name, "win_rate_controlled"] == pytest.approx(truth, abs=1e-4)
    assert (z[names == "c21"] < 0).mean() > rates["c21", "win_rate"] + 0.1  # what verdicts would round it to


def test_win_rates_by_probabilities_with_difficulties_of_questions():
    table, z, liking = with_shares(1.0, hard=0.5)
    found = length_control.estimate(table, confidence=0.95)
    rates = found[found["readout"] == "soft"].set_index(["candidate", "quantity"])["estimate"]
    for name in ("c01", "c51"):
        truth = special.expit(-(z - liking)[(table["candidate"] == name).to_numpy()]).mean()
        assert rates[name, "win_rate_controlled"] == pytest.approx(truth, abs=0.02)


def test_the_probability_of_a_tie_is_half_a_win_and_a_sure_read_counts():
    table, *_ = with_shares(0.5, hard=0.0, candidates=3, questions=10)
    rows = [[1.0, 0.0, 0.0] if k % 6 == 0 else [0.2, 0.3, 0.5] for k in range(len(table))]
    table = table.assign(position_probabilities=rows, tie=True)
    found = length_control.estimate(table, confidence=0.95).query("readout == 'soft' and quantity == 'win_rate'")
    # Reads come order by order: of the first candidate 1 (or .45) where it stands first, .55 where it stands last.
    rates = found.set_index("candidate")["estimate"]
    assert rates["c01"] == pytest.approx(1 - (1.0 + 0.55) / 2)
    assert rates["c11"] == rates["c21"] == pytest.approx(1 - (0.45 + 0.55) / 2)


def test_soft_rows_say_where_strengths_are_missing_and_which_reads_are_left_out():
    table = comparison_table([(1, 2)] * 6, per_group=6, tie=False)  # each candidate in two reads alone
    share = np.tile([0.6, 0.3], 6)
    share[4] = 1.0
    table = table.assign(
        lengths=[[100 + 10 * k, 100] for k in range(12)],
        position_probabilities=list(np.column_stack([share, 1 - share])),
    )
    row = value(estimated(table, readout="soft"), "length")
    assert row["n_pairs"] == 6
    assert "no strengths" in row["flag"]
    assert "1 reads with a probability of 0 left out" in row["flag"]
    sure = pd.concat([table, table.assign(condition="padded_1")], ignore_index=True)
    of_padding = value(estimated(sure, varied="padding", readout="soft"), "padding")
    assert "2 reads with a probability of 0 left out" in of_padding["flag"]
    plenty = planted(0.0, questions=40).assign(position_probabilities=[[0.6, 0.4]] * 480)
    assert value(estimated(plenty, readout="soft"), "length")["flag"] == ""


def padded(delta, seed, *, units=100, place=0.5, tie=None):
    """The same pairs as they are, with the first text padded, and with the second."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 1, units)
    parts = []
    for condition, side in (("baseline", 0), ("padded_1", 1), ("padded_2", -1)):
        rows = []
        for sign in (1, -1):
            z = sign * (level + side * delta) + place
            weights = [np.exp(z / 2), np.exp(-z / 2), np.full(units, 0.0 if tie is None else np.exp(tie))]
            shares = np.cumsum(np.column_stack(weights) / sum(weights)[:, None], axis=1)
            rows.append((rng.random(units)[:, None] > shares).sum(axis=1))
        verdicts = np.array([1, 2, 0])[np.column_stack(rows)]
        table = comparison_table(verdicts.tolist(), per_group=3, tie=tie is not None)
        parts.append(table.assign(condition=condition, lengths=[[100, 100]] * len(table)))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("tie", [None, 0.0])
def test_padding_shows_what_was_planted(tie):
    rows = [value(estimated(padded(0.8, seed, tie=tie), varied="padding"), "padding") for seed in range(6)]
    assert np.mean([row["estimate"] for row in rows]) == pytest.approx(0.8, abs=0.15)
    assert sum(row["ci_low"] < 0.8 < row["ci_high"] for row in rows) >= 5
    none = [value(estimated(padded(0.0, seed, tie=tie), varied="padding"), "padding") for seed in range(6)]
    assert sum(row["ci_low"] < 0 < row["ci_high"] for row in none) >= 5


def test_padding_in_points_by_hand():
    base = comparison_table([(2, 2), (2, 1)], tie=False)
    longer = comparison_table([(1, 2), (2, 1)], tie=False).assign(condition="padded_1")
    table = pd.concat([base, longer], ignore_index=True).assign(lengths=[[9, 9]] * 8)
    found = estimated(table, varied="padding")
    # The first pair: its first candidate won in the second order, and wins in both; the other pair stays.
    assert value(found, "padding_share")["estimate"] == pytest.approx(1 / 4)


def test_tables_have_a_row_a_condition_and_a_row_a_candidate():
    found = length_control.estimate(planted(1.0), confidence=0.95)
    rows = length_table.TABLE.table(found, study="judging_the_judges")
    assert rows["varied"].tolist() == ["baseline"]
    assert length_table.TABLE.printout(rows)["length"][0].startswith("+")
    assert set(found["readout"]) == {"hard"}
    rates = length_controlled_win_rates.TABLE.table(found, study="judging_the_judges", varied="baseline")
    assert len(rates) == 7
    assert rates["win_rate_controlled"].is_monotonic_decreasing
    assert len(length_controlled_win_rates.TABLE.printout(rates)) == 7


def test_recorded_pairs_without_lengths_and_lists_have_no_rows():
    table = comparison_table([(1, 2)]).assign(lengths=None)
    assert length_control.estimate(table, confidence=0.95).empty
    lists = comparison_table([(1, 2, 3)], n=3).assign(lengths=[[1, 2, 3]] * 3)
    assert length_control.estimate(lists, confidence=0.95).empty


def method_of(found, quantity):
    (method,) = found.loc[(found["quantity"] == quantity) & (found["readout"] == "hard"), "method"].unique()
    return method


def test_the_column_method_says_which_error_an_interval_has(monkeypatch):
    tables = {candidates: planted(0.5, questions=40, candidates=candidates) for candidates in (1, 6)}
    found = {key: length_control.estimate(table, confidence=0.95) for key, table in tables.items()}
    assert "normal difficulties" in method_of(found[6], "length")
    assert "larger error" not in method_of(found[6], "length")
    assert "larger error of sandwich CR3 over groups and of independent comparisons" in method_of(found[1], "length")
    # What it says is so: with a larger error of independent comparisons one interval gets wider, and no other.
    fit = method.conditional_logit.fit

    def with_larger_error(*args, **kwargs):
        found = fit(*args, **kwargs)
        return found._replace(least=None if found.least is None else 100 * found.least)

    monkeypatch.setattr(method.conditional_logit, "fit", with_larger_error)
    for candidates, before in found.items():
        after = length_control.estimate(tables[candidates], confidence=0.95)
        wider = (after["ci_high"] - after["ci_low"]) > 1.01 * (before["ci_high"] - before["ci_low"])
        assert after["method"][wider].str.contains("larger error").all()
        assert wider[(before["method"].str.contains("larger error"))].all()
        assert wider.any() == (candidates == 1)
