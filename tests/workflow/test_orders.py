"""The budget curve, rank reversal, canonical rank, scores by position and Bias Cost, through the rules."""

import pandas as pd
import yaml

from .conftest import Project

CONFIG = {
    "datasets": {"made_up": {"adapter": "simulated", "options": {"n_groups": 6, "n_candidates": 3}}},
    "judges": {
        "planted": {
            "engine": "simulated",
            "model": "planted",
            "answer_format": "score",
            "sampling": {"temperature": 1},
            "simulation": {"preference": "first", "failure_rate": 0.01},
        }
    },
    "studies": {"position_bias": {"datasets": ["made_up"], "judges": ["planted"], "scales": [3]}},
    "statistics": {
        "bootstrap": {"resamples": 100},
        "budget_curve": {"subsets_per_size": 10},
        "rank_reversal": {"halvings": 5},
        "bias_cost": {"splits": 3},
    },
    "figures": {name: {"n": 3} for name in ("budget_curve", "score_position", "position_selection_by_dataset")},
    "tables": {
        name: {"n": 3}
        for name in (
            *("permutation_vs_repeat", "rank_reversal", "within_item_deviation", "canonical_rank", "score_position"),
            "bias_cost",
        )
    },
}
ESTIMATES = (
    *("budget_curve", "rank_reversal", "within_item_deviation", "canonical_rank", "score_position", "bias_cost"),
    "strategy_comparison",
)


def own(project: Project, config: dict) -> list[str]:
    project.file("own.yaml").write_text(yaml.safe_dump(config))
    return ["--replace-workflow-config", "--configfile", "own.yaml"]


def test_every_table_and_figure_is_made_and_a_setting_makes_its_own_again(fresh: Project):
    run = fresh.snakemake(*own(fresh, CONFIG))
    assert run.returncode == 0, run.stdout + run.stderr
    for name in ESTIMATES:
        table = pd.read_parquet(fresh.file(f"results/statistics/{name}.parquet"))
        assert len(table)
        assert {"estimate", "ci_low", "ci_high", "method", "confidence", "seed"} <= set(table)
        assert table["estimate"].notna().any()
    for name in CONFIG["figures"]:
        assert all(fresh.file(f"results/figures/{name}.{ending}").stat().st_size for ending in ("svg", "png", "pdf"))
    for name in CONFIG["tables"]:
        assert len(pd.read_csv(fresh.file(f"results/tables/{name}.csv")))
        assert "planted" in fresh.file(f"results/tables/{name}.md").read_text()

    wider = CONFIG | {"figures": CONFIG["figures"] | {"budget_curve": {"n": 3, "width_in": 5}}}
    assert fresh.planned(*own(fresh, wider)) == ["plot_budget_curve"]
    by_item = CONFIG | {"tables": CONFIG["tables"] | {"bias_cost": {"n": 3, "cluster": "item"}}}
    assert fresh.planned(*own(fresh, by_item)) == ["render_bias_cost"]
    more = CONFIG | {"statistics": CONFIG["statistics"] | {"rank_reversal": {"halvings": 9}}}
    assert fresh.planned(*own(fresh, more)) == ["estimate_rank_reversal", "render_rank_reversal"]
