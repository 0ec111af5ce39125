"""Win rates of candidates as they are, and as they would be if all texts had one length."""

import pandas as pd

from rubric_order.tables import intervals, widen

CAPTION = (
    "Win rates of candidates over the candidates that they are compared with, a tie as a half, and the same at a "
    "difference of lengths of 0, by the regression of AlpacaEval's length control: strengths of candidates, tanh of "
    "the standardised difference of lengths, position, and difficulties of questions where the study can estimate "
    "them. Readout soft takes the options' probabilities as they are, in place of one verdict a read. Only the term "
    "of length is set to 0; reads keep their positions. {bootstrap[confidence]:.0%} intervals over groups; that of "
    "the difference is paired. Control removes what goes with length, not only what is caused by it: better answers "
    "that are longer lose by it too."
)
KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "readout", "candidate"]
QUANTITIES = ["win_rate", "win_rate_controlled", "difference"]


def table(length_control: pd.DataFrame, *, study: str, varied: str) -> pd.DataFrame:
    """One row a judge, dataset, readout and candidate, the best without length first.

    Args:
        length_control: see `length_control.estimate`.
        study: whose reads. varied: their condition.
    """
    chosen = length_control.query("study == @study and varied == @varied and candidate != 'all'")
    rows = widen(chosen, KEYS, QUANTITIES)
    sizes = chosen[chosen["quantity"] == "win_rate_controlled"].set_index(KEYS)[["n_pairs", "n_clusters", "flag"]]
    rows = rows.join(sizes.rename(columns={"n_pairs": "n_reads", "n_clusters": "n_groups"}), on=KEYS)
    first = KEYS[:-1]
    places = rows.groupby(first, sort=False).ngroup()
    return rows.assign(place=places).sort_values(
        ["place", "win_rate_controlled"], ascending=[True, False], ignore_index=True
    )[[*rows]]


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    several = ["readout"] if rows["readout"].nunique() > 1 else []
    printed = rows[["judge", "benchmark", *several, "candidate"]].copy()
    printed["win rate"] = intervals(rows, "win_rate")
    printed["without length"] = intervals(rows, "win_rate_controlled")
    printed["difference"] = intervals(rows, "difference", form="+.3f")
    printed["reads"] = rows["n_reads"]
    printed["flag"] = rows["flag"]
    return printed
