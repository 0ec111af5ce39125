"""Results of writing and reviewing reference answers at every score."""

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Flags, Number, Text, different, numbers, texts
from rubric_order.tables.spec import Rows, Table, Value, taken

KEYS = ["dataset", "by", "value"]
VALUES: list[Value] = ["slots_accepted", "written", "accepted", "unclear"]
VALUES += ["blind_equal_texts", "blind_equal_accepted", "blind_equal_rejected"]
VALUES += ["blind_shift_texts", "blind_shift_accepted", "blind_kappa_texts", "blind_kappa_accepted"]
VALUES += [taken("slots_accepted", n="n_slots"), taken("written", n="n_attempts"), taken("accepted", n="n_texts")]
VALUES += [taken("written", "n_clusters")]
EQUAL = {f"blind_equal_{name}": f"blind score equal, % of {name}" for name in ("texts", "accepted", "rejected")}

TABLE = Table(
    rows=Rows("reference_answers", keys=KEYS, values=VALUES),
    columns=[
        *texts("dataset", by="of"),
        Text("value", name="which", where=different("by", EVERY)),
        Estimated("slots_accepted", ".0f", name="accepted in the end, %", times=100, where="n_slots"),
        Text(lambda rows: rows["n_attempts"].astype(int), name="attempts"),
        Number("written", ".0f", name="texts, %", times=100),
        Estimated("accepted", ".0f", name="texts accepted, %", times=100),
        *numbers(".0f", unclear="unclear, %", **EQUAL, times=100),
        Number("blind_shift_texts", "+.2f", name="blind shift, texts"),
        Number("blind_kappa_texts", ".2f", name="kappa, texts"),
        Number("blind_shift_accepted", "+.2f", name="blind shift, accepted"),
        Number("blind_kappa_accepted", ".2f", name="kappa, accepted"),
        Flags(),
    ],
)
