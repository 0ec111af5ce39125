from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Permutation against repeats, table",
    order=150,
    table=Shown(
        ("human_agreement", "strategy_comparison"),
        block={
            **v.ROWS,
            "strategy": v.IN_EVERY_POSITION.but(description="Strategy with several orderings."),
            "baseline": v.Key(
                v.one_of(*v.OF_ONE_ORDERING), "fixed", "Strategy with one ordering, with which `strategy` is compared."
            ),
            "n": v.N,
            "cluster": v.CLUSTER,
        },
        caption="Correlation of each item's mean score with its human score when it is read in several orderings"
        " ({strategy}) and in one ({baseline}), as in the earlier version of Xu et al., Table 2. Differences are over"
        " the items that both strategies have scored, with {bootstrap[confidence]:.0%} intervals of a jackknife over"
        " {cluster}s.",
        notes="Order is the part of Pearson's difference due to the order alone: the mean r of single orderings less"
        " that of the usual ordering, one read per item each. Averaging is what averaging adds to r under {strategy}"
        " less what it adds under {baseline}. † means that repeats are no more than one read in 95% of the items or"
        " more (as at temperature 0), so that they cannot gain by averaging. Few clusters: fewer than 30 {cluster}s;"
        " intervals are then somewhat too short.",
    ),
)
