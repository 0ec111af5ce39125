from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=COMPARING, settings=("bootstrap/confidence", "position_consistency/forms")),
    table=Shown(
        ("quality_gap",),
        "Comparisons",
        "Consistency by quality gap",
        block=v.COMPARING,
        caption="Position bias in comparisons with a baseline, by quality gap, with {bootstrap[confidence]:.0%}"
        " intervals over questions. Slopes are how much position consistency (PC) and preference fairness"
        " (PF) rise with a unit of the gap. Columns smallest and largest give PC and beta of about the"
        " quarter of comparisons with the smallest gap and with the largest.",
        notes="Comparisons with one gap stay together; where too few gaps differ, there are no quarters. Own gap"
        " is the distance of the candidate's win rate from even in the same judgments, as in Shi et al. An"
        " inconsistent pair counts as a half in that win rate, so PC rises with this gap for any judge."
        " Crossed gap takes the win rate in the other questions of the task; others takes the win rate by the"
        " other judges on the same questions; human is the difference of human scores, in points. These"
        " three share no judgment with PC. Tests of slopes over a crossed gap still reject somewhat too"
        " often, because the gap leaves out the comparison's own question: in simulation 9% to 11% at a level"
        " of 5%. The flag few cells means that there are few combinations of candidate and task. The crossed"
        " gap then depends on PC by arithmetic, so nothing is given. The flag separated means that only"
        " Firth's penalty keeps a beta finite, so read its sign and not its size.",
    ),
    figure=Shown(
        ("quality_cells", "quality_gap"),
        "Comparisons",
        "Consistency by quality gap, figure",
        block=v.OF_GAPS,
        caption="Consistency and fairness in cells of judge, candidate and task. The first panel shows fairness by"
        " consistency; no cell can be in the grey, where the size of fairness is larger than one less"
        " consistency.",
        notes="The next three show consistency by the candidate's overall win rate over the baseline: from the"
        " same judgments, as in Shi et al.; from the other half of the questions; and from the other judges."
        " In the first of these three no cell can be in the grey, where consistency of pairs is below twice"
        " the distance of the win rate from even; the other two have no such bound. The fifth panel shows"
        " fairness by the win rate in the same judgments. The lines show a judge whose verdicts are drawn"
        " from quality and its own preference for a position alone. The last panel shows beta in about"
        " quarters of the comparisons by the gap from other questions (nothing with fewer than 20 cells),"
        " with {bootstrap[confidence]:.0%} intervals; an arrow at the frame means that the interval goes on."
        " In lists without a baseline each candidate of a list counts for its cell, and there is no beta."
        " After Shi et al. (Judging the Judges), Figures 2 (c) to (f) and 5; what is not from the same"
        " judgments, bounds and lines are ours.",
    ),
)
