"""Agreement with people by the order of the criteria, at the same number of reads."""

import pandas as pd

from rubric_order import strategies
from rubric_order.base.keys import MACRO
from rubric_order.tables.columns import Estimated, Flags, Number, away_from_zero, texts, there
from rubric_order.tables.spec import Rows, Table, estimate, same, select, wide

KEYS = ["judge", "dataset", "n", "readout", "cluster"]
HEADS = {name: strategy.head for name, strategy in strategies.STRATEGIES.items() if strategy.head is not None}
NAMES = {name: head.text for name, head in sorted(HEADS.items(), key=lambda item: item[1].place)}


def _rows(criteria_agreement: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset and readout: each strategy, and differences of a first strategy from the others."""
    chosen = select(criteria_agreement, criterion=MACRO)
    present, difference = set(chosen["strategy"]), "pearson_difference"
    first = next((name for name in strategies.COMPARED if name in present), None)
    others = set(select(chosen, quantity=difference, strategy=first)["other"])
    values = [estimate("pearson", f"pearson_{name}", strategy=name) for name in NAMES if name in present]
    values += [
        estimate(difference, f"difference_{name}", "p", "p_holm", "p_bh", strategy=first, other=name)
        for name in NAMES
        if name in others
    ]
    rows = wide(chosen, KEYS, [same("n_clusters"), *values])
    rows.insert(len(KEYS) + 1, "first", first)
    return rows


def _differences(rows: pd.DataFrame) -> list[Estimated]:
    compared = {name: title for name, title in NAMES.items() if f"difference_{name}" in rows}
    heads = {name: f"{NAMES[first]} - {title}" for first in rows["first"].head(1) for name, title in compared.items()}
    columns = {f"difference_{name}": head for name, head in heads.items()}
    return [Estimated(name, "+.3f", name=head, marks=away_from_zero(name)) for name, head in columns.items()]


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile", "cluster", "readouts"),
    columns=[
        *texts("judge", "dataset", "readout"),
        *(Number(f"pearson_{name}", ".2f", name=title, when=there(f"pearson_{name}")) for name, title in NAMES.items()),
        _differences,
        Flags(),
    ],
)
