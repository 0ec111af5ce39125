"""A new statistic with its table and its figure: a folder, and nothing elsewhere."""

import json

import pandas as pd
import pytest

from .conftest import SMALL, Project

LIBRARY = "workflow/scripts/rubric_order"

MODULES = {
    "analyses/position/mean_score/record.py": """from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "mean_score"),
        block={"least": v.Key("Count", 1, "Judges with fewer reads are left out.")},
        methods="Scores were averaged.",
    ),
    table=Shown(
        ("mean_score",),
        "Scores",
        "Mean score, table",
        block={"study": v.STUDY},
        caption="Mean score in study {study}, with {bootstrap[confidence]:.0%} in mind.",
        notes="Judges with fewer than {mean_score[least]} reads are left out.",
    ),
    figure=Shown(
        ("mean_score",),
        "Scores",
        "Mean score, figure",
        block={"study": v.STUDY},
        caption="Mean score of each judge in study {study}.",
    ),
)
""",
    "analyses/position/mean_score/estimate.py": '''"""Mean score of each judge."""

from collections.abc import Iterable

import pandas as pd

COLUMNS = {"scores": ["study", "judge", "dataset", "score"]}


def estimate(scores: Iterable[pd.DataFrame], *, confidence: float, least: int) -> pd.DataFrame:
    """One row per study, judge and dataset."""
    keys = ["study", "judge", "dataset"]
    table = pd.concat(scores).astype({"score": float}).groupby(keys, as_index=False)["score"].mean()
    return table.rename(columns={"score": "estimate"}).assign(confidence=confidence)
''',
    "analyses/position/mean_score/table.py": '''"""Mean score of each judge."""

from rubric_order.tables.columns import Number, texts
from rubric_order.tables.spec import Rows, Table

TABLE = Table(
    rows=Rows("mean_score", "study"), columns=[*texts("judge", "dataset"), Number("estimate", ".2f", name="mean")]
)
''',
    "analyses/position/mean_score/figure.py": '''"""Mean score of each judge."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.figures.view import Layout, View


def draw(mean_score: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    rows = view.rows(mean_score, "study")
    figure, axis = plt.subplots()
    axis.bar([labels.judge(name) for name in rows["judge"]], rows["estimate"])
    return figure
''',
}


@pytest.mark.slow
def test_a_new_statistic_with_a_table_and_a_figure_touches_its_folder_alone(project: Project):
    for path, text in MODULES.items():
        module = project.file(f"{LIBRARY}/{path}")
        module.parent.mkdir(exist_ok=True)
        module.with_name("__init__.py").touch()
        module.write_text(text)
    config = SMALL | {"tables": {"mean_score": {}}, "figures": {"mean_score": {}}}
    config["statistics"] = SMALL.get("statistics", {}) | {"mean_score": {"least": 2}}
    assert project.planned(config=config) == ["figures/mean_score", "statistics/mean_score", "tables/mean_score"]
    run = project.snakemake(config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    estimate = pd.read_parquet(project.file("results/statistics/mean_score.parquet"))["estimate"]
    scores = pd.read_parquet(project.file("results/scores/position_bias/demo/planted.parquet"))["score"]
    assert estimate.tolist() == [scores.astype(float).mean()]
    assert pd.read_csv(project.file("results/tables/mean_score.csv"))["judge"].tolist() == ["planted"]
    printed = project.file("results/tables/mean_score.md").read_text()
    assert f"| Demo      | {estimate[0]:.2f}" in printed
    for ending in ("tex", "html"):
        text = project.file(f"results/tables/mean_score.{ending}").read_text().replace("\\", "")
        assert "Mean score in study position_bias, with 95% in mind." in text
        assert "Judges with fewer than 2 reads are left out." in text
    assert project.file("results/figures/mean_score.svg").read_text().startswith("<?xml")
    assert project.planned(config=config) == []


@pytest.mark.slow
def test_a_report_says_of_each_result_what_its_module_says(project: Project):
    run = project.snakemake("--report", "report.html", config=SMALL)
    assert run.returncode == 0, run.stdout + run.stderr
    page = project.file("report.html").read_text()
    assert "Cramer's V has a 95% bootstrap interval" in page
    assert json.dumps("Position selection, table") in page
