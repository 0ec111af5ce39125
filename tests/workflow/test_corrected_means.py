"""The statistic `corrected_means` in a run: it reads finished scores, and asks no judge."""

import copy

import pandas as pd
import pytest

from .conftest import SMALL, Project


@pytest.mark.slow
def test_corrected_means_are_added_to_a_run_without_a_judge_job_and_their_settings_rerun_them_alone(project: Project):
    shown = {"tables": {"corrected_means": {}}, "figures": {"corrected_means": {"target": "mean"}}}
    config = copy.deepcopy(SMALL) | shown
    made = ["figures/corrected_means", "statistics/corrected_means", "tables/corrected_means"]
    assert project.planned(config=config) == made
    run = project.snakemake(config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    assert project.planned(config=config) == []
    table = pd.read_parquet(project.file("results/statistics/corrected_means.parquet"))
    assert {"target", "estimator", "quantity", "estimate", "ci_low", "weight"} <= set(table.columns)
    config["statistics"] = config["statistics"] | {"corrected_means": {"human_pass": 3}}
    assert project.planned(config=config) == made
    config = config | {"statistics": SMALL["statistics"], "figures": {"corrected_means": {"target": "difference"}}}
    assert project.planned(config=config) == ["figures/corrected_means"]
