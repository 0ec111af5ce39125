"""Differences between judges, and self-preference."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base import flags
from rubric_order.base.keys import EVERY, FEW_CLUSTERS, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import judge_panels, series
from rubric_order.methods.comparisons.judge_panels import Panel
from rubric_order.methods.uncertainty import shares

COLUMNS = {"scores": [*KEYS, *judge_panels.NEEDED]}
NOT_IDENTIFIED = "not identified"  # self-preference where each prompt was read in one order, so places differ too
OUTCOMES = {"position_consistency": 1.0, "preference_fairness": 2.0}  # the value is the largest possible difference


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    forms: Mapping[str, Sequence[str]],
    families: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Consistency and fairness less those of the `other` judge, and ``self_preference``.

    Self-preference: win rate of the judge's family against other candidates, less the same under the other judges.

    Source: Shi et al., Judging the Judges, Figure 6 (against GPT-4, with t-tests); self-preference by a textbook's
    design. Intervals are ours.
    """
    rows: list[Row] = []
    tables = [scores] if isinstance(scores, pd.DataFrame) else scores
    for panel in judge_panels.panels(tables, forms):
        parts = [_differences(panel, confidence), _self_preference(panel, families, confidence)]
        rows += (panel.about | row for part in parts for row in part)
    columns = [*KEYS, "benchmark", "task", "other", "quantity", "estimate", "ci_low", "ci_high", "of_judge", "of_other"]
    columns += ["n_values", "n_clusters", "flag"]
    return tidy.make_table_with_gaps(rows, columns).assign(confidence=confidence)


def _differences(panel: Panel, confidence: float) -> Iterator[Row]:
    units, rows, orders = panel.series()
    if units.empty:
        return
    outcomes = []
    for place in range(len(panel.judges)):
        winners = panel.winners[:, place][rows]
        at = np.argmax(orders == winners[..., None], axis=2) + 1
        places = np.where(winners > series.TIE, at, winners)
        outcomes.append((series.consistent(winners), series.leaning(places, winners, p=panel.p)))
    tasks = units["task"].astype(str).to_numpy()
    group = pd.factorize(units["group_id"])[0]
    for one, judge in enumerate(panel.judges):
        for two, other in enumerate(panel.judges):
            if one == two:
                continue
            for task in [EVERY, *np.unique(tasks)]:
                chosen = np.ones(len(tasks), dtype=bool) if task == EVERY else tasks == task
                if np.isnan(outcomes[one][0][chosen] + outcomes[two][0][chosen]).all():
                    continue  # the two judges have no comparison of the task in common
                for (quantity, bound), mine, theirs in zip(OUTCOMES.items(), outcomes[one], outcomes[two], strict=True):
                    keys = {"judge": judge, "other": other, "task": task, "quantity": quantity}
                    yield keys | _paired(mine[chosen], theirs[chosen], group[chosen], confidence, bound=bound)


def _paired(mine: np.ndarray, theirs: np.ndarray, group: np.ndarray, confidence: float, *, bound: float) -> Row:
    has_both = ~np.isnan(mine) & ~np.isnan(theirs)
    ratio = shares.mean((mine - theirs)[has_both], group[has_both], confidence, bounds=(-bound, bound))
    row: Row = ratio.interval.columns() | {"n_values": ratio.n, "n_clusters": ratio.n_clusters}
    row |= {"flag": flags.FEW_CLUSTERS if ratio.n_clusters < FEW_CLUSTERS else ""}
    if has_both.any():
        row |= {"of_judge": float(mine[has_both].mean()), "of_other": float(theirs[has_both].mean())}
    return row


def _self_preference(panel: Panel, families: Mapping[str, Sequence[str]], confidence: float) -> Iterator[Row]:
    candidates = np.array([list(map(str, row)) for row in panel.reads["candidates"]], dtype=object).reshape(-1, panel.p)
    group, unit = (pd.factorize(panel.reads[name])[0] for name in ("group_id", "unit_id"))
    even = _even(panel)
    for place, judge in enumerate(panel.judges):
        if not families.get(judge):
            continue
        is_family = np.array([[name.startswith(tuple(families[judge])) for name in row] for row in candidates.tolist()])
        # Only prompts with the family and with other candidates count.
        mixed = is_family.any(axis=1) & ~is_family.all(axis=1)
        values = np.stack([_won(panel.winners[:, k], is_family) for k in range(len(panel.judges))], axis=1)[mixed]
        others = [k for k in range(len(panel.judges)) if k != place]
        theirs = {panel.judges[k]: values[:, k] for k in others}
        if len(others) > 1:
            theirs[EVERY] = values[:, others].mean(axis=1)  # NaN unless all other judges have made a choice
        for other, chosen in theirs.items():
            difference = values[:, place] - chosen
            if np.isnan(difference).all():
                continue  # the two judges have no prompt with the family in common
            complete = even[mixed] & ~pd.Series(np.isnan(difference)).groupby(unit[mixed]).transform("any").to_numpy()
            mine = np.where(complete, values[:, place], np.nan)
            row = _paired(mine, chosen, group[mixed], confidence, bound=1.0)
            row |= {} if row["n_values"] else {"flag": NOT_IDENTIFIED}
            yield {"judge": judge, "task": EVERY, "quantity": "self_preference", "other": other} | row


def _even(panel: Panel) -> np.ndarray:
    orders = np.array([[int(digit) for digit in order] for order in panel.reads["order"]]).reshape(-1, panel.p)
    mean_place = pd.DataFrame(orders.argsort(axis=1)).groupby(panel.reads["unit_id"].to_numpy()).transform("mean")
    return np.asarray((mean_place == (panel.p - 1) / 2).all(axis=1))


def _won(winners: np.ndarray, own: np.ndarray) -> np.ndarray:
    chosen = own[np.arange(len(own)), np.maximum(winners - 1, 0)].astype(float)
    return np.where(winners == series.NONE, np.nan, np.where(winners == series.TIE, 0.5, chosen))
