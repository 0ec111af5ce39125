from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=SCORE_ORDER, settings=("bootstrap/confidence",), derived=("temperatures",)),
    table=Shown(
        ("within_item_deviation",),
        "Position bias",
        "Variation within items",
        block={
            **v.ROWS,
            "strategy": v.OF_LEVELS.but(
                description="Strategy whose variance is divided into a part of the orderings and a part of repetition."
            ),
            "n": v.N,
            "cluster": v.CLUSTER,
        },
        caption="Standard deviation of an item's scores over its reads, mean over items, as in the earlier version"
        " of Xu et al., Table 3, with {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s.",
        notes="The variance of a read under {strategy} is then split into three parts: shift, what the order of"
        " the options does to all items alike; interaction, what it does to each item in its own way; and"
        " repetition, under every ordering by itself. Repetition is known from the option probabilities of a"
        " judge whose score is one draw from them, or from repeats of several orderings (strategy"
        " repeated_rotations). Ordering % is the share of the first two parts. Without either source, repeats"
        " of the usual ordering say nothing about the other orderings. Interaction and repetition are then"
        " one number (unsplit: the residual mean square), and there is no share. Estimates of parts are not"
        " cut off at 0, so those of small parts can be negative. Where a score is one draw from option"
        " probabilities, scores drawn at temperature 0 and expected scores have no repetition, so their share"
        " is 100% by definition. Few clusters means fewer than 30 {cluster}s; intervals are then somewhat"
        " too short.",
    ),
)
