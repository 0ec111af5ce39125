"""The statistic `calibration` in a run: it reads finished scores, and asks no judge."""

import copy

import pandas as pd
import pytest

from .conftest import SMALL, Project


@pytest.mark.slow
def test_calibration_is_added_to_a_run_without_a_judge_job_and_its_settings_rerun_it_alone(project: Project):
    shown = {"tables": {"calibration": {}}, "figures": {"calibration": {"readout": "soft"}}}
    config = copy.deepcopy(SMALL) | shown
    made = ["figures/calibration", "statistics/calibration", "tables/calibration"]
    assert project.planned(config=config) == made
    run = project.snakemake(config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    assert project.planned(config=config) == []
    found = pd.read_parquet(project.file("results/statistics/calibration.parquet"))
    assert {"design", "calibration", "calls", "estimate", "ci_low"} <= set(found.columns)
    config["statistics"] = config["statistics"] | {"calibration": {"folds": 3}}
    assert project.planned(config=config) == made
    config = config | {"statistics": SMALL["statistics"], "figures": {"calibration": {"readout": "hard"}}}
    assert project.planned(config=config) == ["figures/calibration"]


@pytest.mark.slow
def test_calibrated_scores_are_a_readout_of_agreement_and_advice_is_given_without_a_judge_job(project: Project):
    """Both are added to a run whose answers are there: no job asks a judge, and no other statistic is made anew."""
    config = copy.deepcopy(SMALL) | {"tables": {"human_agreement": {}, "parse_failures": {}}, "figures": {}}
    config["datasets"]["demo"]["limit"] = 4
    run = project.snakemake(config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    before = pd.read_parquet(project.file("results/statistics/human_agreement.parquet"))
    config["statistics"] = config["statistics"] | {
        "calibration": {"as_readout": True},
        "advice": {"goal": "mean", "target": 0.2},
    }
    config |= {"tables": config["tables"] | {"advice": {}}, "figures": {"advice": {}}}
    made = ["figures/advice", "statistics/advice", "statistics/human_agreement", "tables/advice"]
    planned = project.planned(config=config)
    assert {*made} <= {*planned}
    assert all(name.startswith(("figures/", "statistics/", "tables/")) for name in planned), planned
    run = project.snakemake(config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    assert project.planned(config=config) == []
    after = pd.read_parquet(project.file("results/statistics/human_agreement.parquet"))
    own = after["readout"] == "calibrated"
    assert own.any()
    pd.testing.assert_frame_equal(after[~own].reset_index(drop=True), before)
    assert set(pd.read_csv(project.file("results/tables/advice.csv"))["kind"]) <= {"option", "refused"}
