"""Laws that hold for every figure: the same data give the same bytes, and no data a reason in place of panels."""

import importlib
import io

import pytest
import whole_study
from factories import ROOT, blocks_of_all_results

from rubric_order import catalogue
from rubric_order.base.conditions import select_condition
from rubric_order.base.keys import BASELINE
from rubric_order.base.labels import Labels, order_by_labels, statistics_of_block
from rubric_order.figures import output, presets, view

STYLE = ROOT / "resources/rubric_order.mplstyle"
LABELS = Labels({name: f"Judge {name[-3:]}" for name in whole_study.COMPARING_JUDGES}, whole_study.DATASETS)
STATISTICS = whole_study.Statistics(whole_study.inputs())
VALUES = {"default": 0.5, "warm": 1.0, "hot": 1.5}  # of a setting that differs between profiles
ALSO_WITHOUT_READS = ("power",)  # assumed studies
BLOCKS = blocks_of_all_results()["figures"]


pytestmark = pytest.mark.usefixtures("house_style")


def draw(name, n_rows=None):
    """The figure of a small study, as the workflow draws it, from its first rows."""
    block = dict(BLOCKS[name])
    presets.fill(block, block, "page")
    condition = block.pop("condition", BASELINE)
    tables = {
        each: order_by_labels(select_condition(STATISTICS[each], condition), LABELS).head(n_rows)
        for each in catalogue.FIGURES[name].statistics
    }
    study = next((table["study"].iloc[0] for table in tables.values() if "study" in table and len(table)), "s")
    block |= {"study": study} if "study" in block else {}
    block |= (
        {"setting": dict.fromkeys(whole_study.JUDGES, VALUES)} if "setting" in catalogue.FIGURES[name].derived else {}
    )
    module = importlib.import_module(catalogue.module("figures", name))
    output.use_style(STYLE, block.pop("preset"))
    tables, labels = statistics_of_block(tables, block, LABELS)
    return view.draw(module, **tables, **block, labels=labels)


@pytest.mark.parametrize("name", catalogue.FIGURES)
def test_a_figure_of_the_same_data_has_the_same_bytes(name):
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        draw(name).savefig(file, format="svg", metadata={"Date": None})
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("name", [name for name in catalogue.FIGURES if name not in ALSO_WITHOUT_READS])
def test_a_figure_without_estimates_has_a_reason_and_no_panel(name):
    figure = draw(name, n_rows=0)
    assert not [axis for axis in figure.axes if axis.get_visible()]
    assert [text.get_text() for text in figure.texts]
