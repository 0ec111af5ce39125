"""Strengths and ranks of candidates, with and without the effect of positions."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Number, different, each_row, equal, numbers, texts, written
from rubric_order.tables.spec import ENDS, Rows, Table, estimate, select, taken, wide

KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "n", "candidate"]
MODELS = {"with places": "places", "without places": "no_places", "first order": "first", "last order": "last"}
QUANTITIES = ("strength", "rank", "reversals")
OF_MODELS = [f"{of}_{short}{end}" for of in QUANTITIES for short in MODELS.values() for end in ENDS.values()]
OF_ALL = [
    estimate("first_last", model="with places"),
    estimate("first_last", "first_last_rao_kupper", model="Rao-Kupper"),
    taken({"model": "with places", "quantity": ["strength", "first_last"]}, "n_reads", "n_clusters", "flag"),
]
SINGLE, ALL = different("candidate", EVERY), equal("candidate", EVERY)
LAST = each_row(lambda row: f", orders {written(row['reversals_last'])}")


def _rows(strengths: pd.DataFrame) -> pd.DataFrame:
    """One row per candidate of each judge and benchmark, the strongest first, and then a row ``all``."""
    rows = strengths[KEYS].drop_duplicates()
    for model, short in MODELS.items():
        values = [estimate(quantity, f"{quantity}_{short}") for quantity in (*QUANTITIES, "tie")]
        part = wide(select(strengths, model=model), KEYS, values)
        rows = rows.merge(part.dropna(axis="columns", how="all") if len(part) else part, on=KEYS, how="left")
    rows = rows.merge(wide(strengths, KEYS, OF_ALL), on=KEYS)
    rows = rows.reindex(columns=[*rows, *(name for name in OF_MODELS if name not in rows)])
    block, is_all = rows.groupby(KEYS[:-1], sort=False).ngroup(), ALL(rows)
    order = rows.assign(block=block, is_all=is_all).sort_values(["block", "is_all", "rank_places"], kind="stable")
    return order.drop(columns=["block", "is_all"])


TABLE = Table(
    rows=Rows(_rows, "study"),
    columns=[
        *texts("judge", "benchmark", "candidate"),
        Estimated("strength_places", "+.2f", name="strength", where=SINGLE),
        Estimated("rank_places", ".3g", name="rank", where=SINGLE),
        *numbers("+.2f", strength_no_places="without positions", strength_first="first order", where=SINGLE),
        Number("strength_last", "+.2f", name="last order", where=SINGLE),
        Estimated("first_last", "+.2f", name="first position", where=ALL),
        Number("reversals_no_places", name="reversed", where=ALL, marks=LAST),
        *texts(n_reads="reads", flag="flag"),
    ],
)
