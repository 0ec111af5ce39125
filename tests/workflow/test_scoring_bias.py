"""Scoring bias through the workflow: conditions of the demo's prompts, references that are written, golden scores."""

import pandas as pd
import pytest

from .conftest import Project, copy_project

JUDGE = {
    "engine": "simulated",
    "answer_format": "score",
    "sampling": {"temperature": 1},
    "model": "planted",
    "simulation": {"preference": "first"},
}
STUDY = {"datasets": ["demo"], "judges": ["planted"]}
CONFIG = {
    "datasets": {"demo": {"limit": 8}},
    "judges": {"planted": JUDGE},
    "references": {"demo": {"judges": ["planted"], "rounds": 2}},
    "studies": {
        "scoring_bias": STUDY
        | {
            "strategies": ["single"],
            "conditions": [
                "reference_none",
                "letter+reference_none",
                "reference_2",
                "reference_5",
                "reference_5_as_2",
                "neutral_1+reference_none",
            ],
        },
        "crossed": STUDY
        | {"strategies": ["balanced"], "conditions": ["letter+reference_none", "letter_a_lowest+reference_none"]},
        "golden": STUDY | {"strategies": ["fixed"], "budget": 3, "conditions": ["reference_5"]},
    },
    "statistics": {"bootstrap": {"resamples": 100}, "golden_scores": {"studies": ["golden"]}},
    "figures": {"scoring_tendency": {}, "scoring_accuracy": {"golden": "planted"}},
    "tables": {
        "score_shifts": {},
        "scoring_accuracy": {},
        "scoring_tendency": {},
        "scoring_causes": {"study": "crossed"},
        "golden_alignment": {},
        "reference_answers": {},
    },
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run that has ended."""
    project = copy_project(tmp_path_factory.mktemp("scoring") / "project")
    run = project.snakemake(*project.own(CONFIG))
    assert run.returncode == 0, run.stdout + run.stderr
    return project


@pytest.mark.slow
def test_every_table_and_figure_is_made(done: Project):
    for name in CONFIG["figures"]:
        assert done.file(f"results/figures/{name}.png").stat().st_size
    for name in CONFIG["tables"]:
        assert len(pd.read_csv(done.file(f"results/tables/{name}.csv"))), name
