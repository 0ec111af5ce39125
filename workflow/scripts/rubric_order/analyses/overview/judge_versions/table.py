"""Versions behind the judges' answers."""

import pandas as pd

from rubric_order.tables import count

CAPTION = (
    "Versions behind the judges' answers: of the engine, the weights, the server or the model that an endpoint names, "
    "each with the number of answers that it gave. Several versions of one kind can be several judges: such a mix is "
    "refused unless config takes it (accept_mixed), and marked here. An endpoint says what it wants of itself. "
    "Counts of distinct requests of all studies, not of reads; failed requests do not count."
)


def table(judge_versions: pd.DataFrame) -> pd.DataFrame:
    """One row a judge, kind of version and version, see `judge_versions.estimate`."""
    return judge_versions.reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["judge", "what", "version"]].copy()
    printed["answers"] = rows["n_answers"].map(count)
    printed["flag"] = rows["mixed"].map({True: "mixed", False: ""})
    return printed
