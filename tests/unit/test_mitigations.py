import numpy as np
import pandas as pd
import pytest
from factories import comparison_table

from rubric_order.analyses.comparisons.mitigations import estimate as mitigations
from rubric_order.analyses.comparisons.mitigations import table as mitigations_table

A, B, TIE, NONE = 1, 2, 0, None
# Verdicts in both orders, and what people give the first candidate and the second.
PAIRS = [
    ((A, B), (5, 1)),  # the first candidate, twice: right
    ((B, A), (5, 1)),  # the second, twice: wrong
    ((A, A), (4, 3)),  # the place
    ((TIE, A), (1, 2)),  # a tie, and then the second: right
    ((A, NONE), (5, 1)),  # does not count
    ((A, B), (3, 3)),  # people see no difference
]


def scored(pairs, **about):
    table = comparison_table([verdicts for verdicts, _ in pairs], **about)
    human = dict(zip(sorted(table["unit_id"].unique()), (list(map(float, scores)) for _, scores in pairs), strict=True))
    return table.assign(human_scores=table["unit_id"].map(human))


def estimated(table, gap="all"):
    found = mitigations.estimate(table, confidence=0.95).query("gap == @gap and task == 'all'")
    return found.set_index(["policy", "quantity"])["estimate"]


def test_policies_by_hand():
    found = estimated(scored(PAIRS))
    # One order says: first, second, first, tie. Of the three that are decided two are right.
    assert found["one_order", "coverage"] == pytest.approx(3 / 4)
    assert found["one_order", "accuracy"] == pytest.approx(2 / 3)
    assert found["one_order", "accuracy_ties_half"] == pytest.approx((1 + 0 + 1 + 0.5) / 4)
    # Both orders agree on the first two pairs alone.
    assert found["swap_else_tie", "coverage"] == pytest.approx(2 / 4)
    assert found["swap_else_tie", "accuracy"] == pytest.approx(1 / 2)
    # On average the last one is 1/4, which decides for the second candidate.
    assert found["swap_average", "coverage"] == pytest.approx(3 / 4)
    assert found["swap_average", "accuracy"] == pytest.approx(2 / 3)
    assert found["swap_average", "accuracy_ties_half"] == pytest.approx((1 + 0 + 0.5 + 0.75) / 4)
    assert found["one_order", "consistency"] == pytest.approx(2 / 4)
    assert found["swap_else_tie", "consistency"] == 1
    # First places less second ones: A,A is 1; a tie and then the first place is a half.
    assert found["one_order", "first_place"] == pytest.approx((1 + 0.5) / 4)


def many(seed, n=300):
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, (n, 2))
    lean = (human[:, 0] - human[:, 1]) * 0.6 + rng.normal(0, 0.7, n)
    first = np.where(rng.random(n) < 1 / (1 + np.exp(-lean - 0.8)), A, B)
    second = np.where(rng.random(n) < 1 / (1 + np.exp(lean - 0.8)), A, B)
    ties = rng.random((n, 2)) < 0.1
    verdicts = np.where(ties, TIE, np.column_stack([first, second]))
    return scored(list(zip(verdicts.tolist(), human.tolist(), strict=True)), per_group=5)


def test_averaging_two_orders_is_as_right_as_a_random_order_when_a_tie_counts_half():
    table = many(20261122)
    found = estimated(table)
    assert found["swap_average", "accuracy_ties_half"] == pytest.approx(found["random_order", "accuracy_ties_half"])
    assert found["swap_average", "correlation"] > found["random_order", "correlation"]
    assert found["swap_else_tie", "coverage"] < found["swap_average", "coverage"]


