"""Tests that decide a card."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import order_tests as method

_SAME = [*KEYS, "readout", "cluster"]
COLUMNS = {
    "decisiveness": [*KEYS, "n_reads", "known_share", "exponent_low", "exponent_high", "crossed"],
    "position_selection": [*_SAME, "quantity", "p_cluster", "p_rotation"],
    "position_preference": [*_SAME, "quantity", "p", "p_cluster", "temperature"],
    "score_effects": [*_SAME, "quantity", "p_order"],
}


def estimate(
    *,
    decisiveness: pd.DataFrame,
    position_selection: pd.DataFrame,
    position_preference: pd.DataFrame,
    score_effects: pd.DataFrame,
) -> pd.DataFrame:
    """Deciding tests (`order_tests.TESTS`) with `p_card`: Holm's adjustment for the `n_tests` of one card.

    Dataset ``all``: a study's datasets together. Tests that do not decide have no row.
    """
    tests = [_selection(position_selection), *_preference(position_preference), *_points(score_effects)]
    p: dict[tuple[Any, ...], dict[method.Test, float]] = {}
    for *key, readout, cluster, test, value in pd.concat(tests).itertuples(index=False, name=None):
        p.setdefault((*key, cluster), {})[readout, test] = value
    deciding = _deciding(decisiveness, position_preference)
    rows = [
        row
        for key, p_values in p.items()
        if key[:-1] in deciding
        for row in _key_rows(key, p_values, deciding[key[:-1]])
    ]
    columns = [*KEYS, "cluster", "readout", "test", "p", "p_card", "finding", "level", "n_tests"]
    return tidy.make_table(rows, columns, {"finding": "bool"})


def _key_rows(key: tuple[Any, ...], p: dict[method.Test, float], by: method.Deciding) -> Iterator[Row]:
    keys = dict(zip([*KEYS, "cluster"], key, strict=True))
    adjusted = method.adjusted(p, keys["n"], by)
    for (readout, test), value in adjusted.items():
        yield keys | {
            "readout": readout,
            "test": test,
            "p": p[readout, test],
            "p_card": value,
            "finding": (readout, test) in method.findings(adjusted),
            "level": method.LEVEL,
            "n_tests": len(adjusted),
        }


def _deciding(decisiveness: pd.DataFrame, position_preference: pd.DataFrame) -> dict[tuple[Any, ...], method.Deciding]:
    temperatures = position_preference.drop_duplicates(KEYS).set_index(KEYS)["temperature"].astype(float).to_dict()
    readouts: dict[tuple[Any, ...], method.Deciding] = {}
    together: dict[tuple[Any, ...], list[tuple[bool, float, bool, bool]]] = {}
    for row in decisiveness.to_dict("records"):
        key = tuple(row[name] for name in KEYS)
        temperature = temperatures.get(key, math.nan)
        drawn = method.drawn_as_they_are(row["exponent_low"], row["exponent_high"], temperature)
        judged = bool(row["n_reads"]), float(row["known_share"]), drawn, bool(row["crossed"])
        readouts[key] = method.deciding(hard=judged[0], known=judged[1], drawn=drawn, crossed=judged[3])
        together.setdefault(tuple(EVERY if name == "dataset" else row[name] for name in KEYS), []).append(judged)
    for key, parts in together.items():
        written, known_shares, as_they_are, crossed = zip(*parts, strict=True)
        readouts[key] = method.deciding(
            hard=any(written), known=min(known_shares), drawn=all(as_they_are), crossed=all(crossed)
        )
    return readouts


def _selection(position_selection: pd.DataFrame) -> pd.DataFrame:
    part = position_selection[position_selection["quantity"] == "chi2"]
    part = part[_SAME].assign(test=method.SELECTION, p=part[["p_cluster", "p_rotation"]].max(axis=1))
    of_study = [name for name in _SAME if name != "dataset"]
    alone = part[part.groupby(of_study)["dataset"].transform("nunique") == 1]
    return pd.concat([part, alone.assign(dataset=EVERY)], ignore_index=True)


def _preference(position_preference: pd.DataFrame) -> list[pd.DataFrame]:
    kinds = (("no_preference", method.PREFERENCE, "p_cluster"), ("interaction", method.INTERACTION, "p"))
    return [_select_tests(position_preference, *kind) for kind in kinds]


def _points(score_effects: pd.DataFrame) -> list[pd.DataFrame]:
    kinds = (("order_test", method.POINTS, "p_order"), ("usual_minus_balanced", method.USUAL, "p_order"))
    return [_select_tests(score_effects, *kind) for kind in kinds]


def _select_tests(table: pd.DataFrame, quantity: str, test: str, column: str) -> pd.DataFrame:
    part = table[table["quantity"] == quantity]
    return part[_SAME].assign(test=test, p=part[column].astype(float))
