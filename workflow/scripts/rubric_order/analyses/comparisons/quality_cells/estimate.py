"""Cells of judge, candidate and task."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import KEYS
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import quality_gap, series

COLUMNS = {"scores": [*KEYS, *quality_gap.NEEDED]}
CURVE = np.linspace(-5, 5, 101)  # log-odds


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, seed: int, forms: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Points of Shi et al.'s scatter plots, cross-fitted points, and a curve implied by beta alone.

    `kind`: ``own``, all from the same comparisons; ``others``, win rate from the other judges; ``crossed``, win rate
    from the other half of the questions; ``implied``, a judge of quality and position alone (`quality_gap.implied`).

    Source: Shi et al., Judging the Judges, Figures 2 and 5; cross-fitting and the curve are ours.
    """
    parts = []
    for setting, table in quality_gap.settings(
        [scores] if isinstance(scores, pd.DataFrame) else scores, forms, lists=True
    ):
        groups = np.sort(table["group_id"].unique())
        drawn = randomness.generator(seed, "halves", *map(str, setting.values())).permutation(len(groups)) % 2
        half = table["group_id"].map(dict(zip(groups, drawn, strict=True)))
        whole = _cells(table)
        parts.append(whole.assign(kind="own", **setting))
        with_others = whole[whole["rate_others"].notna()]
        parts.append(with_others.assign(kind="others", win_rate=with_others["rate_others"], **setting))
        for number in (0, 1):
            seen, other = _cells(table[half == number]), _cells(table[half != number])
            both = seen.merge(other[[*quality_gap.CELL, "win_rate"]], on=quality_gap.CELL, suffixes=("_own", ""))
            parts.append(both.assign(kind="crossed", **setting))
        if setting["n"] == 2:
            parts += [
                _curve(block).assign(judge=judge, kind="implied", **setting) for judge, block in table.groupby("judge")
            ]
    columns = [*KEYS, "benchmark", "candidate", "task", "kind", "win_rate", "position_consistency"]
    columns += ["preference_fairness", "n_values"]
    rows = pd.concat(parts, ignore_index=True).to_dict("records") if parts else []
    return tidy.make_table_with_gaps(rows, columns)


def _cells(table: pd.DataFrame) -> pd.DataFrame:
    return table.groupby(quality_gap.CELL, as_index=False).agg(
        position_consistency=("consistent", "mean"),
        preference_fairness=("leaning", "mean"),
        win_rate=("won", "mean"),
        rate_others=("rate_others", "first"),
        n_values=("won", "size"),
    )


def _curve(block: pd.DataFrame) -> pd.DataFrame:
    cluster = pd.factorize(block["group_id"])[0]
    fit, _ = series.place_preference(np.stack(block["winners"]), np.stack(block["shown"]), cluster)
    beta, _ = fit.contrast(series.first_last(2))
    if np.isnan(beta):
        return pd.DataFrame(columns=["win_rate", "position_consistency", "preference_fairness"])
    rate, consistency, fairness = quality_gap.implied(beta, CURVE)
    return pd.DataFrame({"win_rate": rate, "position_consistency": consistency, "preference_fairness": fairness})
