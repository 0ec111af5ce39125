from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    order=660,
    statistic=Statistic(
        question="Does consistency rise with the quality gap?",
        read="slopes over gaps from other questions, from other judges and from people",
        cannot="how far quality matters, if the gap is that of Shi et al., which has a slope even for a judge that"
        " ignores quality",
        probes=COMPARING,
        settings=("bootstrap/confidence", "position_consistency/forms"),
    ),
    table=Shown(
        title="Consistency by quality gap",
        block=v.COMPARING,
        caption="Position bias in comparisons with a baseline, by quality gap, with {bootstrap[confidence]:.0%}"
        " intervals over questions. Slopes are how much position consistency (PC) and preference fairness (PF) rise"
        " with a unit of the gap. Columns smallest and largest give PC and beta of about the quarter of comparisons"
        " with the smallest gap and with the largest.",
        notes="Own gap: distance of the win rate from even in the same judgments, as in Shi et al., with which PC rises"
        " for any judge. Crossed: from the other questions of the task; others: from the other judges; human:"
        " difference of human scores, in points. Tests of slopes over a crossed gap reject somewhat too often (9% to"
        " 11% at a level of 5% in simulation). Few cells: the crossed gap depends on PC by arithmetic, so nothing is"
        " given. Separated: read the sign of beta and not its size.",
    ),
    figure=Shown(
        ("quality_cells", "quality_gap"),
        title="Consistency by quality gap, figure",
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
