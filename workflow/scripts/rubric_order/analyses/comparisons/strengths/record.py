from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    title="Strengths of candidates",
    order=640,
    statistic=Statistic(
        question="Which candidates does the judge prefer?",
        read="strengths, ranks and their ranges",
        cannot="who is better",
        probes=COMPARING,
        settings=("bootstrap", "position_consistency/forms"),
    ),
    table=Shown(
        block=v.COMPARING,
        caption="Strengths and ranks of the candidates that judges compare, with {bootstrap[confidence]:.0%} intervals"
        " over questions. Strength is in log-odds over the baseline (0), or over the candidates' mean where there is no"
        " baseline. The interval of a rank is the range of the ranks of strengths drawn from their errors.",
        notes="The model is Bradley and Terry's with a worth of each position and Davidson's ties; for lists it is"
        " Plackett and Luce's. Without positions leaves out that worth. First order and last order have the reads of"
        " one order alone, and their strengths contain that worth. Reversed, in the row all: share of pairs of"
        " candidates whose order changes without positions, and between the first order and the last (orders). Not"
        " connected: outside the largest set in which a chain of wins leads from each candidate to each other, so"
        " without an estimate. Not identified: the design does not determine the estimate. First position: log-odds of"
        " the first position less those of the last.",
    ),
)
