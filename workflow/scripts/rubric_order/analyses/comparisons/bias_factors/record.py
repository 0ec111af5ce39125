from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=COMPARING, settings=("position_consistency/forms",)),
    table=Shown(
        ("bias_factors",),
        "Comparisons",
        "What consistency and fairness depend on",
        block=v.COMPARING,
        caption="What position consistency (PC) and preference fairness (PF) depend on, after Shi et al. (Judging"
        " the Judges, Tables 3 to 8): the last step of a stepwise regression over cells of judge, candidate"
        " and task. One row has the chosen model as it is (removed: none), each other row the model without"
        " one of its terms.",
        notes="AIC is n ln(RSS / n) + 2k, as printed in the paper, where k counts the coefficients without the"
        " variance. The own quality gap comes from the same judgments as the outcome, as in the paper. A pair"
        " without a consistent winner adds half a win to the win rate behind it, so arithmetic ties this gap"
        " to consistency. The quality gap of others comes from the other judges. As in the paper, cells are"
        " taken as independent; they share questions, so small differences of AIC say little. Lengths of the"
        " candidates' texts, of the question and of the prompt are terms where they are known.",
    ),
)
