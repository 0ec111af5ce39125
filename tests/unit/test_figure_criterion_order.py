"""The heat maps of criterion order: what is drawn, and what is marked."""

import numpy as np
import pandas as pd
import pytest
from factories import criteria_table, draw_criteria

from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.analyses.criteria.criterion_order import figure
from rubric_order.base.labels import Labels
from rubric_order.figures import view

SETTINGS = {"study": "s", "profile": "default", "strategy": "balanced", "n": 5, "readout": "hard", "datasets": None}
SETTINGS |= {"width_in": 6.5, "row_height_in": 0.24, "columns": 2, "names": {}, "labels": Labels({}, {})}


pytestmark = pytest.mark.usefixtures("house_style")


@pytest.fixture(scope="module")
def statistics():
    """Two judges, of which one prefers the first criterion, about two datasets of three and four criteria."""
    rng = np.random.default_rng(1)
    parts = []
    for judge, first in (("biased", 1.0), ("plain", 0.0)):
        for dataset, n_criteria in (("small", 3), ("large", 4)):
            values, shown = draw_criteria(40, n_criteria, rng=rng, position=[first, *[0] * (n_criteria - 1)], noise=0.3)
            parts.append(criteria_table(values, shown, judge=judge, dataset=dataset))
    return criterion_order.estimate(pd.concat(parts), resamples=100, confidence=0.95, seed=1)


def panels_of(drawn):
    return {axis.get_title(): axis for axis in drawn.axes if axis.get_visible() and axis.get_title()}


def cells_of(axis):
    return {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in axis.texts}


def test_each_judge_and_dataset_has_a_panel_with_a_cell_for_each_criterion_and_position(statistics):
    found = panels_of(view.draw(figure, statistics, **SETTINGS))
    assert set(found) == {f"{judge}\n{dataset}" for judge in ("biased", "plain") for dataset in ("small", "large")}
    for title, axis in found.items():
        size = 3 if title.endswith("small") else 4
        assert len(axis.texts) == size**2
        names = ["1\n(first)", *(str(p) for p in range(2, size)), f"{size}\n(last)"]
        assert [label.get_text() for label in axis.get_xticklabels()] == names
    shift = statistics.query("quantity == 'shift' and judge == 'biased' and dataset == 'large' and criterion == 'plot'")
    written = cells_of(found["biased\nlarge"])
    for column, value in enumerate(shift["estimate"]):
        assert written[1, column].rstrip("*") == f"{value:+.2f}"


def test_stars_and_daggers_say_what_is_significant(statistics):
    found = panels_of(view.draw(figure, statistics, **SETTINGS))
    biased = found["biased\nsmall"]
    assert not any("†" in label.get_text() for label in biased.get_yticklabels())
    assert all(text.endswith("*") for (_, column), text in cells_of(biased).items() if column == 0)
    plain = found["plain\nsmall"]
    assert all("†" in label.get_text() for label in plain.get_yticklabels())
    assert not any(text.endswith("*") for text in cells_of(plain).values())


def test_one_scale_with_0_in_its_middle_is_shared_by_all_panels(statistics):
    drawn = view.draw(figure, statistics, **SETTINGS)
    norms = {(image.norm.vmin, image.norm.vcenter, image.norm.vmax) for axis in drawn.axes for image in axis.images}
    reach = statistics.loc[statistics["quantity"] == "shift", "estimate"].abs().max()
    assert norms == {(-reach, 0, reach)}


def test_some_datasets_can_be_drawn_under_other_names(statistics):
    named = {"labels": Labels({"biased": "Judge A"}, {"small": "Stories"}), "names": {"wit": "Humour"}}
    settings = SETTINGS | named | {"datasets": ["small"], "columns": 1}
    found = panels_of(view.draw(figure, statistics, **settings))
    assert set(found) == {"Judge A\nStories", "plain\nStories"}
    assert found["Judge A\nStories"].get_yticklabels()[0].get_text() == "Humour"
