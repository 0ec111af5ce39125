"""Published numbers beside those of a run with the papers' ids."""

import copy
import re

import pandas as pd
import pytest
from factories import ROOT

from rubric_order.base.errors import InputError
from rubric_order.extras.papers.replication.estimate import DATASETS
from rubric_order.run import loading

from .conftest import Project

JUDGE = {
    "engine": "simulated",
    "model": "planted",
    "answer_format": "score",
    "sampling": {"temperature": 1},
    "simulation": {"preference": "first", "preference_strength": 0.5},
}
CONFIG = {
    "datasets": {name: {"adapter": "simulated", "options": {"n_groups": 8}} for name in DATASETS},
    "judges": {"planted": JUDGE},
    "studies": {"position_bias": {"datasets": list(DATASETS), "judges": ["planted"], "scales": [5]}},
    "statistics": {"bootstrap": {"resamples": 100}, "replication": {"judges": {"planted": "gemma_3_27b"}}},
    "tables": {"replication": {}},
}


@pytest.fixture
def project(fresh: Project) -> Project:
    """A project in which the papers' datasets are simulated ones."""
    for name in CONFIG["datasets"]:
        fresh.file(f"config/datasets/{name}.yaml").unlink()
    return fresh


@pytest.mark.slow
def test_published_numbers_stand_beside_those_of_a_run(project: Project):
    done = project.snakemake(*project.own(CONFIG))
    assert done.returncode == 0, done.stdout + done.stderr
    table = pd.read_csv(project.file("results/tables/replication.csv"), keep_default_na=False)
    compared = table[table["status"] == "compared"]
    assert set(compared["judge"]) == {"gemma_3_27b"}
    assert set(compared["our_judge"]) == {"planted"}
    assert {"chi2", "pos1", "pos5", "mean_cramers_v", "kendall_tau", "top1_flip"} <= set(compared["quantity"])
    assert set(compared["in_items"]) | set(compared["in_rerun"]) <= {"True", "False", ""}
    first = compared.query("quantity == 'pos1' and dataset == 'hanna'").iloc[0]
    assert first["published"] == 0.139
    assert float(first["ours"]) > 0.2  # what was planted: this judge is none of the paper's
    for ending in ("md", "tex", "html"):
        assert "gemma_3_27b" in project.file(f"results/tables/replication.{ending}").read_text().replace("\\", "")
    published = {"paper": "xu2026_v1", "judges": {"planted": "gpt_4_1"}}
    again = CONFIG | {"statistics": CONFIG["statistics"] | {"replication": published}}
    done = project.snakemake(*project.own(again))
    assert done.returncode == 0, done.stdout + done.stderr
    made = re.findall(r"^    output: ([^,\s]+)", done.stdout + done.stderr, re.MULTILINE)
    assert made == ["results/statistics/replication.parquet", "results/tables/replication.csv"]
    compared = pd.read_csv(project.file("results/tables/replication.csv")).query("status == 'compared'")
    assert set(compared["table"]) == {2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"studies": ["none"]},
            "statistics/replication/studies: 'none' is not defined under studies; defined: position_bias",
        ),
        (
            {"judges": {"x": "gpt_oss_20b"}},
            "statistics/replication/judges: 'x' is not defined under judges; defined: planted",
        ),
        ({"paper": "xu2025"}, "statistics/replication/paper: 'xu2025' is not one of 'xu2026', 'xu2026_v1'"),
    ],
)
def test_a_mistake_in_its_settings_is_one_clear_error(settings: dict, message: str):
    with pytest.raises(InputError) as error:
        loading.complete(copy.deepcopy(CONFIG) | {"statistics": {"replication": settings}}, folder=ROOT)
    assert f"config: {message}" in str(error.value)
