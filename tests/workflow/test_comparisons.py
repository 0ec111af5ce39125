"""A simulated judge with a preferred place compares pairs and lists, from the dataset to the table."""

import pandas as pd
import pytest

from .conftest import Project

CONFIG = {
    "datasets": {"sim": {"adapter": "simulated", "options": {"n_groups": 30, "n_candidates": 6, "length_spread": 0.5}}},
    "judges": {
        "planted": {
            "engine": "simulated",
            "model": "planted",
            "answer_format": "score",
            "sampling": {"temperature": 1},
            "simulation": {
                "preference": [1.0, 0.0],
                "decisiveness": 0.7,
                "tie": -0.5,
                "failure_rate": 0.02,
                "length": 0.8,
            },
        }
    },
    "studies": {
        "pairs": {
            "probe": "pair_order",
            "datasets": ["sim"],
            "judges": ["planted"],
            "scales": [2],
            "strategies": ["swap"],
            "budget": 4,
            "conditions": ["tie", "baseline", "padded_1", "padded_2"],
            "comparisons": {"pairs": "all", "sample": 300},
        },
        "lists": {
            "probe": "list_order",
            "datasets": ["sim"],
            "judges": ["planted"],
            "scales": [3],
            "strategies": ["cyclic", "latin"],
            "comparisons": {"lists": 2},
        },
    },
    "tables": {
        "pairwise_position_bias": {"study": "pairs", "condition": "tie"},
        "parse_failures": {"study": "lists"},
        "length_control": {"study": "pairs"},
        "length_controlled_win_rates": {"study": "pairs"},
        "strengths": {"study": "pairs"},
    },
}


@pytest.mark.slow
def test_a_preferred_place_is_found_in_pairs_and_lists(fresh: Project):
    run = fresh.snakemake(config=CONFIG, alone=True)
    assert run.returncode == 0, run.stdout + run.stderr

    (row,) = pd.read_csv(fresh.file("results/tables/pairwise_position_bias.csv")).to_dict("records")
    assert row["beta_low"] < 1 < row["beta_high"]
    assert row["beta_low"] > 0.5
    assert row["preference_fairness"] < 0
    assert row["position_consistency"] < 0.9
    assert 0 < row["error_rate"] < 0.06

    lengths = pd.read_csv(fresh.file("results/tables/length_control.csv")).set_index(["varied", "readout"])
    padding = lengths.loc[("padding", "hard")]
    assert 0 < padding["padding_low"] < 0.8 < padding["padding_high"]
    assert lengths.loc[("baseline", "hard"), "length_low"] > 0
    strengths = pd.read_csv(fresh.file("results/tables/strengths.csv")).set_index("candidate")
    assert len(strengths) == 6 + 1
    assert 0.5 < strengths.loc["all", "first_last"] < 1.2
    rates = pd.read_csv(fresh.file("results/tables/length_controlled_win_rates.csv"))
    assert rates["readout"].value_counts().to_dict() == {"hard": 6, "soft": 6}

    lists = pd.read_parquet(fresh.file("results/scores/lists/sim/planted.parquet"))
    assert len(lists) == 30 * 2 * 3 * 2
    assert set(lists["failure"].dropna()) <= {"no_score", "empty", "truncated", "conflicting"}
    shares = lists["position"].value_counts(normalize=True)
    assert shares[1] > shares[2] > shares[3]
    preferred = pd.read_parquet(fresh.file("results/statistics/position_consistency.parquet"))
    rows = preferred.query("study == 'lists' and task == 'all' and quantity == 'first_last' and cluster == 'group'")
    assert ((rows["ci_low"] < 1) & (rows["ci_high"] > 1)).all()
    assert (rows["ci_low"] > 0).all()
