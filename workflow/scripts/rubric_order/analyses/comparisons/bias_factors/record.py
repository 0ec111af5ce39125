from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    title="What consistency and fairness depend on",
    order=610,
    statistic=Statistic(
        question="What do consistency and fairness depend on?",
        read="the terms that the stepwise search keeps",
        cannot="what causes what",
        probes=COMPARING,
        settings=("position_consistency/forms",),
    ),
    table=Shown(
        block=v.COMPARING,
        caption="What position consistency (PC) and preference fairness (PF) depend on, after Shi et al. (Judging the"
        " Judges, Tables 3 to 8): the last step of a stepwise regression over cells of judge, candidate and task. One"
        " row has the chosen model as it is (removed: none), each other row the model without one of its terms.",
        notes="AIC is n ln(RSS / n) + 2k. Quality gap own comes from the same judgments as the outcome, as in the"
        " paper, and arithmetic ties it to consistency; quality gap others comes from other judges. Cells are taken as"
        " independent although they share questions, so small differences of AIC say little.",
    ),
)
