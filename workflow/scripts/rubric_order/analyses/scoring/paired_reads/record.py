from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Scores of the same orderings under two conditions",
    order=350,
    statistic=Statistic(
        question="Do questions of one request influence each other? Does a condition move some orderings up and others"
        " down?",
        read="`any_number`, then the mean and the trend",
        cannot="why reads differ; without a repeated condition, how far the judge differs from itself",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence",),
    ),
    table=Shown(
        block=v.SCORING_ESTIMATES,
        caption="Scores of the same item under the same ordering in two conditions: the score under the first less that"
        " under the second, in points. Mean is over all reads of an item, with {bootstrap[confidence]:.0%} intervals"
        " and p by a jackknife over {cluster}s.",
        notes="Trend: points by which the difference grows from one read, or question of the request, to the next. Any"
        " number, p: test that the mean difference is 0 at every number, by Hotelling's T-squared, which also sees"
        " differences that cancel in the mean. Differ: share of reads whose scores differ; size: mean size of a"
        " difference. A judge that samples differs from itself: compare with a repeated condition. * significant at 5%"
        " after Holm's adjustment.",
    ),
)
