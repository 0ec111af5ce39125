"""Consistency and fairness of judges that choose from lists, and the effect of each position."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import UNDEFINED, Estimated, Number, Row, cell, estimates, flags, texts
from rubric_order.tables.spec import Rows, Table, estimate, join_flags, select, taken, wide

KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "n"]
CHANCE, EVEN = "consistency_by_chance", "fairness_of_even_places"  # without intervals
VALUES = ["repetition_stability", "position_consistency", taken(CHANCE, estimate=CHANCE), "preference_fairness"]
VALUES += [taken(EVEN, estimate=EVEN), "strict_flips", "soft_flips", "error_rate", "first_last", "excess"]
COUNTS = taken("position_consistency", n_values="n_lists", n_clusters="n_questions")


def _rows(position_consistency: pd.DataFrame) -> pd.DataFrame:
    chosen = select(position_consistency, cluster="group", task=EVERY)
    places = range(1, chosen["n"].max() + 1) if len(chosen) else ()
    worth = [estimate("place_preference", f"place_{place}", position=place) for place in places]
    rows = wide(chosen, KEYS, [*VALUES, *worth, COUNTS]).fillna({"n_lists": 0, "n_questions": 0})
    rows = rows.astype({"n_lists": "Int64", "n_questions": "Int64"}).assign(flag=flags(rows["n_questions"]))
    return rows.assign(flag=join_flags(rows, select(chosen, quantity="first_last"), KEYS, "beta:"))


def _worth(row: Row) -> str:
    worth = [row.get(f"place_{place}") for place in range(1, row["n"] + 1)]
    return " ".join(f"{value:+.2f}" for value in worth) if pd.notna(worth).all() else UNDEFINED


TABLE = Table(
    rows=Rows(_rows, "study"),
    columns=[
        *texts("judge", "profile", "benchmark", "strategy", n="length"),
        *estimates(".2f", repetition_stability="RS", position_consistency="PC"),
        Number(CHANCE, ".2f", name="chance"),
        Estimated("preference_fairness", "+.2f", name="PF"),
        Number(EVEN, "+.2f", name="even"),
        Number("strict_flips", ".2f", name="two winners"),
        cell("positions", _worth),
        Estimated("first_last", "+.2f", name="beta"),
        Number("error_rate", name="errors"),
        *texts(n_lists="lists", flag="flag"),
    ],
)
