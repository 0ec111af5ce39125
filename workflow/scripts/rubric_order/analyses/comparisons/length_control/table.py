"""Effect of the lengths of texts on the verdicts of judges that compare pairs."""

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Text, estimates, texts
from rubric_order.tables.spec import Rows, Table, Value, taken

KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "varied", "readout"]
VALUES: list[Value] = ["length", "length_two_steps", "length_given_people", "length_doubling"]
VALUES += ["first_place", "correlation", "longer_wins", "longer_wins_of_people", "padding", "padding_share"]
VALUES += [taken({"quantity": ["length", "padding"]}, n_pairs="n_pairs", n_clusters="n_groups", flag="flag")]

TABLE = Table(
    rows=Rows("length_control", "study", where={"candidate": EVERY}, keys=KEYS, values=VALUES),
    columns=[
        *texts("judge", "benchmark"),
        Text("varied", name="condition", spaced=True),
        *texts("readout"),
        *estimates("+.2f", "length", length_given_people="given people", length_doubling="doubling", missing=""),
        Estimated("correlation", "+.2f", name="r", missing=""),
        *estimates(".2f", longer_wins="longer wins", longer_wins_of_people="of people", missing=""),
        Estimated("padding", "+.2f", missing=""),
        Estimated("padding_share", "+.3f", name="padding, share", missing=""),
        *texts(n_pairs="pairs", flag="flag"),
    ],
)
