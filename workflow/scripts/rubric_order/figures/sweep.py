"""What position bias and agreement with people do as one setting of the judges varies."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.figures import style

CAPTION = (
    "Cramér's V of position selection (left) and Pearson's r with human scores (right) by the judges' setting (axis: "
    "{label}), under strategy {strategy}, with {bootstrap[confidence]:.0%} bootstrap intervals over {cluster}s. One "
    "row a dataset, one line a judge. After Xu et al. (2026), Figures 6 (temperature) and 7 (reasoning effort)."
)


def draw(
    position_selection: pd.DataFrame,
    human_agreement: pd.DataFrame,
    *,
    setting: Mapping[str, Mapping[str, float | str | bool]],
    study: str,
    strategy: str,
    n: int,
    readout: str,
    cluster: str,
    label: str,
    order: list[str],
    width_in: float,
    panel_height_in: float,
    labels: Labels,
    names: dict[str, str],
) -> Figure:
    """Cramer's V (left) and Pearson's r (right) against the setting: one row a dataset, one line a judge.

    Args:
        position_selection: see `position_selection.estimate`.
        human_agreement: see `human_agreement.estimate`; a dataset without human scores has no panel on the right.
        setting: what is varied, as its values by judge and profile. Numbers are drawn to scale, other values at equal
            distances.
        study, strategy, n, readout: which reads to draw.
        cluster: ``item`` or ``group``: what the bootstrap draws.
        label: of the setting.
        order: of values that are not numbers; others follow in the order of the alphabet.
        width_in, panel_height_in: width of the figure and height of a panel in inches.
        labels: of judges and datasets.
        names: how to write the values of the setting.

    Source: after Xu et al. (2026), Figures 6 and 7.
    """
    reads = "study == @study and strategy == @strategy and n == @n and readout == @readout and cluster == @cluster"
    v = position_selection.query(f"{reads} and quantity == 'cramers_v'")
    r = human_agreement.query(f"{reads} and quantity == 'pearson' and criterion == '{EVERY}'")
    known = [(judge, profile, value) for judge, profiles in setting.items() for profile, value in profiles.items()]
    varied = pd.DataFrame(known, columns=["judge", "profile", "value"])
    v, r = (table.merge(varied, on=["judge", "profile"]) for table in (v, r))
    place_of, ticks = _places(v["value"], order)
    datasets = list(v["dataset"].unique())
    # A line needs two points: judges that do not vary the setting are not part of the sweep.
    points = v.assign(place=v["value"].map(place_of)).groupby("judge")["place"].nunique()
    judges = [judge for judge in v["judge"].unique() if points[judge] > 1]
    if not judges:
        reason = f"No judge of study {study} has profiles with several values of {label.lower()}"
        return style.nothing(reason, width_in=width_in, height_in=1.0)
    with_r = not r[r["judge"].isin(judges)]["estimate"].isna().all()
    figure, axes = plt.subplots(
        len(datasets),
        1 + with_r,
        figsize=(width_in, panel_height_in * len(datasets) + 0.5),
        sharex=True,
        sharey="col",
        squeeze=False,
        layout="constrained",
    )
    distances = np.diff(sorted(ticks))
    apart = 0.03 * (min(distances) if len(distances) else 1)  # so that intervals of judges do not hide each other
    for row, dataset in zip(axes, datasets, strict=True):
        for axis, table in zip(row, (v, r), strict=False):
            for place, judge in enumerate(judges):
                line = table[(table["judge"] == judge) & (table["dataset"] == dataset)]
                line = line.assign(x=line["value"].map(place_of)).drop_duplicates("x").sort_values("x")
                if line["estimate"].notna().any():
                    x = line["x"].to_numpy() + apart * (place - (len(judges) - 1) / 2)
                    y = line["estimate"].to_numpy()
                    spread = np.nan_to_num(np.abs(line[["ci_low", "ci_high"]].to_numpy().T - y))
                    axis.errorbar(
                        x, y, yerr=spread, label=labels.judge(judge), **style.look(labels.place_of_judge(judge))
                    )
        row[0].set_ylabel(f"{labels.dataset(dataset)}\nCramér's V")
        if with_r:
            if table[table["dataset"] == dataset].empty:
                row[1].set_visible(False)
            row[1].set_ylabel("Pearson's r")
    axes[0, 0].set_ylim(0, None)
    axes[-1, 0].set_xticks(list(ticks), [names.get(str(text), str(text)) for text in ticks.values()])
    for column in axes.T:
        lowest = [axis for axis in column if axis.get_visible()][-1]
        lowest.tick_params(axis="x", labelbottom=True)
    figure.supxlabel(label)
    entries = style.legend_entries(list(axes.flat))
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=min(len(entries), 4))
    return figure


def _places(values: pd.Series, order: list[str]) -> tuple[dict, dict[float, object]]:
    """Where each value stands on the axis, and the label of each place."""
    distinct = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in distinct):
        return {value: float(value) for value in distinct}, {float(value): f"{value:g}" for value in sorted(distinct)}
    rank = {name: place for place, name in enumerate(order)}
    ordered = sorted(distinct, key=lambda value: (rank.get(str(value), len(rank)), str(value)))
    return {value: float(place) for place, value in enumerate(ordered)}, dict(enumerate(ordered))
