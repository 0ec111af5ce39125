from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap", "manipulability"),
        derived=("temperatures",),
        block={
            "exchanges": v.Key(
                "Count",
                200,
                "Number of random exchanges of orderings within items. The range that arises by chance alone is"
                " averaged over them.",
            ),
            "folds": v.Key(
                "Annotated[int, Ge(2)]",
                5,
                "Number of folds into which the groups are divided. The groups of each fold are scored in the"
                " orderings that give the highest and the lowest scores on the other folds.",
            ),
        },
        methods="Ranges of scores and ranks over orderings were compared with those of reads that exchange their"
        " orderings within items; what is reached was measured in reads that had no part in the choice of the"
        " orderings.",
    ),
    table=Shown(
        ("manipulability",),
        "Position bias",
        "Reach of a chosen order, table",
        block={**v.ROWS, "strategy": v.IN_ONE_SET, "n": v.N},
        caption="What somebody who chooses among the orderings of {strategy} can do to scores. Points: the highest"
        " score of an item less its lowest, mean over items. With one order for all, it is the highest mean"
        " over items less the lowest; this range has no interval.",
        notes="Places: the lowest rank of a candidate less its highest among those of its prompt, ties counting"
        " half. Best changed: share of prompts in which none of the best candidates of the usual order (the"
        " first one, where the usual one was not read) stays among the best. Order for one item: one"
        " candidate gets another order, while the others stay in the usual one. Order for all: all get the"
        " same order. If reads differ by chance, a largest value less a smallest one is large even without"
        " any effect of the order. By chance is the same quantity where the reads of an item exchange their"
        " orderings, mean over {manipulability[exchanges]} exchanges. Any difference between the reads of an"
        " item counts as chance there. So beyond chance is too small rather than too large, and for ranks it"
        " is below 0 where an order moves all candidates alike. With one read in each ordering, the range of"
        " a single item cannot be told from chance. Reached is the same quantity in reads that had no part in"
        " the choice of the orderings: for one item, and for places, the other half of the repeats; for"
        " points with one order for all, other groups. It is 0 on average without an effect. Expected scores"
        " from option probabilities have no chance where nothing is written before the answer; where a text"
        " is written first, chance in this text counts as an effect of the order. Intervals"
        " ({bootstrap[confidence]:.0%}) are from a jackknife over groups. Those of a share of prompts that is"
        " seen are Clopper and Pearson's, and those of points that are reached with one order for all are"
        " from a bootstrap over groups. A range does not show which score is right. An unstable judge, which"
        " any other change of the prompt moves as much, has the same range.",
    ),
    figure=Shown(
        ("manipulability",),
        "Position bias",
        "Reach of a chosen order, figure",
        block={
            **v.by_strategy(v.IN_ONE_SET),
            "readout": v.READOUT_OF_SCORES,
            **v.SIZES,
            "row_height_in": v.ROW.but(0.45, "Height of a judge's row in inches."),
        },
        caption="What somebody who chooses among the orderings of {strategy} can do: the highest less the lowest"
        " score of an item, the number of ranks that this can move a candidate by, and the share of prompts"
        " whose best candidate changes. Either one item gets another order, while the others stay in the"
        " usual one, or all get the same order.",
        notes="If reads differ by chance, the values seen (filled) are large even without any effect of the order."
        " By chance (cross) is the same where the reads of an item exchange their orderings: any difference"
        " between these reads counts as chance there. It is 0 for expected scores. Reached (hollow) is the"
        " same in reads that had no part in the choice of the orderings, where it is known; it is 0 on"
        " average without an effect. Bars are {bootstrap[confidence]:.0%} intervals over groups. A range does"
        " not show which score is right, and other changes of the prompt may move an unstable judge as much.",
    ),
)
