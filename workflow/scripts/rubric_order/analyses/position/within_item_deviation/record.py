from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Variation within items",
    order=260,
    statistic=Statistic(
        question="How much do the scores of one item vary, and how much of that is the order?",
        read="the standard deviation; the parts of the variance: shift, interaction, repetition",
        cannot="whether the order matters much",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence",),
        derived=("temperatures",),
    ),
    table=Shown(
        block={
            **v.ROWS,
            "strategy": v.OF_LEVELS.but(
                description="Strategy whose variance is divided into a part of the orderings and a part of repetition."
            ),
            "n": v.N,
            "cluster": v.CLUSTER,
        },
        caption="Standard deviation of an item's scores over its reads, mean over items, as in the earlier version of"
        " Xu et al., Table 3, with {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s.",
        notes="The variance of a read under {strategy} is split into shift (what the order does to all items alike),"
        " interaction (to each item in its own way) and repetition. Ordering % is the share of the first two."
        " Repetition is known from option probabilities or from repeats of several orderings; without either,"
        " interaction and repetition are one number (unsplit) and there is no share. Small parts can be negative. Where"
        " a score is one draw from option probabilities, expected scores and scores drawn at temperature 0 have no"
        " repetition, so their ordering % is 100 by definition. Few clusters: fewer than 30 {cluster}s; intervals are"
        " then somewhat too short.",
    ),
)
