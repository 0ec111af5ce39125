"""Comparisons that judges disagree about."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base.keys import EVERY, KEYS
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import judge_panels, series

COLUMNS = {"scores": [*KEYS, *judge_panels.NEEDED]}
LEAST_JUDGES = 3


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, forms: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Difficulty of each comparison that three judges or more have all read in every order.

    `disagreement`: number of judges off the commonest choice, mean over orders. `consistent`: share of judges with one
    winner, or a tie, in all orders. `gap`: `win_rate` from 1/p.

    Source: Shi et al., Judging the Judges, Appendix C.2 and Section 2.3.
    """
    parts = []
    for panel in judge_panels.panels([scores] if isinstance(scores, pd.DataFrame) else scores, forms):
        judges = len(panel.judges)
        panel = panel.common()
        if judges < LEAST_JUDGES or panel.reads.empty:
            continue
        off = judge_panels.off_the_mode(panel.winners, panel.p)
        reads = panel.reads.assign(row=np.arange(len(panel.reads)), off=off)
        size = reads.groupby("unit_id")["order"].transform("size")
        whole = reads[size == size.max()]
        rows = whole["row"].to_numpy().reshape(-1, int(size.max()))
        first = whole.drop_duplicates("unit_id")
        units = first.drop(columns=["order", "row", "off", "candidates"])
        compared = zip(first["candidates"], first["candidate"], strict=True)
        candidate = np.array(
            [1 if pd.isna(name) else list(candidates).index(name) + 1 for candidates, name in compared]
        )
        agreed, rates = [], []
        for place in range(judges):
            winners = panel.winners[:, place][rows]
            agreed.append(series.consistent(winners))
            rates.append(series.overall_win_rate(winners, candidate=candidate, p=panel.p))
        rate = _mean(np.stack(rates))
        parts.append(
            units.assign(
                **panel.about,
                judge=EVERY,
                disagreement=off[rows].mean(axis=1),
                n_judges=judges,
                consistent=_mean(np.stack(agreed)),
                win_rate=rate,
                gap=np.abs(rate - 1 / panel.p),
            )
        )
    columns = [*KEYS, "benchmark", "unit_id", "group_id", "task", "candidate", "disagreement", "n_judges"]
    columns += ["consistent", "win_rate", "gap"]
    table = pd.concat(parts) if parts else pd.DataFrame(columns=columns)
    return tidy.make_table_with_gaps(table.to_dict("records"), columns)


def _mean(values: np.ndarray) -> np.ndarray:
    has_value = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(has_value, values, 0).sum(axis=0) / has_value.sum(axis=0)
