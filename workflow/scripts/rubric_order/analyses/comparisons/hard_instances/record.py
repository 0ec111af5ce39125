from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    title="Comparisons that judges disagree about",
    order=700,
    statistic=Statistic(
        question="Which comparisons do judges disagree about?",
        read="the list",
        cannot="why they disagree",
        probes=COMPARING,
        settings=("position_consistency/forms",),
    ),
    table=Shown(
        block=v.COMPARING | {"most": v.Key("Count", 20, "Largest number of comparisons of each benchmark to show.")},
        caption="Comparisons that judges disagree about most, hardest first. Disagreement is the number of judges that"
        " deviate from the commonest choice, as a mean over the orders. Consistent is the share of the judges that"
        " choose one winner in all orders, or a tie in all, of those with a choice in each order.",
        notes="Win rate: of the candidate over the baseline by all judges, or of the first candidate without a"
        " baseline. Chance partly decides which comparisons are listed. After Shi et al. (Judging the Judges), Appendix"
        " C.2.",
    ),
)
