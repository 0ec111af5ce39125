"""The figure of human scores: its panels, bars and words, and that the same data give the same bytes."""

import warnings

import pandas as pd
import pytest

from rubric_order.analyses.overview.human_scores import figure as human_scores
from rubric_order.base.labels import Labels
from rubric_order.figures import view

LAYOUT = {"width_in": 6.5, "panel_height_in": 1.75, "columns": 3, "labels": Labels({}, {"hanna": "HANNA"}), "names": {}}


pytestmark = pytest.mark.usefixtures("house_style")


def row(dataset, source, criterion, shares, *, n_scores=30, other=0.0):
    mean = sum(score * share for score, share in enumerate(shares, start=1))
    values = {"dataset": dataset, "source": source, "criterion": criterion, "n_scores": n_scores, "score_mean": mean}
    return values | {f"share_{k}": share for k, share in enumerate(shares, start=1)} | {"share_other": other}


@pytest.fixture
def statistics():
    """A dataset with two criteria, one with reference labels, one without scores."""
    nothing = [float("nan")] * 5
    return pd.DataFrame(
        [
            row("hanna", "human", "all", [0.1, 0.2, 0.3, 0.3, 0.1]),
            row("hanna", "human", "empathy", [0.2, 0.2, 0.2, 0.2, 0.2]),
            row("hanna", "human", "story_line", [0, 0.2, 0.4, 0.396, 0.004]),
            row("mt_bench", "reference", "all", [0.1, 0.1, 0.1, 0.1, 0.5], other=0.1),
            row("pairs_only", "none", "all", nothing, n_scores=0),
        ]
    )


def panels(figure):
    return [axis for axis in figure.axes if axis.get_visible()]


def test_bars_are_the_shares_in_percent_on_one_scale_from_zero(statistics):
    figure = view.draw(human_scores, statistics, **LAYOUT)
    heights = [[bar.get_height() for bar in axis.patches] for axis in panels(figure)]
    assert heights[0] == pytest.approx([20] * 5)
    assert heights[1] == pytest.approx([0, 20, 40, 39.6, 0.4])
    assert heights[2] == pytest.approx([10, 10, 10, 10, 50])
    limits = {axis.get_ylim() for axis in panels(figure)}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == 0
    assert high > 50


def test_people_and_reference_labels_differ_in_lightness(statistics):
    figure = view.draw(human_scores, statistics, **LAYOUT)
    colours = [axis.patches[0].get_facecolor() for axis in panels(figure)]
    lightness = [0.299 * red + 0.587 * green + 0.114 * blue for red, green, blue, _ in colours]
    assert lightness[0] == lightness[1]
    assert abs(lightness[0] - lightness[2]) > 0.2


def test_texts_lie_within_the_figure_and_above_the_bars(statistics):
    figure = view.draw(human_scores, statistics, **LAYOUT)
    figure.canvas.draw()
    for axis in panels(figure):
        *labels, note = axis.texts
        box = note.get_window_extent()
        assert figure.bbox.containsx(box.x0)
        assert box.x1 <= axis.bbox.x1
        assert not any(box.overlaps(label.get_window_extent()) for label in labels)
        assert not any(box.overlaps(bar.get_window_extent()) for bar in axis.patches)


def test_scores_on_quite_another_scale_are_said_not_to_be_drawn():
    statistics = pd.DataFrame([row("percent", "human", "all", [0.0] * 5, other=1.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (panel,) = panels(view.draw(human_scores, statistics, **LAYOUT))
    assert "100.0% other scores, not drawn" in panel.texts[-1].get_text()


def test_a_dataset_of_several_criteria_starts_a_row_and_the_others_share_the_last(statistics):
    more = [
        row(name, "human", criterion, [0.2] * 5)
        for name, criteria in (("a", ["all"]), ("b", ["all", "p", "q", "r", "s"]), ("c", ["all"]))
        for criterion in criteria
    ]
    figure = view.draw(human_scores, pd.concat([pd.DataFrame(more), statistics]), **LAYOUT)
    titles = [axis.get_title().replace("\n", " ") if axis.get_visible() else "" for axis in figure.axes]
    assert titles == [
        *("b P", "b Q", "b R", "b S", "", ""),
        *("HANNA Empathy", "HANNA Story line", "", "a", "c", "mt_bench reference labels"),
    ]