def test_correlation_and_win_rates_are_those_of_numpy():
    table = many(3)
    first = table[table["ordering"].map(lambda ordering: ordering[0] == 1)].set_index("unit_id")
    gap = np.array([scores[0] - scores[1] for scores in first["human_scores"]])
    value = first["score"].map({1: 1.0, 2: 0.0, 0: 0.5}).to_numpy(dtype=float)
    found = estimated(table)
    told = gap != 0
    assert found["one_order", "correlation"] == pytest.approx(np.corrcoef(value[told], gap[told])[0, 1])
    parts = pd.DataFrame({"name": first["candidate"].to_numpy(), "judge": value, "people": gap > 0})[told]
    rates = parts.groupby("name").mean()
    errors = [*(rates["judge"] - rates["people"]).abs(), abs(value[told].mean() - (gap[told] > 0).mean())]
    assert found["one_order", "win_rate_error"] == pytest.approx(np.mean(errors))
    # By chance: each candidate's rate less that of people, with groups as the sample.
    parts["away"], parts["group"] = parts["judge"] - parts["people"], first["group_id"].to_numpy()[told]
    base = parts.assign(name="baseline", away=-parts["away"])
    sizes = []
    for _, own in [*parts.groupby("name"), *base.groupby("name")]:
        sums = (own["away"] - own["away"].mean()).groupby(own["group"]).sum()
        error = np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(own)
        sizes.append(np.sqrt(2 / np.pi) * error)
    assert found["one_order", "win_rate_noise"] == pytest.approx(np.mean(sizes))
    assert found["swap_average", "win_rate_noise"] < found["random_order", "win_rate_noise"]


def test_a_larger_difference_is_easier_and_the_table_shows_all_of_them():
    table = many(5, n=600)
    small, large = estimated(table, "0.5 to 1"), estimated(table, "over 2")
    assert large["one_order", "accuracy"] > small["one_order", "accuracy"]
    rows = mitigations_table.TABLE.table(mitigations.estimate(table, confidence=0.95), study="judging_the_judges")
    printed = mitigations_table.TABLE.printout(rows)
    assert printed["calls"].tolist() == [1, 1, 2, 2]
    assert set(rows["gap"]) == {"all", "0.5 to 1", "1 to 2", "over 2"}


def test_pairs_without_human_scores_give_an_empty_table():
    found = mitigations.estimate(comparison_table([(A, B)] * 3), confidence=0.95)
    assert found.empty
    rows = mitigations_table.TABLE.table(found, study="judging_the_judges")
    assert rows.empty
    assert mitigations_table.TABLE.printout(rows).empty


def repeated(*runs, human, **about):
    """Reads of pairs in several runs, each a list of verdicts in both orders."""
    return pd.concat([scored(list(zip(run, human, strict=True)), repeat=k, **about) for k, run in enumerate(runs)])


def test_reads_of_one_order_by_hand():
    human = [(5, 1), (1, 5), (5, 1), (5, 1)]
    runs = [[(A, B), (A, B), (A, A), (B, A)], [(A, B), (B, B), (TIE, A), (A, A)], [(B, B), (B, A), (A, B), (NONE, A)]]
    found = estimated(repeated(*runs, human=human))
    # In the canonical order the first pair is won twice of three, the second lost twice, the third won twice and tied;
    # the fourth lacks a read. The first two of these and the third are right.
    assert found["one_order_repeated", "coverage"] == 1
    assert found["one_order_repeated", "accuracy"] == 1
    assert found["one_order_repeated", "accuracy_ties_half"] == pytest.approx((2 / 3 + 2 / 3 + 5 / 6) / 3)
    assert found["one_order_repeated", "gain"] == pytest.approx((-1 / 3 + 2 / 3 - 1 / 6) / 3)
    # In the other order the first candidate has won three times, twice, and once of three.
    assert found["one_order_repeated", "consistency"] == pytest.approx(1 / 3)
    place = (2 / 3 - 1) + (1 / 3 - 2 / 3) + (5 / 6 - 1 / 3)
    assert found["one_order_repeated", "first_place"] == pytest.approx(place / 3)
    assert found["swap_average", "gain"] == pytest.approx(-1 / 8)
    rows = mitigations.estimate(repeated(*runs, human=human), confidence=0.95)
    assert rows.query("policy == 'one_order_repeated'")["calls"].unique().tolist() == [3]
    assert "one_order_repeated" not in set(mitigations.estimate(scored(PAIRS), confidence=0.95)["policy"])


