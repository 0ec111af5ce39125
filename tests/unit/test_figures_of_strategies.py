"""The figures of position selection, of agreement by strategy, and of sweeps over a setting of the judges."""

import itertools

import numpy as np
import pandas as pd
import pytest

from rubric_order.analyses.agreement.strategy_forest import figure as strategy_forest
from rubric_order.analyses.position.position_selection import figure as position_selection
from rubric_order.base.labels import Labels
from rubric_order.figures import sweep, view

LABELS = Labels({"a": "Judge A", "b": "b"}, {"hanna": "HANNA"})
KEYS = {"study": "s", "profile": "default", "n": 5, "strategy": "balanced"}


pytestmark = pytest.mark.usefixtures("house_style")


def estimates(quantity, judges, datasets, *, strategies=("balanced",), profiles=("default",), **more):
    """Statistics with an estimate of 0.1, 0.2, ... and intervals of 0.02 below and 0.03 above, for items and groups."""
    rows = []
    whole = itertools.product(judges, profiles, datasets, strategies, ("hard", "soft"))
    for place, (judge, profile, dataset, strategy, readout) in enumerate(whole):
        for cluster, more_items in (("group", 0), ("item", 10)):
            value = 0.1 * (place % 8 + 1)
            row = KEYS | {"judge": judge, "profile": profile, "dataset": dataset, "strategy": strategy}
            row |= {"readout": readout, "cluster": cluster, "quantity": quantity, "estimate": value}
            row |= {"ci_low": value - 0.02, "ci_high": value + 0.03, "n_items": 40 + more_items}
            rows.append(row | {"criterion": "all"} | more)
    return pd.DataFrame(rows)


def chosen(table, **values):
    for column, value in ({"readout": "hard", "cluster": "group"} | values).items():
        table = table[table[column] == value]
    return table


def panels(figure):
    return [axis for axis in figure.axes if axis.get_visible()]


def lines(axis):
    """Label, x and y of what is drawn with intervals."""
    return {bars.get_label(): (bars.lines[0].get_xdata(), bars.lines[0].get_ydata()) for bars in axis.containers}


def spreads(axis, direction):
    """Ends of the intervals of each line."""
    found = {}
    for bars in axis.containers:
        segments = np.array(bars.lines[2][0].get_segments())
        found[bars.get_label()] = segments[:, :, 1 if direction == "y" else 0]
    return found


def texts(figure):
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return legends, [text.get_text() for text in figure.texts]


# Position selection.


@pytest.fixture
def shares():
    tables = [
        estimates("share", ["a", "b"], ["hanna", "other"], position=position, saturated=False).assign(
            estimate=share, ci_low=share - 0.01, ci_high=share + 0.02
        )
        for position, share in enumerate([0.3, 0.1, 0.2, 0.15, 0.25], start=1)
    ]
    return pd.concat(tables, ignore_index=True)


def of_positions(shares, **options):
    values = {"study": "s", "strategy": "balanced", "n": 5, "readouts": ["hard", "soft"], "width_in": 6.5}
    values |= {"panel_height_in": 2.0, "columns": 2, "labels": LABELS}
    return view.draw(position_selection, shares, **values | options)


def test_position_selection_has_a_panel_a_judge_and_readout_and_a_line_a_dataset(shares):
    figure = of_positions(shares)
    assert [axis.get_title() for axis in panels(figure)] == [
        f"{judge}\n{readout}" for judge in ("Judge A", "b") for readout in ("Selected option", "Option probabilities")
    ]
    for axis in panels(figure):
        assert set(lines(axis)) == {"HANNA", "other"}
        for label, (x, y) in lines(axis).items():
            assert y == pytest.approx([30, 10, 20, 15, 25])
            assert np.abs(x - [1, 2, 3, 4, 5]).max() < 0.2
            assert spreads(axis, "y")[label] == pytest.approx(np.column_stack([y - 1, y + 2]))
    assert texts(figure)[0] == ["equally often (20%)", "HANNA", "other"]


def test_position_selection_draws_the_clusters_that_are_asked_for(shares):
    wide = shares.assign(ci_high=shares["ci_high"] + 0.1 * (shares["cluster"] == "item"))
    for cluster, above in (("group", 2), ("item", 12)):
        axis = panels(of_positions(wide, cluster=cluster))[0]
        assert np.diff(spreads(axis, "y")["HANNA"])[:, 0] == pytest.approx([1 + above] * 5)


# Agreement by strategy.


@pytest.fixture
def agreement():
    return estimates("pearson", ["a", "b", "c"], ["hanna", "other"], strategies=["balanced", "fixed", "random"])


def of_strategies(agreement, **options):
    values = {"study": "s", "n": 5, "profile": "default", "quantity": "pearson"}
    values |= {"cluster": "group", "readouts": ["hard"], "width_in": 6.5, "row_height_in": 0.4, "columns": 2}
    return view.draw(strategy_forest, agreement, **values | {"labels": LABELS} | options)


def test_the_forest_has_a_panel_a_dataset_and_a_row_a_judge(agreement):
    figure = of_strategies(agreement)
    first, second = panels(figure)
    assert [first.get_title(), second.get_title()] == ["HANNA (40 items)", "other (40 items)"]
    assert [tick.get_text() for tick in first.get_yticklabels()] == ["Judge A", "b", "c"]
    assert first.get_ylim() == (2.5, -0.5)  # the first judge at the top
    assert texts(figure)[0] == ["balanced", "random", "fixed"]
    for axis, dataset in ((first, "hanna"), (second, "other")):
        for label, (x, y) in lines(axis).items():
            strategy = {"balanced": "balanced"}.get(label, label)
            rows = chosen(agreement, dataset=dataset, strategy=strategy)
            assert x == pytest.approx(rows["estimate"])
            assert np.abs(np.array(y) - [0, 1, 2]).max() < 0.5
            assert spreads(axis, "x")[label] == pytest.approx(rows[["ci_low", "ci_high"]].to_numpy())


