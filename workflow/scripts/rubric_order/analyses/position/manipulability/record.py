from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Reach of a chosen order",
    order=50,
    statistic=Statistic(
        question="What can somebody who chooses the order do to scores and ranks?",
        read="the range *seen*, beside the range *chance*; the range *reached*: some reads choose two orderings, and"
        " other reads show how far apart the values in these two are",
        cannot="which score is right; whether another change of the prompt would do as much",
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
                "Number of folds into which the groups are divided. The groups of each fold are scored in the orderings"
                " that give the highest and the lowest scores on the other folds.",
            ),
        },
        methods="Ranges of scores and ranks over orderings were compared with those of reads that exchange their"
        " orderings within items; the range that a chooser reaches was measured in reads that had no part in the choice"
        " of the orderings.",
    ),
    table=Shown(
        block={**v.ROWS, "strategy": v.IN_ONE_SET, "n": v.N},
        caption="What somebody who chooses among the orderings of strategy {strategy} can do to scores. Points: the"
        " highest score of an item less its lowest, mean over items. With one order for all, it is the highest mean"
        " over items less the lowest; this range has no interval.",
        notes="Places: a candidate's lowest rank less its highest among those of its prompt. Best changed: share of"
        " prompts whose best candidates of the usual order all lose their place. Order for one item: one candidate gets"
        " another order, the others the usual one; order for all: all get the same. By chance: the same quantity where"
        " reads of an item exchange their orderings, mean over {manipulability[exchanges]} exchanges. This counts any"
        " difference between reads as chance, so beyond chance is too small rather than too large. Reached: the same in"
        " reads that had no part in the choice of the orderings; 0 on average without an effect. Intervals"
        " ({bootstrap[confidence]:.0%}) are over groups. Another change of the prompt may move the judge as much.",
    ),
    figure=Shown(
        block={
            **v.strategy_rows(v.IN_ONE_SET),
            "readout": v.READOUT_OF_SCORES,
            **v.SIZES,
            "row_height_in": v.ROW.but(0.45, "Height of a judge's row in inches."),
        },
        caption="What somebody who chooses among the orderings of strategy {strategy} can do: the highest less the"
        " lowest score of an item, the number of ranks that this can move a candidate by, and the share of prompts"
        " whose best candidate changes. Either one item gets another order, while others stay in the usual one, or all"
        " get the same order.",
        notes="Values seen (filled) are large even without an effect of the order. By chance (cross): reads of an item"
        " exchange their orderings; 0 for expected scores. Reached (hollow): reads that had no part in the choice of"
        " the orderings; 0 on average without an effect. Bars are {bootstrap[confidence]:.0%} intervals over groups.",
    ),
)
