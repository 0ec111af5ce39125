"""A page, a column, a slide: what a preset sets, and colours and bytes of figures."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import yaml
from factories import completed as complete
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

from rubric_order import catalogue
from rubric_order.analyses.criteria.criterion_order import figure as criterion_order
from rubric_order.analyses.position.position_selection import figure as position_selection
from rubric_order.analyses.position.score_position import figure as score_position
from rubric_order.base.errors import InputError
from rubric_order.base.labels import Labels
from rubric_order.figures import output, presets, style, view
from rubric_order.jobs.draw_figure import draw_figure
from rubric_order.settings import schema

KEYS = {"study": "s", "profile": "default", "condition": "baseline", "strategy": "balanced", "n": 5, "cluster": "group"}
ABOUT = {"study": "s", "strategy": "balanced", "n": 5}


pytestmark = pytest.mark.usefixtures("house_style")


def completed(root, **figures):
    config = yaml.safe_load((root / "config/demo.yaml").read_text())
    usual = figures.pop("figure_preset", None)
    config |= {"figures": figures} | ({"figure_preset": usual} if usual else {})
    return complete(config, root)["figures"]


def test_every_figure_takes_a_preset_whose_page_has_the_defaults():
    shape = schema.schema()
    figures = shape["properties"]["figures"]["properties"]
    assert set(figures) == set(catalogue.FIGURES)
    assert set(shape["properties"]["figure_preset"]["enum"]) == set(presets.PRESETS)
    for block in figures.values():
        assert block["properties"]["preset"]["enum"] == list(presets.PRESETS)
        assert block["properties"]["width_in"]["default"] == presets.PRESETS["page"].width_in
    assert presets.PRESETS["page"].scale == presets.PRESETS["page"].panels == 1


def test_sizes_that_config_does_not_set_follow_the_preset(root):
    found = completed(root, position_selection={}, score_effects={"preset": "column"}, figure_preset="slide")
    selection, effects = found["position_selection"], found["score_effects"]
    assert [selection[key] for key in ("preset", "width_in", "panel_height_in", "columns")] == ["slide", 12.0, 4.55, 2]
    assert [effects[key] for key in ("preset", "width_in", "row_height_in", "columns")] == ["column", 3.4, 0.175, 1]
    own = {"preset": "column", "width_in": 5.0, "columns": 3}
    found = completed(root, position_selection=own)["position_selection"]
    assert found | own == found
    assert found["panel_height_in"] == pytest.approx(2.6 * 0.875)
    assert completed(root, human_scores={})["human_scores"]["preset"] == "page"


def test_a_preset_that_is_none_is_named(root):
    with pytest.raises(InputError, match="figures/human_scores/preset"):
        completed(root, human_scores={"preset": "poster"})


@pytest.mark.parametrize(("preset", "letters"), [("page", 8.0), ("column", 7.0), ("slide", 14.0)])
def test_letters_and_lines_have_one_scale_whatever_was_drawn_before(root, preset, letters):
    output.use_style(root / "resources/rubric_order.mplstyle", "slide")
    output.use_style(root / "resources/rubric_order.mplstyle", preset)
    scale = letters / 8
    rc = mpl.rcParams
    assert rc["font.size"] == rc["axes.labelsize"] == letters
    assert (rc["legend.fontsize"], rc["lines.linewidth"], rc["axes.linewidth"]) == pytest.approx(
        (7 * scale, 1.3 * scale, 0.8 * scale)
    )
    assert rc["savefig.dpi"] == presets.PRESETS[preset].dpi
    assert style.scaled(2.0) == pytest.approx(2 * scale)


def test_the_files_have_the_width_and_the_dots_of_the_preset(root, tmp_path):
    settings = {**ABOUT, "readouts": ["hard", "soft"], "preset": "column", "width_in": 3.4, "panel_height_in": 2.3}
    statistic, png = tmp_path / "statistic.parquet", tmp_path / "figure.png"
    selections().to_parquet(statistic)
    labels = Labels({"a": "A"}, {"d": "D"})
    look = root / "resources/rubric_order.mplstyle"
    draw_figure(
        catalogue.module("figures", "position_selection"),
        {"position_selection": statistic},
        settings | {"columns": 1},
        labels,
        look,
        [png],
    )
    assert plt.imread(png).shape[1] == 3.4 * 300


def selections(judges=("a", "b"), datasets=("d", "e", "f")):
    """Shares that fall to 0, with V, of selected options and of probabilities."""
    rows = []
    for judge, dataset, readout in itertools.product(judges, datasets, ("hard", "soft")):
        about = {**KEYS, "judge": judge, "dataset": dataset, "readout": readout, "n_clusters": 120, "saturated": False}
        for position, share in enumerate([0.6, 0.25, 0.15, 0.0, 0.0], start=1):
            ends = {"ci_low": max(share - 0.05, 0), "ci_high": share + 0.05}
            rows.append(about | ends | {"quantity": "share", "position": position, "estimate": share})
        rows.append(about | {"quantity": "cramers_v", "estimate": 0.5, "ci_low": 0.41, "ci_high": 0.58})
    return pd.DataFrame(rows)


def shifts(judges=("a", "b"), criteria=("coherence", "consistency", "fluency", "relevance")):
    rows = []
    for judge, (place, criterion) in itertools.product(judges, enumerate(criteria)):
        about = {**KEYS, "judge": judge, "dataset": "d", "readout": "hard", "criterion": criterion}
        rows.append(about | {"quantity": "position_test", "p_cluster_holm": 0.001, "p_holm": 0.001})
        for position in range(1, len(criteria) + 1):
            value = 0.1 * (position - 2.5) * (1 + place)
            ends = {"estimate": value, "ci_low": value - 0.04, "ci_high": value + 0.04}
            rows.append(about | ends | {"quantity": "shift", "position": position})
    return pd.DataFrame(rows)


def cells(judges=("a", "b", "c")):
    rows = []
    for judge, score, position in itertools.product(judges, range(1, 6), range(1, 6)):
        value = 0.2 + 0.03 * (position - 3) * (score - 3)
        about = {**KEYS, "judge": judge, "dataset": "all", "readout": "hard", "quantity": "share"}
        ends = {"estimate": value, "ci_low": value - 0.05, "ci_high": value + 0.05}
        rows.append(about | ends | {"score": score, "position": position})
    return pd.DataFrame(rows)


DRAWN = {
    "position_selection": lambda **more: view.draw(
        position_selection, selections(), **ABOUT, readouts=["hard", "soft"], **more
    ),
    "score_position": lambda **more: view.draw(score_position, cells(), **ABOUT, dataset="all", readout="hard", **more),
    "criterion_order": lambda **more: view.draw(
        criterion_order, shifts(), **ABOUT, profile="default", readout="hard", datasets=None, names={}, **more
    ),
}


def test_v_stands_above_the_data_and_the_axis_begins_at_0(root):
    output.use_style(root / "resources/rubric_order.mplstyle")
    sizes = {"width_in": 6.5, "panel_height_in": 2.6, "columns": 2, "labels": Labels({}, {})}
    figure = DRAWN["position_selection"](**sizes)
    figure.draw_without_rendering()
    for axis in figure.axes:
        (text,) = axis.texts
        assert text.get_text().splitlines() == [f"{name}: V 0.50 [0.41, 0.58], 120 groups" for name in "def"]
        assert axis.get_ylim()[0] == 0
        assert text.get_window_extent().y0 > axis.transData.transform((1, 65))[1]  # the end of the longest interval
        assert text.get_window_extent().x1 < axis.get_window_extent().x1


def test_values_with_a_sign_have_one_map_of_colours_with_0_in_its_middle(root):
    output.use_style(root / "resources/rubric_order.mplstyle")
    sizes = {"width_in": 6.5, "columns": 3, "labels": Labels({}, {})}
    for name, height in (("score_position", "panel_height_in"), ("criterion_order", "row_height_in")):
        figure = DRAWN[name](**sizes, **{height: 0.5})
        images = [image for axis in figure.axes for image in axis.images]
        assert len(images) > 1
        for image in images:
            assert image.get_cmap().name == style.DIVERGING
            assert image.norm.vmin == -image.norm.vmax
            assert image.norm.vmax >= np.abs(image.get_array()).max()


def test_what_is_written_on_a_colour_can_be_read(root):
    axis = plt.figure().subplots()
    image = style.signed_map(axis, np.array([[-1.0, 0.0, 1.0]]), 1.0)
    assert [style.ink(image, value) for value in (-1, 0, 1, np.nan)] == ["white", "black", "white", "black"]


def test_last_digits_of_a_layout_change_no_byte(root, tmp_path, monkeypatch):
    """The solver of a layout adds in an order that differs from process to process."""
    output.use_style(root / "resources/rubric_order.mplstyle")
    execute = ConstrainedLayoutEngine.execute
    written = []
    for error in (0.0, 1e-15):

        def lay_out(engine, figure, error=error):
            execute(engine, figure)
            for axis in figure.axes:
                axis.set_position(Bbox(axis.get_position(original=True).get_points() + error), which="original")
                axis.set_in_layout(True)

        monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lay_out)
        figure = DRAWN["criterion_order"](width_in=6.5, columns=3, row_height_in=0.5, labels=Labels({}, {}))
        path = tmp_path / f"{error}.svg"
        output.save(figure, [path])
        written.append(path.read_bytes())
    assert written[0] == written[1]