def test_a_strategy_that_was_not_read_and_a_correlation_without_interval_are_left_out(agreement):
    agreement.loc[agreement["judge"] == "b", ["ci_low", "ci_high"]] = np.nan
    agreement = agreement[(agreement["judge"] != "c") | (agreement["strategy"] != "fixed")]
    axis = panels(of_strategies(agreement))[0]
    assert [len(x) for x, _ in lines(axis).values()] == [3, 3, 2]
    assert np.diff(spreads(axis, "x")["balanced"])[1] == pytest.approx(0)


# Sweeps.


PROFILES = ["default", "t03", "t06"]
VALUES = {judge: {"default": 0, "t03": 0.3, "t06": 0.6} for judge in "ab"}


@pytest.fixture
def swept():
    """V and r of three judges, of which the third does not vary the setting; one dataset has no human scores."""
    v = estimates("cramers_v", ["a", "b", "c"], ["hanna", "unrated"], profiles=PROFILES)
    r = estimates("pearson", ["a", "b", "c"], ["hanna"], profiles=PROFILES)
    return v, r


def of_sweep(swept, **options):
    values = {"setting": VALUES, "study": "s", "strategy": "balanced", "n": 5, "readout": "hard", "cluster": "group"}
    values |= {
        "label": "Temperature",
        "order": [],
        "width_in": 6.5,
        "panel_height_in": 1.8,
        "columns": 2,
        "labels": LABELS,
        "names": {},
    }
    return view.draw(sweep, *swept, **values | options)


def test_a_sweep_has_v_on_the_left_and_r_on_the_right_a_row_a_dataset(swept):
    figure = of_sweep(swept)
    assert [axis.get_ylabel() for axis in panels(figure)] == ["HANNA\nCramér's V", "Pearson's r", "unrated\nCramér's V"]
    assert texts(figure)[0] == ["Judge A", "b"]
    for axis, table, dataset in zip(
        panels(figure), [swept[0], swept[1], swept[0]], ["hanna", "hanna", "unrated"], strict=True
    ):
        assert set(lines(axis)) == {"Judge A", "b"}
        for judge, label in (("a", "Judge A"), ("b", "b")):
            rows = chosen(table, judge=judge, dataset=dataset)
            x, y = lines(axis)[label]
            assert y == pytest.approx(rows["estimate"])
            assert np.abs(x - [0, 0.3, 0.6]).max() < 0.03
            assert spreads(axis, "y")[label] == pytest.approx(rows[["ci_low", "ci_high"]].to_numpy())


def test_numbers_are_drawn_to_scale_and_other_values_in_their_order(swept):
    figure = of_sweep(swept)
    for axis in (panels(figure)[1], panels(figure)[2]):  # the lowest of each column
        assert [tick.get_text() for tick in axis.get_xticklabels()] == ["0", "0.3", "0.6"]
    efforts = {"a": {"default": "medium", "t03": "low", "t06": "high"}}
    figure = of_sweep(swept, setting=efforts, order=["low", "medium", "high"], label="Effort")
    assert [tick.get_text() for tick in panels(figure)[-1].get_xticklabels()] == ["low", "medium", "high"]
    axis = figure.axes[0]
    assert axis.get_xticks().tolist() == [0, 1, 2]
    of = chosen(swept[0], judge="a", dataset="hanna").set_index("profile")["estimate"]
    assert lines(axis)["Judge A"][1] == pytest.approx([of["t03"], of["default"], of["t06"]])


def test_two_profiles_of_one_value_are_one_point(swept):
    efforts = {"a": {"default": "medium", "t03": "medium", "t06": "high"}}
    x, _ = lines(of_sweep(swept, setting=efforts, order=["medium", "high"]).axes[0])["Judge A"]
    assert len(x) == 2


def test_a_sweep_without_human_scores_has_v_alone(swept):
    figure = of_sweep((swept[0], swept[1].head(0)))
    assert [axis.get_ylabel() for axis in panels(figure)] == ["HANNA\nCramér's V", "unrated\nCramér's V"]


@pytest.mark.parametrize("values", [{}, {"a": {"default": 0}}, {"a": {"default": 0.3, "t03": 0.3}}])
def test_a_sweep_of_one_value_says_that_there_is_none(swept, values):
    figure = of_sweep(swept, setting=values)
    assert panels(figure) == []
    assert "several values of temperature" in texts(figure)[1][0]


def test_the_forest_can_have_intervals_over_items_within_those_over_groups():
    table = estimates("pearson", ["a"], ["hanna"], strategies=("balanced", "fixed"))
    table.loc[table["cluster"] == "item", ["ci_low", "ci_high"]] += [0.01, -0.01]
    how = {"study": "s", "n": 5, "profile": "default", "quantity": "pearson"}
    how |= {"readouts": ["hard"], "width_in": 5.0, "row_height_in": 0.4, "columns": 2, "labels": LABELS}
    figure = view.draw(strategy_forest, table, cluster="both", **how)
    (axis,) = panels(figure)
    thick = [line for line in axis.collections if line.get_linewidth()[0] > 2.5]
    ends = np.concatenate([np.array(line.get_segments())[0, :, 0] for line in thick])
    expected = chosen(table, cluster="item")[["ci_low", "ci_high"]].to_numpy().ravel()
    assert ends == pytest.approx(expected)
    alone = view.draw(strategy_forest, table, cluster="group", **how)
    assert not [line for axis in panels(alone) for line in axis.collections if line.get_linewidth()[0] > 2.5]
