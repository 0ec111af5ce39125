from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Strategies compared, table",
    order=140,
    statistic=Statistic(
        question="Does one strategy agree better with people than another, and why?",
        read="the difference of r, and its parts from order and from averaging",
        cannot="whether positions are preferred",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence",),
        calibrates=True,
    ),
    table=Shown(
        ("human_agreement", "strategy_comparison"),
        block={
            **v.ROWS,
            "strategy": v.Key(v.one_of(*v.OF_SCORES), "balanced", "Strategy with which the others are compared."),
            "n": v.N,
            "cluster": v.CLUSTER_OR_BOTH,
        },
        caption="Pearson's r with human scores under each strategy, and r of strategy {strategy} less that of each"
        " other strategy, as in Xu et al. (2026), Table 3. Intervals are {bootstrap[confidence]:.0%} intervals of a"
        " jackknife over the sample ({cluster}; both: groups, and items one by one, as the paper draws them).",
        notes="Differences are over the items that both strategies have scored. Order is the part due to the order"
        " alone: the mean r of single orderings less that of the usual ordering, one read per item each. Averaging is"
        " what averaging adds to r of {strategy} less what it adds to r of the repeats; the difference is the sum of"
        " both. † means that repeats are no more than one read in 95% of the items or more. * means that the interval"
        " does not contain 0, ** p < 0.05 also after Holm's adjustment for all judges, profiles, datasets and scales of"
        " the study. Few clusters: a sample of fewer than 30; intervals are then somewhat too short.",
    ),
)
