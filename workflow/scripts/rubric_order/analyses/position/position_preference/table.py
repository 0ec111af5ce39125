"""Amount that each position adds to the log-odds of a score."""

import pandas as pd

from rubric_order.tables.columns import Estimated, OrderPValue, cell, percent, texts
from rubric_order.tables.spec import ENDS, Rows, Table, card_tests, estimate, select, taken, wide

KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
OF_POSITION = {column: f"preference{end}" for column, end in ENDS.items()}
VALUES = [*KEYS, "position", *OF_POSITION.values(), "p_cluster", "n_pairs", "n_clusters"]
MORE = ["differing", "n_items", "n_reads", "temperature", "unit", "flag"]


def _rows(position_preference: pd.DataFrame, order_tests: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, profile, dataset (``all``: all datasets), strategy, scale, readout and position."""
    of_all = [
        taken("no_preference", "p_cluster", "p_holm", "p_bh", "n_tests"),
        taken("no_interaction", p="p_interaction"),
        *("first_last", "ends_middle", estimate("interaction", "", "p")),
        card_tests(order_tests, KEYS, "preference"),
        card_tests(order_tests, KEYS, "interaction", "interaction_p_card"),
    ]
    tests = wide(position_preference, KEYS, of_all)
    rows = select(position_preference, quantity="preference").rename(columns=OF_POSITION)
    rows = rows.drop(columns=["p_cluster", "p_holm", "p_bh", "n_tests"]).merge(tests, on=KEYS, how="left")
    return rows[[*VALUES, *tests.columns.difference(VALUES, sort=False), *MORE]]


def _positions(rows: pd.DataFrame) -> range:
    return range(1, rows["n"].max() + 1 if len(rows) else 1)


def _add_positions(rows: pd.DataFrame) -> pd.DataFrame:
    named = rows.rename(columns={name: column for column, name in OF_POSITION.items()}).assign(quantity="preference")
    values = [estimate("preference", f"pos{k}", position=k) for k in _positions(rows)]
    return select(rows, position=1).merge(wide(named, KEYS, values), on=KEYS)


def _position_column(k: int) -> Estimated:
    return Estimated(f"pos{k}", "+.2f", name=f"Pos{k}", where=lambda rows: rows["n"] >= k)


TABLE = Table(
    rows=Rows(_rows, "study", "cluster"),
    columns=[
        *texts("judge", "profile", "dataset", "strategy", "n", "readout"),
        lambda rows: map(_position_column, _positions(rows)),
        Estimated("first_last", "+.2f", name="first - last"),
        OrderPValue("p_cluster", name="p", card="p_card"),
        OrderPValue("interaction_p", name="p of interaction", card="interaction_p_card"),
        cell("differing", lambda row: percent(row["differing"], 1)),
        *texts(n_pairs="pairs", flag="flag"),
    ],
    printed=_add_positions,
)
