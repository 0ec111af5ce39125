"""The tables of rank reversal, variation within items, canonical rank, scores by position and Bias Cost."""

import io

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order import tables
from rubric_order.analyses.agreement.canonical_rank import estimate as ranks
from rubric_order.analyses.agreement.canonical_rank import table as canonical_rank
from rubric_order.analyses.agreement.human_agreement import estimate as human_agreement
from rubric_order.analyses.agreement.permutation_vs_repeat import table as permutation_vs_repeat
from rubric_order.analyses.agreement.rank_reversal import estimate as ranking
from rubric_order.analyses.agreement.rank_reversal import table as rank_reversal
from rubric_order.analyses.agreement.strategy_comparison import estimate as strategy_comparison
from rubric_order.analyses.position.bias_cost import estimate as costs
from rubric_order.analyses.position.bias_cost import table as bias_cost
from rubric_order.analyses.position.score_position import estimate as positions
from rubric_order.analyses.position.score_position import table as score_position
from rubric_order.analyses.position.within_item_deviation import estimate as within_item
from rubric_order.analyses.position.within_item_deviation import table as within_item_deviation
from rubric_order.tables import columns, spec

BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 3}


def _deviations(scores, *, confidence, **_):
    """Nor has it."""
    return within_item.estimate(scores, confidence=confidence)


def _rankings(scores, *, resamples, **options):
    """It has no resamples."""
    return ranking.estimate(scores, **options)


TABLES = {
    "rank_reversal": (rank_reversal, _rankings, {"strategy": "balanced", "other": "fixed"}),
    "within_item_deviation": (within_item_deviation, _deviations, {"strategy": "balanced"}),
    "canonical_rank": (canonical_rank, ranks.estimate, {"strategy": "balanced"}),
    "score_position": (score_position, positions.estimate, {"strategy": "balanced"}),
    "bias_cost": (bias_cost, costs.estimate, {"strategy": "balanced"}),
}


@pytest.fixture(scope="module")
def scores():
    """Two judges, three scales, two datasets, of which one has no human scores; another study, another profile."""
    parts = [
        simulated_reads(
            groups=10, judge=judge, dataset=dataset, human=dataset == "d", seed=seed, preference=[1, 0, 0, 0, 0]
        )
        for seed, (judge, dataset) in enumerate((j, d) for j in ("judge_a", "judge_b") for d in ("d", "unrated"))
    ]
    parts += [simulated_reads(groups=10, judge="judge_a", n=3), simulated_reads(groups=10, judge="judge_a", study="t")]
    parts.append(simulated_reads(groups=10, judge="judge_a", profile="warm"))
    return parts


@pytest.fixture(scope="module")
def statistics(scores):
    return {name: estimate(iter(scores), **BOOTSTRAP) for name, (_, estimate, _) in TABLES.items()}


def made(name, statistics, **options):
    module, _, own = TABLES[name]
    rows = module.TABLE.table(statistics[name], **{"study": "s", "n": 5} | own | options)
    return rows, module.TABLE.printout(rows)


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_those_of_the_study_scale_and_profile(name, statistics):
    rows, printed = made(name, statistics)
    assert set(rows["judge"]) == {"judge_a", "judge_b"}
    assert set(printed["judge"]) == {"judge_a", "judge_b"}
    for options in ({"study": "t"}, {"profile": "warm"}, {"n": 3}):
        others, _ = made(name, statistics, **options)
        assert set(others["judge"]) == {"judge_a"}
    nothing, empty = made(name, statistics, study="none")
    assert nothing.empty
    assert empty.empty
    assert empty.columns[0] == "judge"


@pytest.mark.parametrize("name", TABLES)
def test_every_form_is_written_with_every_digit_in_the_csv(name, statistics, tmp_path):
    rows, printed = made(name, statistics)
    tables.write(rows, printed, tmp_path / "table", "A caption.")
    back = pd.read_csv(io.StringIO((tmp_path / "table.csv").read_text()))
    pd.testing.assert_frame_equal(back, rows, check_dtype=False, check_exact=True)
    assert (tmp_path / "table.md").read_text().count("\n") == len(printed) + 4


def test_rank_reversal_has_the_columns_of_table_7_and_the_noise(statistics):
    rows, printed = made("rank_reversal", statistics)
    assert printed.columns.tolist() == [
        *("judge", "dataset", "readout", "prompts", "tau", "flips %", "ties %", "with ties %"),
        *("noise: tau, balanced", "noise: flips %, balanced", "noise: tau, fixed", "noise: flips %, fixed"),
        *("excess: tau", "excess: flips %", "flag"),
    ]
    row, text = rows.iloc[0], printed.iloc[0]
    assert text["tau"].startswith(f"{row['between_kendall_tau_b']:.2f} [{row['between_kendall_tau_b_low']:.2f}, ")
    assert text["flips %"].startswith(f"{100 * row['between_top1_flip']:.1f} [")
    assert text["noise: flips %, balanced"] == f"{100 * row['within_strategy_top1_flip']:.1f}"
    assert text["noise: flips %, fixed"] == f"{100 * row['within_other_top1_flip']:.1f}"
    assert text["excess: flips %"][0] in "+-"
    assert text["flag"] == "few clusters, excess at least"
    # The statistics have each pair once, whichever is named first.
    turned, _ = made("rank_reversal", statistics, strategy="fixed", other="balanced")
    pd.testing.assert_frame_equal(turned, rows)


