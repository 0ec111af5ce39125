"""One study of strategies, scales and settings of a judge, through the rules to every table and figure about it."""

import copy

import pandas as pd
import pytest

from .conftest import Project, copy_project

pytestmark = pytest.mark.slow

JUDGE = {
    "engine": "simulated",
    "model": "planted",
    "answer_format": "score",
    "sampling": {"temperature": 0},
    "simulation": {"preference": "first", "failure_rate": 0.02},
    "profiles": {
        "warm": {"sampling": {"temperature": 0.7}},
        "hot": {"sampling": {"temperature": 1.0}},
        "low": {"chat_template_kwargs": {"reasoning_effort": "low"}},
        "high": {"chat_template_kwargs": {"reasoning_effort": "high"}},
    },
}
STUDY = {"datasets": ["made_up"], "judges": ["planted"], "scales": [3], "profiles": ["default", "warm", "hot"]}
CONFIG = {
    "datasets": {"made_up": {"adapter": "simulated", "options": {"n_groups": 40, "n_candidates": 3}}},
    "judges": {"planted": JUDGE},
    "studies": {
        "position_bias": STUDY,
        "more_levels": STUDY | {"scales": [2, 5], "strategies": ["balanced"], "profiles": ["default"]},
        "effort": STUDY | {"profiles": ["low", "high"], "strategies": ["balanced"]},
    },
    "statistics": {
        "bootstrap": {"resamples": 100},
        "paired": {"resamples": 200},
        "budget_curve": {"subsets_per_size": 10},
        "rank_reversal": {"halvings": 5},
        "bias_cost": {"splits": 3},
        "scales": {"studies": ["position_bias", "more_levels"]},
    },
    "figures": {
        "position_selection": {"n": 3},
        "strategy_forest": {"n": 3},
        "temperature_sweep": {"n": 3, "study": "position_bias"},
        "effort_sweep": {"n": 3},
        "budget_curve": {"n": 3},
        "score_position": {"n": 3},
        "position_selection_by_dataset": {"n": 3},
    },
    "tables": {
        "position_selection": {"n": 3},
        "human_agreement": {"n": 3},
        "strategy_comparison": {"n": 3},
        "scales": {},
        "parse_failures": {},
        "permutation_vs_repeat": {"n": 3},
        "rank_reversal": {"n": 3},
        "within_item_deviation": {"n": 3},
        "canonical_rank": {"n": 3},
        "score_position": {"n": 3},
        "bias_cost": {"n": 3},
    },
}


OF_ORDERS = (
    *("budget_curve", "rank_reversal", "within_item_deviation", "canonical_rank", "score_position", "bias_cost"),
    "strategy_comparison",
)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run that has ended."""
    project = copy_project(tmp_path_factory.mktemp("strategies") / "project")
    run = project.snakemake(*project.own(CONFIG))
    assert run.returncode == 0, run.stdout + run.stderr
    return project


def test_every_table_and_figure_is_made(done: Project):
    for name in CONFIG["figures"]:
        assert all(done.file(f"results/figures/{name}.{ending}").stat().st_size for ending in ("svg", "png", "pdf"))
    for name in CONFIG["tables"]:
        assert len(pd.read_csv(done.file(f"results/tables/{name}.csv")))
        for ending in ("md", "tex", "html"):
            assert "planted" in done.file(f"results/tables/{name}.{ending}").read_text()
    scales = pd.read_csv(done.file("results/tables/scales.csv"))
    assert sorted(scales["n"].unique()) == [2, 3, 5]


def test_a_bias_that_was_planted_is_found_and_named(done: Project):
    (row,) = (
        pd.read_csv(done.file("results/tables/position_selection.csv")).query("readout == 'hard'").to_dict("records")
    )
    assert row["cluster"] == "group"
    assert row["direction"] == "first-biased"
    assert row["p_holm"] < 0.05
    assert row["cramers_v_bound_low"] < row["cramers_v"] < row["cramers_v_bound_high"]


def test_statistics_have_both_kinds_of_sample_with_their_method(done: Project):
    for name in ("position_selection", "human_agreement", "strategy_comparison"):
        table = pd.read_parquet(done.file(f"results/statistics/{name}.parquet"))
        assert set(table["cluster"]) == {"group", "item"}
        drawn = ["seed"] if name == "position_selection" else []  # the others are those of a jackknife
        assert table[["n_items", "n_clusters", "method", "confidence", *drawn]].notna().all(axis=None)


def test_statistics_of_orders_have_intervals_with_their_method(done: Project):
    for name in OF_ORDERS:
        table = pd.read_parquet(done.file(f"results/statistics/{name}.parquet"))
        assert {"estimate", "ci_low", "ci_high", "method", "confidence"} <= set(table)
        assert table["estimate"].notna().any()


def planned(done: Project, **changes: dict) -> list[str]:
    """The plan of a dry run where settings of some results are changed."""
    config = copy.deepcopy(CONFIG)
    for block, results in changes.items():
        for name, settings in results.items():
            config[block].setdefault(name, {}).update(settings)
    return done.planned(*done.own(config))


def test_a_setting_makes_its_own_again(done: Project):
    figures = {"effort_sweep": {"width_in": 4.0}, "budget_curve": {"width_in": 5}}
    tables = {"strategy_comparison": {"cluster": "item"}, "bias_cost": {"cluster": "item"}}
    statistics = {"rank_reversal": {"halvings": 9}}
    assert planned(done, figures=figures, tables=tables) == [
        *("figures/budget_curve", "figures/effort_sweep", "tables/bias_cost", "tables/strategy_comparison"),
    ]
    assert planned(done, statistics=statistics) == [
        *("statistics/rank_reversal", "tables/rank_reversal"),
    ]
    strict = planned(done, statistics={"direction": {"near_uniform": 0.1}})
    assert "statistics/human_agreement" not in strict
    assert "statistics/position_selection" in strict
