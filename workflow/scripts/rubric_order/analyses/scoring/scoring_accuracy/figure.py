"""Agreement of scores with golden scores under conditions and orders of a prompt, with one row per variant."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

NAMES = {"spearman": "Spearman's ρ", "pearson": "Pearson's r"}


def draw(
    scoring_accuracy: pd.DataFrame,
    *,
    view: View,
    layout: Layout,
    labels: Labels,
    golden: str,
    quantity: str,
    shown: str = "difference",
) -> Figure:
    """A correlation, or its differences from the base: one panel per judge, one row per variant."""
    of_study = rows_with(scoring_accuracy, study=view.study)
    datasets = of_study.loc[of_study["varied"] != "", "dataset"].unique()  # a single dataset has no rows of ``all``
    dataset = datasets[0] if view.dataset == EVERY and len(datasets) == 1 else view.dataset
    reads = view.rows(of_study, "profile", "n", "readout", "cluster", dataset=dataset)
    chosen = rows_with(reads, golden=golden, quantity=quantity)
    if shown == "difference":
        chosen = chosen[chosen["kind"] != "base"]
    if chosen.empty:
        reason = f"No golden scores ({golden}) of dataset {dataset} in study {view.study}"
        return style.nothing(reason, layout)
    chosen = chosen.assign(name=[f"{a}, {b}" for a, b in zip(chosen["varied"], chosen["order"], strict=True)])
    rows, judges = list(dict.fromkeys(chosen["name"])), list(chosen["judge"].unique())
    height = layout.height_in * len(rows) + style.scaled(0.7)
    figure, _, panels = style.panels(len(judges), layout, height_in=height)
    for axis, judge in zip(panels, judges, strict=True):
        of_judge = chosen[chosen["judge"] == judge].set_index("name")
        if shown == "difference":
            _draw_differences(axis, of_judge, rows)
        else:
            _draw_correlations(axis, of_judge, rows)
        axis.set_title(labels.judge(judge))
    figure.supxlabel(NAMES[quantity] + (" less that of the base" if shown == "difference" else ""))
    return figure


def _draw_correlations(axis: Axes, found: pd.DataFrame, rows: list[str]) -> None:
    with_estimate = found[found["estimate"].notna()]
    base = with_estimate.loc[with_estimate["kind"] == "base", "estimate"]
    if len(base):
        axis.axvline(base.iloc[0], zorder=1, **style.no_effect())
    _draw_rows(
        axis, with_estimate["estimate"].to_numpy(), with_estimate.index, style.half_intervals(with_estimate), rows
    )


def _draw_differences(axis: Axes, found: pd.DataFrame, rows: list[str]) -> None:
    neutral = found.loc[found["kind"] == "neutral", "difference"].abs().max()
    if pd.notna(neutral):
        axis.axvspan(-neutral, neutral, color="0.9", zorder=0)
    with_difference = found[found["difference"].notna()]
    value = with_difference["difference"].to_numpy()
    reach = (with_difference["difference_high"] - with_difference["difference"]).fillna(0).to_numpy()
    axis.axvline(0, zorder=1, **style.no_effect())
    _draw_rows(axis, value, with_difference.index, reach, rows)


def _draw_rows(axis: Axes, value: np.ndarray, names: pd.Index, reach: np.ndarray, rows: list[str]) -> None:
    places = [rows.index(name) for name in names]
    axis.errorbar(value, places, xerr=reach, linestyle="none", markersize=style.scaled(3.5), **style.look(0))
    axis.set_yticks(range(len(rows)), rows)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    style.grid_across(axis)