def test_rank_reversal_flags_strategies_whose_noises_differ(statistics):
    for p, flag in ((0.2, False), (0.01, True)):
        changed = statistics["rank_reversal"].assign(p_noise=p)
        _, printed = made("rank_reversal", {"rank_reversal": changed})
        assert printed["flag"].str.contains("unequal noise").tolist() == [flag] * len(printed)


def test_rank_reversal_has_few_clusters_where_one_of_its_numbers_has(statistics):
    many = statistics["rank_reversal"].assign(n_groups=40)
    few = (many["comparison"] == "excess") & (many["quantity"] == "kendall_tau_b")
    for n_defined, n_groups, flag in ((9, 9, "few clusters, excess at least"), (0, 40, "excess at least")):
        changed = many.assign(n_groups=many["n_groups"].mask(few, 9), n_defined=many["n_defined"].mask(few, n_defined))
        rows, printed = made("rank_reversal", {"rank_reversal": changed})
        assert set(rows["n_groups"]) == {n_groups}
        assert set(printed["flag"]) == {flag}


def test_within_item_deviation_has_the_columns_of_table_3_and_the_split(statistics):
    rows, printed = made("within_item_deviation", statistics)
    assert printed.columns.tolist() == [
        *("judge", "dataset", "readout", "items", "sd balanced", "sd random", "sd fixed"),
        *("variance: shift", "variance: interaction", "variance: repetition", "unsplit", "ordering %"),
        *("repetition from", "flag"),
    ]
    # One read of each ordering does not tell what repetition is.
    assert rows["ordering_share"].isna().all()
    assert set(printed["ordering %"]) == {"not known"}
    assert printed["unsplit"].tolist() == [f"{value:.3f}" for value in rows["rest"]]
    random, _ = made("within_item_deviation", statistics, strategy="random")
    assert random.empty or random["shift"].isna().all()
    reads = simulated_reads(groups=10, judge="judge_a", strategies=["repeated_rotations"])
    repeated = {"within_item_deviation": within_item.estimate(reads, confidence=0.95)}
    rows, printed = made("within_item_deviation", repeated, strategy="repeated_rotations")
    assert rows["ordering"].to_numpy() == pytest.approx((rows["shift"] + rows["interaction"]).to_numpy())
    assert printed["repetition from"].tolist() == ["repeats"]
    assert printed["ordering %"].str.fullmatch(r"-?\d+ \[-?\d+, -?\d+\]").all()


def test_canonical_rank_has_the_columns_of_table_4(statistics):
    rows, printed = made("canonical_rank", statistics)
    assert printed.columns.tolist() == [
        *("judge", "dataset", "readout", "items", "r canonical", "mean r", "rank", "first %", "last %"),
        "flag",
    ]
    assert rows["dataset"].tolist() == ["d", "d"]
    assert rows[[f"rank_share_{rank}" for rank in range(1, 11)]].sum(axis=1).tolist() == pytest.approx([1, 1])
    assert printed["rank"].str.fullmatch(r"\d+(\.5)? \[[\d.]+, [\d.]+\]/10").all()


def test_score_position_has_the_columns_of_table_5_for_all_datasets_together(statistics):
    rows, printed = made("score_position", statistics)
    assert printed.columns.tolist() == ["judge", "readout", "score", "selections", "P1", "P2", "P3", "P4", "P5", "flag"]
    assert len(printed) == 2 * 5
    assert len(rows) == 3 * len(printed)  # and each dataset in the CSV file
    shares = printed[["P1", "P2", "P3", "P4", "P5"]].apply(lambda column: column.str.rstrip("*").astype(float))
    assert shares.sum(axis=1).to_numpy() == pytest.approx(np.full(10, 100), abs=0.3)
    assert printed["P1"].str.endswith("*").all()  # the planted preference


def test_a_score_that_was_never_selected_is_said_to_be_so(scores):
    table = scores[0][scores[0]["strategy"] == "balanced"]
    kept = table[table["score"] != 1]
    found = score_position.TABLE.table(positions.estimate(kept, **BOOTSTRAP), study="s", n=5)
    assert score_position.TABLE.printout(found)["P1"].tolist()[0] == "never"


