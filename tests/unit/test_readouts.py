"""Readouts in files: a table says hard or soft in plain text, however its rows were made."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest
from factories import simulated_reads

from rubric_order.base import parquet
from rubric_order.base.keys import KEYS
from rubric_order.base.readouts import READ
from rubric_order.cards.card import cards
from rubric_order.library import estimates
from rubric_order.methods import tidy

ABOUT = {key: 5 if key == "n" else key for key in KEYS}
COLUMNS = [*KEYS, "readout", "estimate"]


def rows_of(readouts):
    return [ABOUT | {"readout": readout, "estimate": 0.5} for readout in readouts]


MADE = {
    "rows": lambda readouts: tidy.make_table(rows_of(readouts), COLUMNS),
    "rows with gaps": lambda readouts: tidy.make_table_with_gaps(rows_of(readouts), COLUMNS),
    "shared": lambda readouts: tidy.join_parts([(row, {"estimate": [0.5, 0.6]}) for row in rows_of(readouts)], COLUMNS),
    "of a row": lambda readouts: tidy.join_parts([(ABOUT, {"readout": readouts, "estimate": 0.5})], COLUMNS),
    "one value": lambda readouts: tidy.join_parts([(ABOUT, {"readout": readouts[0], "estimate": 0.5})], COLUMNS),
    "assigned": lambda readouts: pd.DataFrame({"estimate": [0.5, 0.6]}).assign(readout=readouts),
    "objects": lambda readouts: pd.DataFrame({"readout": pd.Series(readouts, dtype=object)}),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_a_written_table_has_plain_strings(made, tmp_path):
    for name, readouts in {"plain": ["hard", "soft"], "enum": list(READ)}.items():
        table = made(readouts)
        parquet.write(table, tmp_path / f"{name}.parquet")
        table.to_csv(tmp_path / f"{name}.csv")
        table.to_json(tmp_path / f"{name}.json")
    for ending in ("parquet", "csv", "json"):
        assert (tmp_path / f"enum.{ending}").read_bytes() == (tmp_path / f"plain.{ending}").read_bytes()
    assert {type(value) for value in pq.read_table(tmp_path / "enum.parquet")["readout"].to_pylist()} == {str}
    assert made(list(READ)).dtypes.equals(made(["hard", "soft"]).dtypes)


def test_statistics_and_cards_have_plain_strings():
    statistics = estimates.card_statistics(simulated_reads(groups=12, strategies=["balanced"]))
    for table in statistics.values():
        if "readout" in table:
            assert {type(value) for value in table["readout"]} <= {str}, table
    (card,) = (card.to_dict() for card in cards(statistics))
    names = [*card["decided_by"].values(), *card["readouts"], card["single_items"]["readout"]]
    assert {type(name) for name in names} == {str}
    assert card["decided_by"] == {"log_odds": "hard", "points": "hard"}
    assert json.loads(json.dumps(card["decided_by"])) == card["decided_by"]
