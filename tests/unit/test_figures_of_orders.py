"""The figures of the budget curve, of scores by position, and of position selection by dataset."""

import re

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.analyses.agreement.budget_curve import estimate as curves
from rubric_order.analyses.agreement.budget_curve import figure as budget_curve
from rubric_order.analyses.position.position_selection_by_dataset import figure as position_selection_by_dataset
from rubric_order.analyses.position.score_position import estimate as positions
from rubric_order.analyses.position.score_position import figure as score_position
from rubric_order.base.labels import Labels
from rubric_order.figures import view

BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 3}
SHAPE = {"width_in": 6.5, "panel_height_in": 1.8, "columns": 2, "labels": Labels({"a": "Judge A"}, {"d": "Data D"})}


pytestmark = pytest.mark.usefixtures("house_style")


@pytest.fixture(scope="module")
def scores():
    return [
        simulated_reads(groups=15, judge=judge, dataset=dataset, human=dataset != "unrated", seed=seed, failing=0.01)
        for seed, (judge, dataset) in enumerate((j, d) for j in "abc" for d in ("d", "e", "unrated"))
        if (judge, dataset) != ("c", "e")
    ]


@pytest.fixture(scope="module")
def statistics(scores):
    return {
        "budget_curve": curves.estimate(iter(scores), confidence=BOOTSTRAP["confidence"], seed=BOOTSTRAP["seed"]),
        "score_position": positions.estimate(iter(scores), **BOOTSTRAP),
    }


def of_curve(statistics, **options):
    values = {
        "study": "s",
        "n": 5,
        "strategies": ["balanced", "random", "fixed"],
        "measure": "pearson",
        "readout": "hard",
    }
    return view.draw(budget_curve, statistics["budget_curve"], **values | SHAPE | options)


def of_heat_map(statistics, **options):
    values = {"study": "s", "n": 5, "strategy": "balanced", "dataset": "all", "readout": "hard"}
    return view.draw(score_position, statistics["score_position"], **values | SHAPE | options)


def of_selection(table, **options):
    values = {"study": "s", "n": 5, "strategy": "balanced", "readout": "hard"}
    return view.draw(position_selection_by_dataset, table, **values | SHAPE | options)


def panels(figure):
    return [axis for axis in figure.axes if axis.get_visible() and axis.get_title()]


def test_the_budget_curve_has_a_panel_a_judge_and_rated_dataset_and_a_line_a_strategy(statistics):
    figure = of_curve(statistics)
    titles = ["Judge A\nData D", "b\nData D", "c\nData D", "Judge A\ne", "b\ne"]
    assert [axis.get_title().partition(" (")[0] for axis in panels(figure)] == titles
    assert all(re.search(r" \(\d+( to \d+)? items\)$", axis.get_title()) for axis in panels(figure))
    found = statistics["budget_curve"].query(
        "judge == 'a' and dataset == 'd' and statistic == 'pearson' and quantity == 'r' and cluster == 'group'"
    )
    panel = panels(figure)[0]
    for strategy in ("balanced", "random", "fixed"):
        (line,) = [line for line in panel.lines if line.get_label() == strategy]
        rows = found[found["strategy"] == strategy]
        assert line.get_xdata().tolist() == list(range(1, 11))
        np.testing.assert_allclose(line.get_ydata(), rows["estimate"])
        band = panel.collections[["balanced", "random", "fixed"].index(strategy) * 2].get_paths()[0].vertices[:, 1]
        assert (band.min(), band.max()) == pytest.approx((rows["range_low"].min(), rows["range_high"].max()))
    named = ["balanced", "random", "fixed", "middle 95% of the subsets", "interval of the last mean, over groups"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == named


def test_panels_of_one_dataset_share_their_scale(statistics):
    axes = panels(of_curve(statistics))
    assert len({axis.get_ylim() for axis in axes[:3]}) == 1
    assert len({axis.get_ylim() for axis in axes[3:]}) == 1


def test_the_bar_at_the_end_of_a_curve_is_its_interval(statistics):
    end = (
        statistics["budget_curve"]
        .query(
            "judge == 'a' and dataset == 'e' and statistic == 'spearman' and quantity == 'r' and cluster == 'item'"
            " and k == 10 and strategy == 'fixed'"
        )
        .iloc[0]
    )
    figure = of_curve(statistics, measure="spearman", cluster="item", strategies=["fixed"])
    (panel,) = [axis for axis in panels(figure) if axis.get_title().startswith("Judge A\ne")]
    bars = [path.vertices[:, 1] for collection in panel.collections for path in collection.get_paths()]
    assert any(len(bar) == 2 and np.allclose(bar, [end["ci_low"], end["ci_high"]]) for bar in bars)


def test_the_heat_map_has_a_panel_a_judge_with_every_share(statistics):
    figure = of_heat_map(statistics)
    assert [axis.get_title() for axis in panels(figure)] == ["Judge A", "b", "c"]
    rows = statistics["score_position"].query(
        "judge == 'b' and dataset == 'all' and strategy == 'balanced' and quantity == 'share' and cluster == 'group'"
    )
    panel = panels(figure)[1]
    shares = 100 * rows.pivot(index="score", columns="position", values="estimate").to_numpy()
    np.testing.assert_allclose(panel.images[0].get_array(), shares - 20)
    texts = {text.get_position(): text for text in panel.texts}
    for row in rows.itertuples():
        text = texts[row.position - 1, row.score - 1]
        assert text.get_text() == f"{100 * row.estimate:.1f}"
        assert (text.get_fontweight() == "bold") == (row.ci_low > 0.2 or row.ci_high < 0.2)
    assert panel.get_ylim()[0] < panel.get_ylim()[1]  # the highest score on top


def test_position_selection_by_dataset_has_a_panel_a_dataset_and_a_line_a_judge():
    rows = [
        {"study": "s", "profile": "default", "strategy": "balanced", "n": 5, "readout": "hard", "quantity": "share"}
        | {
            "judge": judge,
            "dataset": dataset,
            "cluster": "group",
            "saturated": False,
            "position": p,
            "estimate": 0.1 + 0.02 * p * place,
        }
        | {"ci_low": 0.05 + 0.02 * p * place, "ci_high": 0.2 + 0.02 * p * place}
        for place, judge in enumerate("ab")
        for dataset in "de"
        for p in range(1, 6)
    ]
    figure = of_selection(pd.DataFrame(rows))
    assert [axis.get_title() for axis in panels(figure)] == ["Data D", "e"]
    lines = [line for line in panels(figure)[0].lines if len(line.get_xdata()) == 5 and line.get_linestyle() == "-"]
    assert [line.get_ydata().tolist() for line in lines] == [[10] * 5, pytest.approx([12, 14, 16, 18, 20])]
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"equally often (20%)", "Judge A", "b"}


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_any_number_of_columns_draws_every_panel(columns, statistics):
    assert len(panels(of_curve(statistics, columns=columns))) == 5
    assert len(panels(of_heat_map(statistics, columns=columns))) == 3
