"""Reading the inputs of a statistic from its files, by the kind of their content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rubric_order.base.levels import LOWEST
from rubric_order.contracts.contract import Contract
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.contracts.items import ITEMS, PAIRS, REFERENCES
from rubric_order.contracts.scores import SCORES

CONTRACTS: Mapping[str, Contract] = {  # from an argument to its contract; all other arguments take estimates
    **dict.fromkeys(("scores", "alone", "golden"), SCORES),
    "items": ITEMS,
    "pairs": PAIRS,
    "references": REFERENCES,
}


def read(columns: Mapping[str, Sequence[str]], inputs: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """Tables by argument of a statistic's `estimate`: scores one file after another, others whole.

    `columns` has the columns of an argument; arguments that are not in it get all.
    """
    import pandas as pd

    from rubric_order.base import files

    tables: dict[str, Any] = {}
    for name, paths in inputs.items():
        wanted, contract = columns.get(name), CONTRACTS.get(name, ESTIMATES)
        if contract is SCORES:
            tables[name] = contract.read_each(paths, wanted, where_there=[LOWEST])
        elif name == "published":
            tables[name] = {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths}
        elif name == "answers":
            tables[name] = {path.stem: files.read_json(path) for path in paths}
        else:
            tables[name] = contract.read(*paths, columns=wanted)
    return tables
