"""Versions behind the judges' answers."""

from rubric_order.tables.columns import Text, counts, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Versions behind the judges' answers, each with the number of answers that it gave. Versions are those of the "
    "engine, the weights, the server, its address, or the model that an endpoint names. Several versions of one kind "
    "can be several judges. Such a mix is refused unless config accepts it (accept_mixed), and is marked here. An "
    "endpoint can say anything about itself. Counts are of distinct requests of all studies, not of reads; failed "
    "requests do not count."
)
TABLE = Table(
    rows=Rows("judge_versions"),
    columns=[
        *texts("judge", "what", "version"),
        *counts(n_answers="answers"),
        Text(lambda rows: rows["mixed"].map({True: "mixed", False: ""}), name="flag"),
    ],
)
