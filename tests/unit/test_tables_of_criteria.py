"""Tables of studies that score several criteria: what stands in which cell."""

import numpy as np
import pandas as pd
import pytest
from factories import criteria_table, draw_criteria

from rubric_order.analyses.criteria.carry_over import estimate as carry_over
from rubric_order.analyses.criteria.carry_over import table as carry_over_table
from rubric_order.analyses.criteria.criteria_agreement import estimate as criteria_agreement
from rubric_order.analyses.criteria.criteria_agreement import table as criteria_agreement_table
from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.analyses.criteria.criterion_order import table as criterion_order_table
from rubric_order.analyses.criteria.crossed_orders import estimate as crossed_orders
from rubric_order.analyses.criteria.crossed_orders import table as crossed_orders_table
from rubric_order.analyses.criteria.halo import estimate as halo
from rubric_order.analyses.criteria.halo import table as halo_table
from rubric_order.analyses.overview.parse_failures import estimate as parse_failures
from rubric_order.analyses.overview.parse_failures import table as parse_failures_table
from rubric_order.base.conditions import select_condition
from rubric_order.prompts import orderings

OPTIONS = {"resamples": 100, "confidence": 0.95, "seed": 1}
SHOWN = {"study": "s", "n": 5}


@pytest.fixture(scope="module")
def reads():
    """One judge that prefers the first criterion, under three strategies, with a few failures."""
    rng = np.random.default_rng(1)
    human = np.clip(np.round(3 + rng.normal(size=(20, 3))), 1, 5)
    parts = []
    for strategy in ("balanced", "random", "fixed"):
        values, shown = draw_criteria(20, 3, rng=rng, strategy=strategy, position=[1, 0, 0], failing=0.02)
        parts.append(criteria_table(values, shown, human=human, strategy=strategy, soft=values))
    return pd.concat(parts, ignore_index=True)


def cell(printed, column):
    assert len(printed) == 1
    return printed[column].item()


def test_the_table_of_gaps_has_the_columns_of_the_paper_and_what_chance_gives(reads):
    statistics = criterion_order.estimate(reads, **OPTIONS)
    agreed = criteria_agreement.estimate(reads, **OPTIONS)
    rows = criterion_order_table.TABLE.table(statistics, agreed, strategy="balanced", readouts=["hard"], **SHOWN)
    assert len(rows) == 1
    row = rows.iloc[0]
    own = statistics.query("strategy == 'balanced' and readout == 'hard'").set_index("quantity")
    assert row["mean_gap"] == own.loc["mean_gap", "estimate"]
    assert row["max_gap_null"] == own.loc["max_gap", "null"]
    assert row["n_criteria"] == row["n_significant_p"] == 3
    macro = agreed.query("criterion == 'macro' and cluster == 'group' and quantity == 'pearson' and readout == 'hard'")
    assert row["pearson"] == macro.set_index("strategy").loc["balanced", "estimate"]
    printed = criterion_order_table.TABLE.printout(rows)
    assert cell(printed, "Sig., texts") == cell(printed, "Sig., groups") == "3/3"
    assert cell(printed, "Mean gap") == f"{row['mean_gap']:.2f}"
    assert cell(printed, "chance, mean") == f"{row['mean_gap_null']:.2f}"
    assert (
        cell(printed, "p, mean") == f"< {1 / 101:.2g}*"
        if row["mean_gap_p_cluster"] < 0.01
        else f"{row['mean_gap_p_cluster']:.3g}*"
    )
    assert cell(printed, "Avg r") == f"{row['pearson']:.3f}"
    both = criterion_order_table.TABLE.table(statistics, agreed, strategy="balanced", **SHOWN)
    assert both["readout"].tolist() == ["hard", "soft"]


def test_the_table_of_strategies_has_a_column_each_and_differences_with_balanced(reads):
    statistics = criteria_agreement.estimate(reads, **OPTIONS)
    rows = criteria_agreement_table.TABLE.table(statistics, readouts=["hard"], **SHOWN)
    printed = criteria_agreement_table.TABLE.printout(rows)
    assert printed.columns.tolist() == [
        "judge",
        "dataset",
        "readout",
        "Bal",
        "Rnd",
        "Fix",
        "Bal - Rnd",
        "Bal - Fix",
        "flag",
    ]
    assert cell(printed, "Bal") == f"{rows['pearson_balanced'].item():.2f}"
    difference = rows["difference_fixed"].item()
    assert difference == pytest.approx(rows["pearson_balanced"].item() - rows["pearson_fixed"].item(), abs=0.05)
    assert cell(printed, "Bal - Fix").startswith(f"{difference:+.3f} [")


def test_without_balanced_the_first_strategy_is_compared_with_the_others(reads):
    statistics = criteria_agreement.estimate(reads[reads["strategy"] != "balanced"], **OPTIONS)
    rows = criteria_agreement_table.TABLE.table(statistics, readouts=["hard"], **SHOWN)
    printed = criteria_agreement_table.TABLE.printout(rows)
    assert printed.columns.tolist() == ["judge", "dataset", "readout", "Rnd", "Fix", "Rnd - Fix", "flag"]
    assert printed["flag"].tolist() == ["few clusters"]
    assert rows["first"].tolist() == ["random"]


