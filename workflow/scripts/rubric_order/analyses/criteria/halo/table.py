"""Correlation between the criteria's scores: judged in one prompt, judged alone, and judged by people."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, known, stars, texts
from rubric_order.tables.spec import Rows, Table, same, taken, wide

KEYS = ["judge", "dataset", "strategy", "n", "readout", "basis"]
QUANTITIES = {"inside": "one prompt", "alone": "alone", "human": "people"}
TESTED = {"inside_minus_alone": "one prompt - alone", "inside_minus_human": "one prompt - people"}


def _rows(halo: pd.DataFrame) -> pd.DataFrame:
    n_groups = halo.assign(n_groups=halo["n_groups"].replace(0, None)).groupby(KEYS)["n_groups"].min().fillna(0)
    tests = [taken(name, "p", "p_holm", "p_bh", prefix=f"{name}_") for name in TESTED]
    return wide(halo, KEYS, [same("n_texts"), n_groups, same("n_reads"), *QUANTITIES, *TESTED, *tests])


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile", "readouts"),
    columns=[
        *texts("judge", "dataset", "strategy", "readout", "basis", n_reads="reads"),
        *(Estimated(name, name=head, when=known(name)) for name, head in QUANTITIES.items()),
        *(Estimated(name, name=head, when=known(name), marks=stars(f"{name}_p_holm")) for name, head in TESTED.items()),
        Flags("n_groups"),
    ],
)
