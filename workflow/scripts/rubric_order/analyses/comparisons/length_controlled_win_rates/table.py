"""Win rates of candidates: as measured, and as they would be if all texts had the same length."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Text, estimates, texts, varied
from rubric_order.tables.spec import Rows, Table, Value, taken, wide

CAPTION = (
    "Win rates of candidates over the candidates that they are compared with, a tie as a half, and the same win rates "
    "at a difference of lengths of 0 (without length). The latter come from the regression of AlpacaEval's length "
    "control: strengths of candidates, tanh of the standardised difference of lengths, position, and difficulties of "
    "questions where the study can estimate them. Readout soft takes the options' probabilities as they are, in place "
    "of one verdict a read. Only the term of length is set to 0; reads keep their positions. The "
    "{bootstrap[confidence]:.0%} intervals are over groups; that of the difference is paired. The control removes all "
    "that goes with length, not only what length causes: better answers that are longer lose by it too."
)
KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "readout", "candidate"]
CONTROLLED = "win_rate_controlled"
VALUES: list[Value] = ["win_rate", CONTROLLED, "difference"]
VALUES += [taken(CONTROLLED, n_pairs="n_reads", n_clusters="n_groups", flag="flag")]


def _rows(length_control: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset, readout and candidate. The highest win rate without length comes first."""
    rows = wide(length_control[length_control["candidate"] != EVERY], KEYS, VALUES)
    order = rows.assign(block=rows.groupby(KEYS[:-1], sort=False).ngroup())
    return order.sort_values(["block", CONTROLLED], ascending=[True, False]).drop(columns="block")


TABLE = Table(
    rows=Rows(_rows, "study", "varied"),
    columns=[
        *texts("judge", "benchmark"),
        Text("readout", when=varied("readout")),
        *texts("candidate"),
        *estimates(".3f", win_rate="win rate", win_rate_controlled="without length"),
        Estimated("difference", "+.3f"),
        *texts(n_reads="reads", flag="flag"),
    ],
)
