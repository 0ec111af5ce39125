"""Position bias and agreement with people at several values of one setting of the judges."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View


def draw(
    position_selection: pd.DataFrame,
    human_agreement: pd.DataFrame,
    *,
    view: View,
    layout: Layout,
    labels: Labels,
    setting: Mapping[str, Mapping[str, float | str | bool]],
    label: str,
    order: list[str],
    names: dict[str, str],
) -> Figure:
    """Cramer's V (left, or above) and Pearson's r by value of the setting: one row per dataset, one line per judge.

    Args:
        position_selection: estimates, see `position_selection.estimate`.
        human_agreement: estimates, see `human_agreement.estimate`; a dataset without human scores has no panel on the
            right.
        setting: for each judge, a dictionary from profile to the value of the varied setting. Numbers are drawn to
            scale, other values at equal distances.
        label: name of the setting.
        order: order of values that are not numbers. Values that are not in `order` follow in alphabetical order.
        names: dictionary from a value of the setting to the text that is written for it.

    Source: after Xu et al. (2026), Figures 6 and 7.
    """
    v = view.rows(position_selection, "study", "strategy", "n", "readout", "cluster", quantity="cramers_v")
    r = view.rows(human_agreement, "study", "strategy", "n", "readout", "cluster", quantity="pearson", criterion=EVERY)
    v, r = (_add_values(table, setting) for table in (v, r))
    place_of, ticks = _places(v["value"], order)
    datasets, judges = v["dataset"].unique(), _swept(v, place_of)
    if not judges:
        reason = f"No judge of study {view.study} has profiles with several values of {label.lower()}"
        return style.nothing(reason, layout)
    with_r = not r[r["judge"].isin(judges)]["estimate"].isna().all()
    rows = len(datasets) * (1 + with_r) // (columns := min(layout.columns, 1 + with_r))
    size = (layout.width_in, layout.height_in * rows + style.scaled(0.5))
    figure, grid = plt.subplots(rows, columns, figsize=size, sharex=True, squeeze=False, layout="constrained")
    axes = _share_scales(grid.reshape(len(datasets), -1))
    apart = 0.03 * min(np.diff(sorted(ticks)), default=1)  # so that intervals of judges do not hide each other
    v, r = (table.assign(x=table["value"].map(place_of)) for table in (v, r))
    for row, dataset in zip(axes, datasets, strict=True):
        _draw_row(row, [table[table["dataset"] == dataset] for table in (v, r)], judges, apart, labels)
        row[0].set_ylabel(f"{labels.dataset(dataset)}\nCramér's V")
    axes[0, 0].set_ylim(0, None)
    _write_values(grid, list(ticks), [names.get(str(text), str(text)) for text in ticks.values()])
    figure.supxlabel(label)
    style.legend_above(figure, 4)
    return figure


def _share_scales(axes: np.ndarray) -> Any:
    """The panels, with a row per dataset and a column per quantity. A column's panels share their vertical axis."""
    for (row, column), axis in np.ndenumerate(axes):
        if row:
            axis.sharey(axes[0, column])
    return axes


def _draw_row(
    axes: Sequence[Axes], tables: Sequence[pd.DataFrame], judges: list[str], apart: float, labels: Labels
) -> None:
    """Draw the panels of one dataset. A panel without estimates is hidden."""
    for axis, estimates in zip(axes, tables, strict=False):
        axis.set_visible(not estimates.empty)
        _draw_panel(axis, estimates, judges, apart, labels)
        axis.set_ylabel("Pearson's r")


def _write_values(axes: Any, places: list[float], texts: list[str]) -> None:
    """Write the values of the setting below the lowest panel of each column."""
    axes[-1, 0].set_xticks(places, texts)
    for column in axes.T:
        [axis for axis in column if axis.get_visible()][-1].tick_params(axis="x", labelbottom=True)


def _draw_panel(axis: Axes, estimates: pd.DataFrame, judges: list[str], apart: float, labels: Labels) -> None:
    """Draw the estimates of one dataset at the values of the setting (`x`), one line per judge, a little apart."""
    for place, judge in enumerate(judges):
        line = estimates[estimates["judge"] == judge].drop_duplicates("x").sort_values("x")
        if line["estimate"].notna().any():
            x, y = line["x"].to_numpy() + apart * (place - (len(judges) - 1) / 2), line["estimate"].to_numpy()
            look = style.look(labels.place_of_judge(judge))
            axis.errorbar(x, y, yerr=style.half_intervals(line), label=labels.judge(judge), **look)


def _add_values(estimates: pd.DataFrame, setting: Mapping[str, Mapping[str, float | str | bool]]) -> pd.DataFrame:
    """The estimates of judges and profiles that have a value of the setting, with the value."""
    rows = [(judge, profile, value) for judge, profiles in setting.items() for profile, value in profiles.items()]
    return estimates.merge(pd.DataFrame(rows, columns=["judge", "profile", "value"]), on=["judge", "profile"])


def _swept(estimates: pd.DataFrame, place_of: Mapping[str, Any]) -> list[str]:
    """The judges with at least two values of the setting, because a line needs two points."""
    points = estimates.assign(place=estimates["value"].map(place_of)).groupby("judge")["place"].nunique()
    return [judge for judge in estimates["judge"].unique() if points[judge] > 1]


def _places(values: pd.Series, order: list[str]) -> tuple[dict[str, Any], dict[float, object]]:
    """Place of each value on the axis, and the label of each place."""
    distinct = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in distinct):
        return {value: float(value) for value in distinct}, {float(value): f"{value:g}" for value in sorted(distinct)}
    rank = {name: place for place, name in enumerate(order)}
    ordered = sorted(distinct, key=lambda value: (rank.get(str(value), len(rank)), str(value)))
    return {value: float(place) for place, value in enumerate(ordered)}, dict(enumerate(ordered))
