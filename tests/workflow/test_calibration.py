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
