from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "equivalence/level", "equivalence/points"),
        derived=("bases",),
    ),
    table=Shown(
        ("score_shifts",),
        "Scoring bias",
        "Scores moved by conditions",
        block=v.SCORING_ESTIMATES,
        caption="Scores of the same items under other conditions, or another order of the score levels, less those"
        " of the study's first condition and strategy (the base). Mean shift is in points, with"
        " {bootstrap[confidence]:.0%} intervals and p by Student's t over {cluster}s (* significant after"
        " Holm's adjustment). Changed items is the share of items whose first reads differ.",
        notes="Mean change is the mean size of the difference between first reads. Total variation is half the"
        " summed differences between the shares of scores. The brackets give the floors: first the largest"
        " size that an edit without meaning gives, then, where the base is read repeatedly, the value of two"
        " reads of one prompt. At temperature 0 any edit moves scores, so only a value above its floor can"
        " show more than an edit without meaning gives. The floor has an error of its own, and grows with the"
        " number of edits. A mean shift of 0 can hide scores that move up and down. Small says whether the"
        " mean shift is shown to lie within {equivalence[points]} points (two one-sided tests at"
        " {equivalence[level]:.0%}). The IDs of levels can be letters or Roman numerals. Each ID stands for"
        " the same level in all prompts, so its own effect is not separated here from that of its level.",
    ),
)
