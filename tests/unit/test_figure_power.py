import pandas as pd
import pytest
from matplotlib.figure import Figure

from rubric_order.analyses.position.power import estimate as power
from rubric_order.analyses.position.power import figure
from rubric_order.base.keys import KEYS
from rubric_order.base.labels import Labels
from rubric_order.figures import view

GRID = {"n": 5, "items": [50, 320], "budgets": [1, 10], "correlations": [0.0, 0.5, 1.0], "level": 0.05, "power": 0.8}
SETTINGS = {
    "study": "s",
    "profile": "default",
    "strategy": "balanced",
    "cluster": "item",
    "width_in": 6.5,
    "height_in": 3.0,
    "columns": 2,
}


@pytest.fixture
def statistics():
    """Assumed studies, and three judges on one dataset each: one finds a bias, one is consistent, one is elsewhere."""
    rows = []
    for judge, study, deff, v in (("biased", "s", 4.0, 0.2), ("consistent", "s", 0.0, 0.0), ("other", "t", 1.0, 0.1)):
        key = dict(zip(KEYS, (study, judge, "default", "baseline", "d", "balanced", 5), strict=True))
        key |= {"readout": "hard", "cluster": "item", "n_items": 100, "n_reads": 1000, "saturated": False}
        rows += [
            key | {"quantity": name, "estimate": value} for name, value in (("design_effect", deff), ("cramers_v", v))
        ]
    return power.estimate(pd.DataFrame(rows), **GRID)


pytestmark = pytest.mark.usefixtures("house_style")


def draw(statistics, **settings) -> Figure:
    return view.draw(figure, statistics, **SETTINGS | {"labels": Labels({"biased": "Biased"}, {})} | settings)


def texts(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_lines_are_those_of_the_assumed_studies_and_one_stands_for_identical_reads(statistics):
    (axis, _) = draw(statistics).axes
    lines = [line for line in axis.lines if len(line.get_xdata())]
    assert [tuple(line.get_xdata()) for line in lines] == [(50, 320)] * 3  # K = 1; K = 10, independent and at 0.5
    expected = statistics.query("budget == 10 and correlation == 0.5")["detectable_v"].tolist()
    assert lines[2].get_ydata().tolist() == expected
    assert texts(axis) == ["K = 1, or identical reads", "K = 10", "ρ = 0.5"]


def test_every_correlation_that_is_drawn_is_named():
    nothing = pd.DataFrame(
        columns=[*KEYS, "readout", "cluster", "quantity", "estimate", "saturated", "n_items", "n_reads"]
    )
    grid = GRID | {"correlations": [0.0, 0.2, 0.5, 1.0], "budgets": [5, 10]}
    (axis,) = draw(power.estimate(nothing, **grid)).axes
    assert texts(axis) == ["K = 5", "K = 10", "ρ = 0.2", "ρ = 0.5", "ρ = 1"]
    assert len([line for line in axis.lines if len(line.get_xdata())]) == 8


def test_the_judges_of_the_study_stand_where_their_reads_put_them(statistics):
    axis = draw(statistics).axes[1]
    marks = [line for line in axis.lines if line.get_marker() not in ("None", None) and len(line.get_xdata())]
    row = statistics.query("judge == 'biased'").iloc[0]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in marks] == [(100, row["detectable_v"]), (100, 0.2)]
    assert texts(axis) == ["Biased", "d"]


def test_without_reads_of_the_study_there_are_the_assumed_ones_alone(statistics):
    assert len(draw(statistics, study="none").axes) == 1
