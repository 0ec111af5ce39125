"""Reads of comparisons as statistics need them: winners and positions as numbers, orders as strings."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from rubric_order.methods.comparisons import series


def prepared(block: pd.DataFrame, forms: Sequence[str] | None) -> pd.DataFrame:
    """Add `winner` and `place` (`series.NONE` without a choice in one of `forms`), `order` as digits, and `cell`, which
    names candidate (or all) and task.
    """
    has_choice = block["score"].notna()
    if forms is not None:
        has_choice &= block["pattern"].isin(forms)
    cell = block["candidate"].astype(object)
    cell = cell.where(cell.notna(), block["candidates"].map(lambda names: " ".join(map(str, names))))
    return block.assign(
        winner=np.where(has_choice, block["score"].fillna(0).astype(int), series.NONE),
        place=np.where(has_choice, block["position"].fillna(0).astype(int), series.NONE),
        order=block["ordering"].map(lambda ordering: "".join(map(str, ordering))),
        cell=cell.astype(str) + "\n" + block["task"].astype(str),
    ).reset_index(drop=True)


def use_first_verdicts(block: pd.DataFrame) -> pd.DataFrame:
    """Replace the choice in each read by the first verdict of the answer, column `first_verdict`."""
    place = block["first_verdict"]
    chosen = [
        at if pd.isna(at) or at == series.TIE else ordering[at - 1]
        for at, ordering in zip(place, block["ordering"], strict=True)
    ]
    return block.assign(score=pd.array(chosen, dtype="Int8"), position=place)


def first_run(block: pd.DataFrame) -> pd.DataFrame:
    """Reads of the first run with some comparison in several orders (else of the first), each order once."""
    first = block.drop_duplicates(["unit_id", "repeat", "order"])
    sizes = first.groupby(["repeat", "unit_id"]).size()
    runs = sizes[sizes > 1].index.get_level_values("repeat")
    return first[first["repeat"] == (runs.min() if len(runs) else first["repeat"].min())].sort_values(
        ["unit_id", "order"], ignore_index=True
    )
