from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    figure=Shown(
        ("quality_cells", "quality_gap"),
        "Comparisons",
        "Consistency by quality gap in lists, figure",
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
    )
)