@pytest.mark.parametrize(("low", "high", "starred"), [(0.01, 0.2, True), (-0.2, -0.01, True), (-0.1, 0.1, False)])
def test_a_star_says_that_the_interval_excludes_0(reads, low, high, starred):
    rows = criteria_agreement_table.TABLE.table(
        criteria_agreement.estimate(reads, **OPTIONS), readouts=["hard"], **SHOWN
    )
    rows = rows.assign(difference_fixed_low=low, difference_fixed_high=high)
    for holm, mark in ((0.01, "]**"), (0.2, "]*")):
        printed = criteria_agreement_table.TABLE.printout(rows.assign(difference_fixed_p_holm=holm))
        assert cell(printed, "Bal - Fix").endswith(mark if starred else "]")


def test_the_table_of_carry_over_counts_criteria_alone_and_given_the_slope(reads):
    statistics = carry_over.estimate(reads, confidence=0.95)
    rows = carry_over_table.TABLE.table(statistics, readouts=["hard"], **SHOWN)
    assert rows["strategy"].tolist() == ["balanced", "random"]
    assert rows["n_criteria"].tolist() == [3, 3]
    balanced = statistics.query("strategy == 'balanced' and readout == 'hard'")
    slope = balanced[balanced["quantity"] == "carry_over"].iloc[0]
    assert rows.loc[0, ["slope", "slope_low", "slope_p"]].tolist() == slope[["estimate", "ci_low", "p"]].tolist()
    single = balanced.query("quantity == 'any_position' and model == 'position' and criterion.notna()")
    assert rows.loc[0, "position_criteria"] == (single["p_holm"] < 0.05).sum() == 3
    printed = carry_over_table.TABLE.printout(rows)
    assert printed.loc[0, "criteria"] == "3/3"
    assert printed.loc[0, "slope"].startswith(f"{slope['estimate']:.3f} [")


def test_the_table_of_halo_leaves_out_what_was_not_judged_alone(reads):
    rows = halo_table.TABLE.table(halo.estimate(reads, [], confidence=0.95), readouts=["hard"], **SHOWN)
    assert rows["basis"].tolist() == ["mean", "read"] * 3
    assert rows["alone"].isna().all()
    printed = halo_table.TABLE.printout(rows)
    assert "alone" not in printed
    assert printed.loc[0, "one prompt"].startswith(f"{rows.loc[0, 'inside']:.3f} [")


def test_the_table_of_halo_has_few_clusters_where_one_of_its_columns_has(reads):
    statistics = halo.estimate(reads, [], confidence=0.95).assign(n_groups=40)
    few = statistics.assign(n_groups=statistics["n_groups"].mask(statistics["quantity"] == "inside_minus_human", 9))
    for found, n_groups, flag in ((statistics, 40, ""), (few, 9, "few clusters")):
        rows = halo_table.TABLE.table(found, readouts=["hard"], **SHOWN)
        assert set(rows["n_groups"]) == {n_groups}
        assert set(halo_table.TABLE.printout(rows)["flag"]) == {flag}


def test_the_table_of_crossed_orders_has_every_test():
    rng = np.random.default_rng(2)
    rows = orderings.balanced(3)
    shown = np.broadcast_to(rows, (12, *rows.shape))
    levels = np.array([orderings.levels_beside("balanced", len(rows), 5, start=text, rng=rng) for text in range(12)])
    values = rng.integers(1, 6, (12, 6, 3)).astype(float)
    statistics = crossed_orders.estimate(criteria_table(values, shown, levels=levels), **OPTIONS)
    found = crossed_orders_table.TABLE.table(statistics, **SHOWN)
    by_name = statistics.set_index("quantity")["p"].to_dict()
    for name in crossed_orders_table.TESTS:
        assert found[f"{name}_p"].item() == by_name[name]
    v = statistics[statistics["quantity"] == "cramers_v"].set_index("criterion_position")["estimate"]
    assert found[["v_first", "v_last"]].iloc[0].tolist() == [v[1], v[3]]
    assert cell(crossed_orders_table.TABLE.printout(found), "V, first").startswith(f"{v[1]:.3f} [")


def test_missing_scores_are_counted_by_criterion_position_and_reason(reads):
    statistics = parse_failures.estimate(reads)
    failed = reads["failure"].notna()
    for strategy, block in reads.groupby("strategy"):
        own = statistics[statistics["strategy"] == strategy].set_index(["option", "position", "reason"])
        assert own.loc[("all", "all", "all"), ["n_scores", "n_failed"]].tolist() == [
            len(block),
            failed[block.index].sum(),
        ]
        wit_first = block[(block["criterion"] == "wit") & (block["criterion_position"] == 1)]
        expected = [len(wit_first), wit_first["failure"].notna().sum()]
        assert own.loc[("wit", "1", "all"), ["n_scores", "n_failed"]].tolist() == expected
        assert own.loc[("all", "all", "no_score"), "n_failed"] == failed[block.index].sum()
    found = parse_failures_table.TABLE.printout(
        parse_failures_table.TABLE.table(select_condition(statistics, "baseline"), study="s")
    )
    assert found["reason"].tolist() == ["all", "no_score"] * 3
    assert found.loc[0, "share"] == f"{100 * failed[reads['strategy'] == 'balanced'].mean():.2f} %"
    assert parse_failures.estimate(reads.iloc[:0]).dtypes.equals(statistics.dtypes)