def test_bias_cost_has_the_columns_of_table_6_and_says_how_good_the_choice_is(statistics):
    rows, printed = made("bias_cost", statistics)
    assert printed.columns.tolist() == [
        *("judge", "readout", "ordering", "cost", "cost, canonical", "rank", "rank, canonical", "chosen %"),
        *("held out: cost", "held out: r", "flag"),
    ]
    assert len(printed) == 2
    costs_of = statistics["bias_cost"].query("study == 's' and profile == 'default' and n == 5 and cluster == 'group'")
    for row in rows.itertuples():
        of_row = costs_of[(costs_of["judge"] == row.judge) & (costs_of["dataset"] == row.dataset)]
        cost = of_row[of_row["quantity"] == "cost"].set_index("ordering")["estimate"]
        assert row.ordering == cost.idxmin()
        assert (row.cost, row.cost_canonical) == (cost.min(), cost["1 2 3 4 5"])
        share = of_row[of_row["quantity"] == "chosen_share"].set_index("ordering")["estimate"]
        assert row.chosen_share == share[row.ordering]
    unrated = rows[rows["dataset"] == "unrated"]
    assert unrated[["pearson", "heldout_pearson_gained"]].isna().all(axis=None)
    assert unrated["heldout_cost_saved"].notna().all()


def test_permutation_vs_repeat_has_the_columns_of_table_2(scores):
    statistics = [
        estimate(iter(scores), confidence=0.95) for estimate in (human_agreement.estimate, strategy_comparison.estimate)
    ]
    rows = permutation_vs_repeat.TABLE.table(*statistics, study="s", n=5)
    assert rows[["judge", "dataset"]].to_numpy().tolist() == [["judge_a", "d"], ["judge_b", "d"]]
    for quantity in ("pearson", "spearman"):
        apart = rows[f"{quantity}_balanced"] - rows[f"{quantity}_fixed"]
        assert rows[f"{quantity}_difference"].to_numpy() == pytest.approx(apart.to_numpy())
        assert (rows[f"{quantity}_difference_low"] < rows[f"{quantity}_difference_high"]).all()
    printed = permutation_vs_repeat.TABLE.printout(rows)
    assert printed.columns.tolist() == [
        *("judge", "dataset", "readout", "items", "balanced Pearson r", "fixed Pearson r", "difference Pearson r"),
        *("of it order", "of it averaging"),
        *("balanced Spearman rho", "fixed Spearman rho", "difference Spearman rho", "flag"),
    ]
    assert printed["difference Pearson r"].str.match(r"[+-]0\.\d{3} \[").all()
    made_of = rows["order"] + rows["averaging"] - rows["averaging_baseline"]
    assert rows["pearson_difference"].to_numpy() == pytest.approx(made_of.to_numpy())
    assert rows["flag"].isna().all()
    # The statistics have each pair once: `random` against `fixed`, and not the other way round.
    turned = permutation_vs_repeat.TABLE.table(*statistics, study="s", n=5, strategy="fixed", baseline="random")
    there = permutation_vs_repeat.TABLE.table(*statistics, study="s", n=5, strategy="random", baseline="fixed")
    for end, other in (("", ""), ("_low", "_high"), ("_high", "_low")):
        assert turned[f"pearson_difference{end}"].to_numpy() == pytest.approx(-there[f"pearson_difference{other}"])
    back = permutation_vs_repeat.TABLE.table(*statistics, study="s", n=5, strategy="fixed", baseline="balanced")
    for part, other, sign in (("order", "order", -1), ("averaging", "averaging_baseline", 1)):
        assert back[part].to_numpy() == pytest.approx(sign * rows[other].to_numpy())
        ends = ("low", "high") if sign > 0 else ("high", "low")
        assert back[f"{part}_low"].to_numpy() == pytest.approx(sign * rows[f"{other}_{ends[0]}"].to_numpy())
    assert permutation_vs_repeat.TABLE.printout(permutation_vs_repeat.TABLE.table(*statistics, study="none", n=5)).empty


def test_an_interval_is_written_in_the_asked_form():
    assert columns.estimate_text(0.256, 0.2, 0.3, form=".1f", times=100) == "25.6 [20.0, 30.0]"
    assert columns.estimate_text(0.01, -0.02, 0.03, form="+.2f") == "+0.01 [-0.02, +0.03]"
    assert columns.estimate_text(0.01, np.nan, 0.03) == "0.010 [undefined]"


def test_widening_keeps_the_order_of_the_rows_and_leaves_gaps():
    found = spec.wide(
        pd.DataFrame(
            {
                "key": ["b", "b", "a"],
                "quantity": ["x", "y", "x"],
                "estimate": [1, 2, 3],
                "ci_low": [0, 1, 2],
                "ci_high": [2, 3, 4],
            }
        ),
        ["key"],
        ["y", "x"],
    )
    assert found.columns.tolist() == ["key", "y", "y_low", "y_high", "x", "x_low", "x_high"]
    np.testing.assert_array_equal(found.iloc[:, 1:], [[2, 1, 3, 1, 0, 2], [np.nan] * 3 + [3, 2, 4]])


def test_what_is_undefined_is_said_in_words():
    # One score throughout, under a strategy of one read: no correlation, no halves to compare, no ordering to choose.
    table = simulated_reads(groups=4, strategies=["balanced", "single"], reads=1)
    table["score"] = pd.array([3] * len(table), dtype="Int8")
    for module, statistic, settings in TABLES.values():
        rows = module.TABLE.table(statistic(table, **BOOTSTRAP), study="position_bias", n=5, **settings)
        printed = module.TABLE.printout(rows)
        assert not printed.map(lambda text: str(text).startswith("nan")).any(axis=None), module.__name__
