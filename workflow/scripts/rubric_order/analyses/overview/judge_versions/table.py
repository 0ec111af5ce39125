"""Versions behind the judges' answers."""

from rubric_order.tables.columns import Text, counts, texts
from rubric_order.tables.spec import Rows, Table

TABLE = Table(
    rows=Rows("judge_versions"),
    columns=[
        *texts("judge", "what", "version"),
        *counts(n_answers="answers"),
        Text(lambda rows: rows["mixed"].map({True: "mixed", False: ""}), name="flag"),
    ],
)