def test_a_study_that_reads_one_order_alone_has_no_policy_of_both():
    table = repeated(*[[(A, B), (B, A), (A, A)]] * 2, human=[(5, 1), (5, 1), (1, 5)])
    table = table[table["ordering"].map(lambda ordering: ordering[0] == 1)].assign(strategy="fixed")
    found = mitigations.estimate(table, confidence=0.95)
    assert set(found["policy"]) == {"one_order", "one_order_repeated"}
    assert not {"consistency", "first_place"} & set(found["quantity"])
    assert estimated(table)["one_order_repeated", "gain"] == 0


def drawn_runs(rng, quality, *, place, runs):
    """Verdicts without ties in both orders, of a judge that leans to the first place."""
    logits = np.column_stack([quality + place, -quality + place])
    return [np.where(rng.random(logits.shape) < 1 / (1 + np.exp(-logits)), A, B).tolist() for _ in range(runs)]


def test_more_reads_of_one_order_take_away_noise_and_not_the_place():
    rng = np.random.default_rng(20261125)
    human = rng.integers(1, 6, (1500, 2))
    quality = 0.5 * (human[:, 0] - human[:, 1])
    table = repeated(*drawn_runs(rng, quality, place=0.8, runs=4), human=human.tolist(), per_group=5)
    rows = mitigations.estimate(table, confidence=0.95).query("gap == 'all' and task == 'all'")
    found = rows.set_index(["policy", "quantity"])
    mean = found["estimate"]
    assert mean["one_order_repeated", "correlation"] > mean["one_order", "correlation"] + 0.05
    assert mean["one_order_repeated", "first_place"] == pytest.approx(mean["one_order", "first_place"], abs=0.04)
    assert mean["one_order_repeated", "first_place"] > 0.2
    # The mean of all reads is linear: in expectation it is as right as one.
    assert (
        found.loc[("one_order_repeated", "gain"), "ci_low"] < 0 < found.loc[("one_order_repeated", "gain"), "ci_high"]
    )
    # Against people the place errs as often one way as the other, but both orders have less of it at half the calls.
    assert mean["swap_average", "correlation"] > mean["one_order", "correlation"]


def of_judges(*verdicts, human, **about):
    """One table per judge, with verdicts in both orders."""
    return [
        scored(list(zip(each, human, strict=True)), judge=f"j{number}", **about) for number, each in enumerate(verdicts)
    ]


def of_judge(tables, judge):
    rows = mitigations.estimate(tables, confidence=0.95).query("gap == 'all' and task == 'all' and judge == @judge")
    return rows.set_index(["policy", "quantity"])


