"""Frequency of each score under conditions and orders of a prompt: one heat map per judge."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View


def draw(
    scoring_tendency: pd.DataFrame, *, view: View, layout: Layout, labels: Labels, also: Sequence[str] = ()
) -> Figure:
    """Counts of scores: one panel per judge, one row per variant or source of golden scores."""
    studies = list(dict.fromkeys((view.study, *also)))
    of_studies = rows_with(scoring_tendency, study=studies)
    datasets = of_studies["dataset"].unique()  # a single dataset has no rows of ``all``
    dataset = datasets[0] if view.dataset == EVERY and len(datasets) == 1 else view.dataset
    chosen = view.rows(of_studies, "profile", "n", dataset=dataset)
    chosen = chosen.sort_values("study", key=lambda names: names.map(studies.index), kind="stable")
    chosen = chosen.drop_duplicates(["judge", "varied", "order", "score"])
    if chosen.empty:
        reason = f"No study {view.study} with several conditions or orders of dataset {dataset}"
        return style.nothing(reason, layout)
    variants = [", ".join(filter(None, row)) for row in zip(chosen["varied"], chosen["order"], strict=True)]
    chosen = chosen.assign(name=variants)
    rows, scores = list(dict.fromkeys(variants)), sorted(chosen["score"].unique())
    judges = list(chosen["judge"].unique())
    height = layout.height_in * len(rows) + style.scaled(0.7)
    figure, _, panels = style.panels(len(judges), layout, height_in=height)
    for axis, judge in zip(panels, judges, strict=True):
        counts = chosen[chosen["judge"] == judge].pivot_table(index="name", columns="score", values="n_scores")
        _draw_panel(axis, counts.reindex(index=rows, columns=scores).to_numpy(), rows, scores)
        axis.set_title(labels.judge(judge))
    figure.supxlabel("Score")
    return figure


def _draw_panel(axis: Axes, counts: np.ndarray, rows: list[str], scores: list[int]) -> None:
    axis.imshow(np.nan_to_num(counts), aspect="auto", cmap="Blues", vmin=0)
    dark = np.nanmax(counts) / 2 if np.isfinite(counts).any() else 0
    for (row, column), count in np.ndenumerate(counts):
        if not np.isnan(count):
            colour = "white" if count > dark else "black"
            axis.text(column, row, f"{count:.0f}", ha="center", va="center", fontsize=style.scaled(6), color=colour)
    axis.set_xticks(range(len(scores)), ["none" if score < 0 else str(score) for score in scores])
    axis.set_yticks(range(len(rows)), rows)
    axis.grid(visible=False)
    axis.tick_params(length=0)
