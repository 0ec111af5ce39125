from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=SCORE_ORDER, settings=("bootstrap/confidence",)),
    table=Shown(
        ("paired_reads",),
        "Scoring bias",
        "Scores of the same orderings under two conditions",
        block=v.SCORING_ESTIMATES,
        caption="Scores of the same item under the same ordering in two conditions: the score under the first less"
        " that under the second, in points. Mean is over all reads of an item, with"
        " {bootstrap[confidence]:.0%} intervals and p by a jackknife over {cluster}s.",
        notes="Trend is the number of points by which the difference grows from one read of an item to the next;"
        " under condition together, from one question of the request to the next. The reads of an item are"
        " numbered. Any number, p tests whether the mean difference is 0 for each number, by Hotelling's"
        " T-squared; there is none where there are not more {cluster}s than numbers. This test also sees"
        " differences that cancel in the mean. Differ is the share of reads whose scores differ at all; size"
        " is the mean size of a difference. A judge that samples its answers differs from itself as well:"
        " compare with a repeated condition. The sign * means significant at 5% after Holm's adjustment.",
    ),
)