def test_the_majority_of_judges_by_hand():
    human = [(5, 1), (5, 1), (1, 5), (3, 4)]
    tables = of_judges(
        [(A, B), (A, A), (A, B), (TIE, B)],
        [(A, B), (B, A), (B, A), (A, B)],
        [(B, A), (TIE, A), (A, A), (A, NONE)],  # so the last pair does not count
        human=human,
    )
    found = of_judge(tables, "majority")["estimate"]
    # Canonical order: first; one each, a tie; first. Other order: first, second, second (A is then the second one).
    assert found["one_order", "coverage"] == pytest.approx(2 / 3)
    assert found["one_order", "accuracy"] == pytest.approx(1 / 2)
    assert found["one_order", "accuracy_ties_half"] == pytest.approx((1 + 0.5 + 0) / 3)
    single = ((1 + 1 + 0) + (1 + 0 + 1) + (0 + 0.5 + 0)) / 9
    assert found["one_order", "gain"] == pytest.approx(1.5 / 3 - single)
    assert of_judge(tables, "all")["estimate"]["one_order", "accuracy_ties_half"] == pytest.approx(single)
    assert found["one_order", "consistency"] == pytest.approx(1 / 3)
    assert found["swap_else_tie", "accuracy_ties_half"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    calls = of_judge(tables, "majority")["calls"].groupby("policy").first()
    assert calls.to_dict() == {"one_order": 3, "random_order": 3, "swap_else_tie": 6, "swap_average": 6}
    assert set(of_judge(tables, "all")["n_pairs"]["one_order"].iloc[[0, 2]]) == {3}
    assert of_judge(tables[:2], "majority").empty  # two judges have no majority


def test_a_majority_gains_where_judges_err_apart_and_nothing_where_they_are_one():
    rng = np.random.default_rng(20261126)
    human = rng.integers(1, 6, (600, 2))
    quality = 0.5 * (human[:, 0] - human[:, 1])
    judges = drawn_runs(rng, quality, place=0.8, runs=5)
    tables = of_judges(*judges, human=human.tolist(), per_group=5)
    rows = mitigations.estimate(tables, confidence=0.95)
    whole = rows.query("gap == 'all' and task == 'all'").set_index(["judge", "policy", "quantity"])
    drawn, apart = whole.loc["all"], whole.loc["majority"]
    assert apart.loc[("one_order", "gain"), "ci_low"] > 0.03
    # What the judges have in common stays: the first place wins more often under their vote than under one of them.
    places = [part.loc[("one_order", "first_place"), "estimate"] for part in (drawn, apart)]
    assert places[1] > places[0] > 0.2
    printed = mitigations_table.TABLE.printout(mitigations_table.TABLE.table(rows, study="judging_the_judges"))
    assert printed["judge"].tolist()[:4] == ["all, drawn"] * 4
    assert printed["calls"].tolist()[-4:] == [5, 5, 10, 10]
    one = of_judge(of_judges(*[judges[0]] * 3, human=human.tolist(), per_group=5), "majority")
    assert one.loc[("one_order", "gain"), "estimate"] == 0


def under_criteria(verdicts, *, human, lengths=None):
    """Reads of pairs under criteria, by name verdicts in both orders or several runs of them."""
    parts = []
    for name, runs in verdicts.items():
        for k, run in enumerate(runs):
            part = scored(list(zip(run, human, strict=True)), repeat=k, criterion=name, per_group=5)
            part["lengths"] = (
                None if lengths is None else part["unit_id"].str[1:].astype(int).map(lengths.tolist().__getitem__)
            )
            parts.append(part.assign(unit_id=part["unit_id"] + name))
    return pd.concat(parts, ignore_index=True)


def test_criteria_combined_beside_an_overall_verdict_by_hand():
    human = [(5, 1), (1, 5), (5, 1), (3, 3)]
    criteria = {
        "overall": [[(A, B), (A, B), (A, A), (A, B)]],
        "wit": [[(A, B), (B, A), (A, B), (A, B)]],
        "plot": [[(A, A), (B, A), (B, A), (B, A)]],
        "style": [[(B, A), (TIE, TIE), (A, A), (A, B)]],
    }
    found = estimated(under_criteria(criteria, human=human))
    # Canonical order, of the three that people tell apart: 1 + 1 + 0, 0 + 0 + 1/2, 1 + 0 + 1 of three: all are right.
    assert found["criteria_combined", "accuracy_ties_half"] == 1
    assert found["overall", "accuracy_ties_half"] == pytest.approx(2 / 3)
    assert found["criteria_combined", "with_overall"] == pytest.approx(2 / 3)
    assert ("criteria_combined", "gain") not in found  # the overall verdict is read once, three criteria thrice
    # Other order: 1 + 0 + 0, 0 + 0 + 1/2, 1 + 0 + 0: the first and the third turn.
    assert found["criteria_combined", "consistency"] == pytest.approx(1 / 3)
    assert found["criteria_combined", "first_place"] == pytest.approx(2 / 3)
    assert found["criteria_swapped", "accuracy_ties_half"] == pytest.approx((1 / 2 + 1 + 1 / 2) / 3)
    assert found["overall_swapped", "accuracy_ties_half"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert found["criteria_swapped", "first_place"] == 0
    few = {name: criteria[name] for name in ("overall", "wit")}
    assert "overall" not in set(mitigations.estimate(under_criteria(few, human=human), confidence=0.95)["policy"])


def of_a_judge(seed, *, overall_length, anchored):
    """Verdicts under three criteria and overall, of people who judge by the mean of the criteria.

    Args:
        overall_length: what a longer text gains overall, in log-odds a standard deviation.
        anchored: whether single criteria are judged by their own quality; else all are judged as the whole is.

    Returns:
        The reads, and how much more often two of three criteria are right than two of three overall verdicts, by the
        probabilities of the verdicts.
    """
    rng = np.random.default_rng(seed)
    n = 1200
    quality, length = rng.normal(0, 1.5, (n, 3)), rng.normal(0, 1, n)
    people = quality.mean(axis=1)
    human = np.column_stack([3 + people / 2, 3 - people / 2]).tolist()
    whole = people + overall_length * length
    verdicts = {"overall": drawn_runs(rng, whole, place=0.5, runs=3)}
    for k, name in enumerate(("plot", "style", "wit")):
        verdicts[name] = drawn_runs(rng, quality[:, k] if anchored else whole, place=0.5, runs=1)
    lengths = np.column_stack([1000 + 100 * length, np.full(n, 1000)])
    a, b, c = (1 / (1 + np.exp(-(quality if anchored else whole[:, None]).T - 0.5))) * np.ones((3, n))
    p = 1 / (1 + np.exp(-whole - 0.5))
    two_of_three = (a * b + b * c + a * c - 2 * a * b * c) - (3 * p**2 - 2 * p**3)
    gain = (np.sign(people) * two_of_three).mean()
    return under_criteria(verdicts, human=human, lengths=lengths), gain


def rows_of(table):
    rows = mitigations.estimate(table, confidence=0.95).query("gap == 'all' and task == 'all'")
    return rows.set_index(["policy", "quantity"])


def test_criteria_take_away_a_liking_for_length_that_only_the_overall_verdict_has():
    table, gain = of_a_judge(20261127, overall_length=1.5, anchored=True)
    found = rows_of(table)
    row = found.loc[("criteria_combined", "gain")]
    assert row["ci_low"] < gain < row["ci_high"]
    assert gain > 0.02
    assert found.loc[("criteria_swapped", "gain"), "ci_low"] > 0.02
    lengths = found.xs("length_correlation", level="quantity")
    assert lengths.loc["overall", "ci_low"] > 0.3
    assert lengths.loc["overall_repeated", "ci_low"] > 0.3
    assert lengths.loc["criteria_combined", "ci_low"] < 0 < lengths.loc["criteria_combined", "ci_high"]
    # The place is liked under every criterion: combining them leaves it.
    assert found.loc[("criteria_combined", "first_place"), "ci_low"] > 0.1


def test_criteria_that_are_judged_as_the_whole_bring_what_more_reads_bring_and_no_gain():
    table, gain = of_a_judge(20261128, overall_length=1.5, anchored=False)
    assert gain == pytest.approx(0, abs=1e-12)
    found = rows_of(table)
    assert found.loc[("criteria_combined", "gain"), "ci_low"] < 0 < found.loc[("criteria_combined", "gain"), "ci_high"]
    right = found.xs("accuracy_ties_half", level="quantity")["estimate"]
    assert right["criteria_combined"] > right["overall"] + 0.01  # this looks like an effect of the criteria
    assert right["criteria_combined"] == pytest.approx(right["overall_repeated"], abs=0.03)  # and is one of three reads
    rows = mitigations_table.TABLE.table(mitigations.estimate(table, confidence=0.95), study="judging_the_judges")
    printed = mitigations_table.TABLE.printout(rows).set_index("policy")
    calls = {"overall verdict": 1, "overall verdict, k reads": 3, "criteria, combined": 3}
    assert {name: printed.loc[name, "calls"] for name in calls} == calls
    assert printed.loc["criteria in both orders, combined", "calls"] == 6
    assert printed.loc["one order", "like overall"] == ""


def test_a_task_in_which_people_tell_no_pair_apart_has_no_rows():
    apart, equal = [((A, B), (5, 1))] * 3, [((A, A), (3, 3))] * 3
    table = scored([*apart, *equal])
    units = sorted(table["unit_id"].unique())
    table["task"] = np.where(table["unit_id"].isin(units[:3]), "apart", "equal")
    found = mitigations.estimate(table, confidence=0.95)
    assert set(found["task"]) == {"all", "apart"}
