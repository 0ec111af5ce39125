from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Factors of position bias",
    order=620,
    table=Shown(
        ("bias_factors",),
        block={
            "study": v.COMPARING["study"],
            "also": v.ALSO,
            "profile": v.PROFILE,
            "condition": v.CONDITION,
            "gap": v.Key(
                "Literal['own', 'others']",
                "own",
                "Judgments from which the quality gap is computed: the judge's own (`own`), as in the paper, or those"
                " of other judges (`others`).",
            ),
        },
        caption="Factors of position bias in comparisons, after Shi et al. (Judging the Judges, Table 1), and the level"
        " to which each belongs: the judge, the candidate or the task (yes). A star (*) marks a factor that the"
        " stepwise search of the table of bias factors keeps in every dataset, for consistency (PC) or for fairness"
        " (PF).",
        notes="The last columns show by how much AIC rises in the model of each dataset and outcome without the factor."
        " Not known: the study has no such term. The search takes cells of one question set as independent, so a star"
        " says little. Arithmetic alone marks the quality gap, unless the gap is that of other judges.",
    ),
)
