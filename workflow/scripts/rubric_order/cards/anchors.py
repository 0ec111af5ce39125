"""Anchors: means of each group of a suite of items, for comparison with a later run. A card stores them as JSON."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.errors import InputError
from rubric_order.base.keys import KEYS
from rubric_order.base.readouts import READ
from rubric_order.base.rows import places_of

NAME = "anchors"  # the statistic
QUANTITIES = ("score", "order", "ends", "failed")  # each group has a mean of each quantity, see statistic `anchors`


@dataclass(frozen=True)
class Anchors:
    """Means of each group of a suite in one run: `values` by readout and quantity, shape (n_groups,), by group id; NaN
    for none.

    Runs of one `suite`, a digest of items, groups, orderings and repeats, can be compared. `items`: number in each
    group; `names`: ids of its items, where known.
    """

    suite: str
    items: np.ndarray
    values: Mapping[tuple[str, str], np.ndarray]
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The anchors as JSON has them: a value that is not known is None."""
        values: dict[str, dict[str, list[float | None]]] = {}
        for (readout, quantity), means in self.values.items():
            listed = [None if math.isnan(mean) else mean for mean in means.tolist()]
            values.setdefault(str(readout), {})[quantity] = listed
        names = {"names": {group: list(items) for group, items in self.names.items()}} if self.names else {}
        return {"suite": self.suite, "items": self.items.tolist(), "values": values, **names}

    def drop_names(self) -> "Anchors":
        """The anchors without names of items."""
        return Anchors(self.suite, self.items, self.values)

    @classmethod
    def of(cls, content: Mapping[str, Any], where: object) -> "Anchors":
        """Anchors from the output of `to_dict`, checked; `where` names the file in errors."""
        items = np.array(content["items"], dtype=int)
        values = {}
        for readout, quantities in content["values"].items():
            for quantity, means in quantities.items():
                place = f"{where}: anchors: values: {readout}: {quantity}"
                if readout not in READ or quantity not in QUANTITIES:
                    raise InputError(f"{place:.200}: unknown; expected hard or soft, and {', '.join(QUANTITIES)}")
                if len(means) != len(items):
                    raise InputError(f"{place}: {len(means)} values; expected one for each of {len(items)} groups")
                values[readout, quantity] = np.array([math.nan if mean is None else mean for mean in means])
        names = content.get("names", {})
        if names and [len(items_of) for items_of in names.values()] != items.tolist():
            raise InputError(f"{where}: anchors: names: expected the items of each of {len(items)} groups")
        return cls(content["suite"], items, values, names)


def gather(table: pd.DataFrame | None) -> dict[tuple[Any, ...], Anchors]:
    """Dictionary from the values of `KEYS` to the anchors of these reads; empty if the statistic was not computed."""
    if table is None:
        return {}
    means, sizes = table["estimate"].to_numpy(dtype=float), table["n_items"].to_numpy(dtype=int)
    group_ids, item_ids, suites = (table[name].tolist() for name in ("group_id", "items", "suite"))
    parts: dict[tuple[Any, ...], dict[tuple[str, str], list[int]]] = {}
    rows_of = places_of(*(table[name].tolist() for name in (*KEYS, "readout", "quantity")))
    for (*keys, readout, quantity), rows in rows_of.items():
        parts.setdefault(tuple(keys), {})[readout, quantity] = rows
    anchors = {}
    for key, of_key in parts.items():
        values = {of: means[rows] for of, rows in of_key.items()}
        rows = list(of_key.values())[-1]  # every quantity has the same groups
        names = {str(group_ids[row]): json.loads(item_ids[row]) for row in rows}
        anchors[key] = Anchors(str(suites[rows[0]]), sizes[rows], values, names)
    return anchors
