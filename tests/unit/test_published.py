"""The published numbers: what they say about each other, and that ours are computed as theirs were."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from rubric_order.analyses.position.bias_cost.estimate import bias_cost
from rubric_order.methods.position import uniformity
from rubric_order.prompts import orderings

TABLES = {
    "xu2026": {1: 4, 2: 24, 3: 24, 4: 24, 5: 12, 6: 12, 7: 18},
    "xu2026_v1": {1: 4, 2: 16, 3: 14, 4: 14, 5: 35, 6: 7},
    "li2025": {1: 4, 2: 6, 3: 120},
    "shi2025": {1: 15, 2: 34, 3: 5, 4: 5, 5: 6, 6: 4, 7: 5, 8: 6},
}
JUDGES = ["gpt_oss_20b", "gpt_oss_120b", "qwen3_5_9b", "qwen3_5_27b", "gemma_3_12b", "gemma_3_27b"]
# The values of each file; what is left are its keys.
VALUES = r"chi2|pos\d|significant|difference|ci_.*|cramers_v|pearson.*|spearman.*|.*_gap|n_.*|kendall_tau|top1_flip"
VALUES += (
    r"|sd_.*|rank.*|bias_cost.*|ordering|human_scores|reference_answer|influences|repetition.*|position_c.*|pref.*"
)
VALUES += r"|error_rate|df|sum_of_squares|rss|aic"


@pytest.fixture
def published(root):
    """Table of a paper by its number."""

    def read(paper: str, number: int) -> pd.DataFrame:
        return pd.read_csv(root / f"resources/published/{paper}_table{number}.csv", keep_default_na=False)

    return read


@pytest.mark.parametrize("name", [f"{paper}_table{number}" for paper, tables in TABLES.items() for number in tables])
def test_each_table_is_whole_and_its_ids_are_words(root, name):
    paper, number = re.fullmatch(r"(\w+)_table(\d)", name).groups()
    table = pd.read_csv(root / f"resources/published/{name}.csv", dtype=str, keep_default_na=False)
    assert len(table) == TABLES[paper][int(number)]
    keys = [column for column in table if not re.fullmatch(VALUES, column)]
    if name != "shi2025_table6":  # the names of its removed variables are lost
        assert not table.duplicated(keys).any()
    for key in keys:
        assert table[key].str.fullmatch(r"([a-z0-9]+(_[a-z0-9]+)*( |$))*").all()
    numbers = table.drop(columns=[*keys, *table.columns.intersection(["ordering"])]).to_numpy().ravel()
    assert all(re.fullmatch(r"-?\d+(\.\d+)?|yes|no|", value) for value in numbers)


def test_every_file_is_a_table_that_is_known_here_and_every_paper_is_cited(root):
    folder = root / "resources/published"
    found = {path.stem for path in folder.glob("*.csv")}
    assert found == {f"{paper}_table{number}" for paper, tables in TABLES.items() for number in tables} | {
        "xu2026_text"
    }
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"`{paper}_table*.csv`" in page for paper in TABLES)


# Xu et al. (2026)


def test_the_datasets_have_2816_items(published):
    for paper in ("xu2026", "xu2026_v1"):
        sizes = published(paper, 1)
        assert sizes["n_items"].sum() == 2816
        assert (sizes["n_groups"] * sizes["n_candidates"] * sizes["n_criteria"] == sizes["n_items"]).all()


def counts_with(chi2, n_reads, n):
    """Some counts with this chi-square: what the first position has too much, the second lacks."""
    excess = math.sqrt(chi2 * n_reads / n / 2)
    return n_reads / n + np.array([excess, -excess] + [0] * (n - 2))


@pytest.fixture
def position_tests(published):
    """Table 2 with our test on counts that have its chi-squares, 10 reads per item."""
    table = published("xu2026", 2)
    n_reads = 10 * table["dataset"].map(published("xu2026", 1).set_index("dataset")["n_items"])
    tests = [uniformity.count_test(counts_with(*cell)) for cell in zip(table["chi2"], n_reads, table["n"], strict=True)]
    return table.assign(
        n_reads=n_reads, **{name: [getattr(test, name) for test in tests] for name in ("p", "cramers_v")}
    )


@pytest.mark.parametrize("judge", JUDGES)
def test_the_chi_squares_of_table_2_give_the_v_of_table_4(published, position_tests, judge):
    cells = position_tests[position_tests["judge"] == judge]
    printed = published("xu2026", 4).query("judge == @judge and n == 5").iloc[0]
    assert sorted(cells["dataset"]) == sorted(printed["datasets"].split())
    assert cells["cramers_v"].tolist() == pytest.approx(np.sqrt(cells["chi2"] / (cells["n_reads"] * 4)).tolist())
    assert cells["cramers_v"].mean() == pytest.approx(printed["cramers_v"], abs=0.0005)


def test_the_daggers_of_table_2_are_where_our_p_value_is_above_5_percent(position_tests):
    assert ((position_tests["p"] < 0.05) == (position_tests["significant"] == "yes")).all()


def test_the_chi_squares_of_table_2_are_possible_with_its_shares(position_tests):
    first, last = position_tests["pos1"], position_tests["pos5"]
    others = (1 - first - last) / 3  # any other division of the rest adds to chi-square
    least = ((first - 0.2) ** 2 + (last - 0.2) ** 2 + 3 * (others - 0.2) ** 2) * 5 * position_tests["n_reads"]
    rounding = 10 * position_tests["n_reads"] * 0.0005 * ((first - 0.2).abs() + (last - 0.2).abs() + 0.001)
    assert (least <= position_tests["chi2"] + rounding).all()


def test_differences_of_table_3_are_bold_where_their_interval_excludes_0(published):
    table = published("xu2026", 3)
    excludes = (table["ci_low"] > 0) | (table["ci_high"] < 0)
    assert (excludes == (table["significant"] == "yes")).all()
    assert table["difference"].between(table["ci_low"], table["ci_high"]).all()
    assert excludes.groupby(table["other"]).sum().to_dict() == {"fixed": 5, "random": 1}


def test_tables_5_and_6_agree_on_the_balanced_order_of_criteria(published):
    bands, strategies = published("xu2026", 5), published("xu2026", 6)
    keys = ["judge", "dataset"]
    both = bands.merge(strategies, on=keys, validate="one_to_one")
    assert len(both) == 12
    assert (both["pearson"] == both["pearson_balanced"]).all()
    difference = strategies["pearson_balanced"] - strategies["pearson_fixed"]
    assert (difference - strategies["difference"]).abs().max() < 0.0015
    assert bands.groupby("dataset")["n_significant"].sum().to_dict() == {"hanna": 32, "summeval": 24}
    assert (bands["mean_gap"] <= bands["max_gap"]).all()


def test_table_7_keeps_to_the_range_that_the_text_states(published):
    table = published("xu2026", 7)
    assert table["kendall_tau"].between(0.67, 0.85).all()
    assert table["top1_flip"].between(0.16, 0.39).all()


# The earlier version


def test_differences_and_averages_of_correlations_are_those_of_the_rows(published):
    table = published("xu2026_v1", 2)
    for name in ("pearson", "spearman"):
        difference = table[f"{name}_balanced"] - table[f"{name}_fixed"]
        assert (difference - table[f"{name}_difference"]).abs().max() < 0.0016  # three rounded numbers
    for dataset, block in table.groupby("dataset"):
        average, judges = block[block["judge"] == "average"], block[block["judge"] != "average"]
        assert len(judges) == 7, dataset
        values = [column for column in table if column.startswith(("pearson", "spearman"))]
        assert (judges[values].mean() - average[values].iloc[0]).abs().max() < 0.0011


SEVEN = [
    *[("gpt_4_1_mini", "default"), ("gpt_4_1", "default"), ("gpt_oss_120b", "default")],
    *[(judge, profile) for judge in ("qwen3_8b", "qwen3_32b") for profile in ("default", "think")],
]


@pytest.mark.parametrize(("judge", "profile"), SEVEN)
def test_the_shares_of_table_5_give_the_orderings_and_costs_of_table_6(published, judge, profile):
    rows = published("xu2026_v1", 5).query("judge == @judge and profile == @profile")
    table = rows.sort_values("score")[[f"pos{p}" for p in range(1, 6)]].to_numpy()
    assert table.sum(axis=1) == pytest.approx(np.ones(5), abs=0.0016)
    printed = published("xu2026_v1", 6).query("judge == @judge and profile == @profile").iloc[0]
    candidates = [tuple(ordering) for ordering in orderings.balanced(5).tolist()]
    costs = dict(zip(candidates, bias_cost(table, np.array(candidates)), strict=True))
    best = min(costs, key=costs.get)
    assert " ".join(map(str, best)) == printed["ordering"]
    # Shares and costs are rounded to 0.001: five terms and the cost itself could differ by 0.003. They do by 0.001.
    assert costs[best] == pytest.approx(printed["bias_cost"], abs=0.0011)
    assert costs[1, 2, 3, 4, 5] == pytest.approx(printed["bias_cost_canonical"], abs=0.0011)


def test_ranks_are_among_the_ten_orderings(published):
    for number in (4, 6):
        table = published("xu2026_v1", number)
        for column in (column for column in table if column.startswith("rank")):
            assert table[column].between(1, table["n_orderings"]).all()


# The other papers


def test_each_step_of_a_regression_loses_the_squares_of_the_variable_that_it_removes(published):
    for number in range(3, 9):
        table = published("shi2025", number)
        full = table[table["removed"] == "none"]["rss"].item()
        steps = table[table["removed"] != "none"]
        lost = steps["sum_of_squares"].astype(float)
        assert (steps["rss"] - full - lost).abs().max() < 0.011, number


def test_numbers_of_the_text_agree_with_the_tables_of_the_paper(root, published):
    text = pd.read_csv(root / "resources/published/xu2026_text.csv", keep_default_na=False)
    assert not text.duplicated(text.columns.drop("value").tolist()).any()
    assert set(text["section"]) == {"section_5_3", "appendix_c", "figure_10"}
    assert set(text["judge"]) - {""} <= set(JUDGES)
    shift = text[text["section"] == "figure_10"]["value"]
    gaps = published("xu2026", 5).query("judge == 'qwen3_5_9b' and dataset == 'hanna'").iloc[0]
    assert shift.max() - shift.min() == pytest.approx(gaps["max_gap"], abs=0.011)  # best and worst position
    assert text[text["quantity"] == "gain_share"]["value"].tolist() == [0.67, 0.85]


def test_averages_of_the_earlier_version_are_those_of_its_judges(published):
    table = published("xu2026_v1", 2)
    values = table.columns.drop(["judge", "profile", "dataset"])
    for dataset, block in table.groupby("dataset"):
        (printed,) = block[block["judge"] == "average"][values].astype(float).to_numpy()
        ours = block[block["judge"] != "average"][values].astype(float).mean().to_numpy()
        assert printed == pytest.approx(ours, abs=0.0011), dataset
