"""Position selection, agreement, strategies compared, scales and sweeps, through the rules."""

import pandas as pd
import pytest
import yaml

from .conftest import Project, copy_project

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
    "statistics": {"bootstrap": {"resamples": 100}, "paired": {"resamples": 200}},
    "figures": {
        "position_selection": {"n": 3},
        "strategy_forest": {"n": 3},
        "temperature_sweep": {"n": 3, "study": "position_bias"},
        "effort_sweep": {"n": 3},
    },
    "tables": {
        "position_selection": {"n": 3},
        "human_agreement": {"n": 3},
        "strategy_comparison": {"n": 3},
        "scales": {"studies": ["position_bias", "more_levels"]},
        "parse_failures": {},
    },
}


def own(project: Project, **blocks: dict) -> list[str]:
    project.file("own.yaml").write_text(yaml.safe_dump(CONFIG | blocks))
    return ["--replace-workflow-config", "--configfile", "own.yaml"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run that has ended."""
    project = copy_project(tmp_path_factory.mktemp("strategies") / "project")
    run = project.snakemake(*own(project))
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
        assert table[["n_items", "n_clusters", "method", "confidence", "seed"]].notna().all(axis=None)


def test_a_setting_makes_its_own_again(done: Project):
    tables, figures, statistics = CONFIG["tables"], CONFIG["figures"], CONFIG["statistics"]
    by_item = tables | {"strategy_comparison": {"n": 3, "cluster": "item"}}
    assert done.planned(*own(done, tables=by_item)) == ["render_strategy_comparison"]
    narrow = figures | {"effort_sweep": {"n": 3, "width_in": 4.0}}
    assert done.planned(*own(done, figures=narrow)) == ["plot_effort_sweep"]
    paired = statistics | {"paired": {"resamples": 300}}
    assert done.planned(*own(done, statistics=paired)) == ["estimate_strategy_comparison", "render_strategy_comparison"]
    strict = statistics | {"direction": {"near_uniform": 0.1}}
    assert "estimate_human_agreement" not in done.planned(*own(done, statistics=strict))
    assert "estimate_position_selection" in done.planned(*own(done, statistics=strict))
