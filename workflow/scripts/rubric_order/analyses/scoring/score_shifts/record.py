from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Scores moved by conditions",
    order=340,
    statistic=Statistic(
        question="How far do scores move, compared with edits without meaning?",
        read="the mean shift and the share that changes, beside the floor",
        cannot="why scores move",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "equivalence/level", "equivalence/points"),
        derived=("bases",),
    ),
    table=Shown(
        block=v.SCORING_ESTIMATES,
        caption="Scores of the same items under other conditions, or another order of the score levels, less those of"
        " the study's first condition and strategy (the base). Mean shift is in points, with"
        " {bootstrap[confidence]:.0%} intervals and p by Student's t over {cluster}s (* significant after Holm's"
        " adjustment). Changed items is the share of items whose first reads differ.",
        notes="Mean change: mean size of the difference between first reads. Total variation: half the summed"
        " differences of the shares of scores. The brackets give the floors: the largest size by an edit without"
        " meaning, then, where the base is read repeatedly, the value of two reads of one prompt; only a value above"
        " its floor can show more. A mean shift of 0 can hide scores that move up and down. Small: whether the mean"
        " shift is shown to lie within {equivalence[points]} points (two one-sided tests at {equivalence[level]:.0%})."
        " The effect of an ID is not separated from that of its level.",
    ),
)
