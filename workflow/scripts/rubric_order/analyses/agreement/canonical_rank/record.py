from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Rank of the canonical ordering",
    order=280,
    statistic=Statistic(
        question="Where does the usual ordering stand among all orderings, by agreement with people?",
        read="rank and advantage; the shares of resamples that give the first and the last rank",
        cannot="whether another set of items gives the same rank",
        probes=SCORE_ORDER,
        calibrates=True,
    ),
    table=Shown(
        block={**v.ROWS, "strategy": v.OF_ONE_SET, "n": v.N, "cluster": v.CLUSTER},
        caption="Pearson's r with human scores of one read per item under the canonical ordering, the mean r of all"
        " orderings, and the rank of the canonical ordering among them (1: highest r). These are the quantities of"
        " Table 4 of the earlier version of Xu et al., here with {bootstrap[confidence]:.0%} bootstrap intervals over"
        " {cluster}s.",
        notes="First and last: shares of the resamples in which the canonical ordering has the first and the last rank."
        " The CSV file has the share of every rank. Few clusters: fewer than 30 {cluster}s; intervals are then somewhat"
        " too short.",
    ),
)
