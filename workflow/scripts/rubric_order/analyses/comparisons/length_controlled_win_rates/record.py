from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Win rates without length",
    order=740,
    table=Shown(
        ("length_control",),
        block={
            "study": v.COMPARING["study"],
            "also": v.ALSO,
            "varied": v.Key("str", "baseline", "Condition of the prompts to show."),
        },
        caption="Win rates of candidates over the candidates that they are compared with, a tie as a half, and the same"
        " win rates at a difference of lengths of 0 (without length).",
        notes="Win rates without length come from the regression of AlpacaEval's length control. Readout soft takes the"
        " options' probabilities. Only the term of length is set to 0; reads keep their positions. The"
        " {bootstrap[confidence]:.0%} intervals are over groups; that of the difference is paired. The control removes"
        " all that goes with length, also better answers that are longer.",
    ),
)
