from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Bias Cost",
    order=320,
    statistic=Statistic(
        question="Which ordering costs least, and what does it save on other items?",
        read="the saving on groups in which the ordering was not chosen",
        cannot="whether the saving differs from 0, since there is no test",
        probes=SCORE_ORDER,
        settings=("bootstrap", "bias_cost"),
        block={
            "splits": v.Key(
                "Count",
                10,
                "Number of random halvings of the groups. In each of them an ordering is chosen on one half and"
                " evaluated on the other half.",
            )
        },
    ),
    table=Shown(
        block={**v.ROWS, "strategy": v.OF_ONE_SET, "n": v.N, "cluster": v.CLUSTER},
        caption="The ordering with the least Bias Cost among those that were read, beside the canonical one, as in the"
        " earlier version of Xu et al., Table 6. Cost is in percentage points. Rank is by Pearson's r with human scores"
        " (1: highest), averaged over datasets.",
        notes="Chosen %: share of the resamples of {cluster}s that choose this ordering. Held out: half of the groups"
        " choose an ordering, which is compared with the canonical one in the other half, by the cost saved and the r"
        " gained. Intervals of the cost saved can be too wide (coverage 95% to 99.5% in simulations). Column noise of"
        " the CSV file is the cost of a judge without bias; it is subtracted from held-out costs. Few clusters: fewer"
        " than 30 {cluster}s; intervals are then somewhat too short.",
    ),
)
