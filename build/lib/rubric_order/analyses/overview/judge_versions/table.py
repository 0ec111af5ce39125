"""Versions behind the judges' answers."""

from rubric_order.tables.columns import Text, counts, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Versions behind the judges' answers: of the engine, the weights, the server or the model that an endpoint names, "
    "each with the number of answers that it gave. Several versions of one kind can be several judges: such a mix is "
    "refused unless config takes it (accept_mixed), and marked here. An endpoint says what it wants of itself. "
    "Counts of distinct requests of all studies, not of reads; failed requests do not count."
)
TABLE = Table(
    rows=Rows("judge_versions"),
    columns=[
        *texts("judge", "what", "version"),
        *counts(n_answers="answers"),
        Text(lambda rows: rows["mixed"].map({True: "mixed", False: ""}), name="flag"),
    ],
)
