from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Consistency by quality gap in lists, figure",
    order=680,
    figure=Shown(
        ("quality_cells", "quality_gap"),
        block=v.OF_GAPS,
        caption="Consistency and fairness in cells of judge, candidate and task: fairness by consistency; consistency"
        " by the candidate's overall win rate (same judgments, other questions, other judges); fairness by win rate;"
        " and beta by quality gap, with {bootstrap[confidence]:.0%} intervals. No cell can be in the grey. Lines:"
        " verdicts drawn from quality and position alone.",
        notes="The bound of consistency holds for win rates of the same judgments alone. Beta is shown in about"
        " quarters of the comparisons by the gap from other questions, with 20 cells or more; an arrow means that the"
        " interval continues beyond the axis. In lists without a baseline each candidate counts for its cell, and there"
        " is no beta. After Shi et al. (Judging the Judges), Figures 2 (c) to (f) and 5; what is not from the same"
        " judgments, bounds and lines are ours.",
    ),
)
