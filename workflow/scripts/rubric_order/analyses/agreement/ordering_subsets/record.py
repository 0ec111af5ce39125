from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Orderings to read",
    category="Calibration",
    order=200,
    statistic=Statistic(
        question="Which orderings are worth reading, and how many suffice?",
        read="the error of the orderings that are best in other groups, beside that of as many random orderings; the"
        " least number of reads with an error of at most `target_error`",
        cannot="whether the mean is right; how much of a gain comes from averaging over chance, and how much from"
        " orders",
        probes=SCORE_ORDER,
        settings=("bootstrap", "ordering_subsets"),
        derived=("temperatures",),
        block={
            "target_error": v.Key(
                "Positive",
                0.25,
                "Target for the error of a score, in points. The result says how many orderings are needed to reach"
                " it.",
            ),
            "folds": v.Key(
                "Annotated[int, Ge(2)]",
                5,
                "Number of folds into which the groups are divided. The groups of each fold are scored by the orderings"
                " that are best on the other folds.",
            ),
            "subsets_per_size": v.Key(
                "Count",
                1000,
                "Largest number of sets of orderings of one size from which the best set is chosen. If there are more,"
                " this number is drawn at random. 1000 is enough for all sets of up to twelve orderings.",
            ),
        },
        methods="Errors of scores from few orderings were estimated against the mean over all orderings, free of the"
        " chance of single reads; the best orderings were chosen in other groups than those in which their error was"
        " measured.",
    ),
    table=Shown(
        block={**v.ROWS, "strategy": v.IN_ONE_SET, "n": v.N},
        caption="Error of the mean of one read in each of k orderings, in points (root mean square), against the mean"
        " that all orderings of strategy {strategy} would have if each were read infinitely often. Column reads is k."
        " Intervals are {bootstrap[confidence]:.0%} intervals over groups.",
        notes="Best: least error in other groups than those in which it is measured. Random: any k. Pairs: orderings"
        " with their reverses, any or the best. Usual: the ordering 1 to n, alone or with its reverse. Balanced: each"
        " score once in each position. Times random: error over that of as many random orderings; less best: error less"
        " that of as many best ones, paired. Within the target: whether the error is shown to be at most"
        " {ordering_subsets[target_error]:g} points; reads for it: the least such k. Where chance is not known, it"
        " cannot be separated from effects of the order on single items: the error takes both as chance and is an upper"
        " bound; column at least takes neither and is a lower bound. Most of the gain from more reads is averaging,"
        " which repeats give as well.",
    ),
    figure=Shown(
        block={**v.strategy_rows(v.IN_ONE_SET), "readout": v.READOUT_OF_SCORES, **v.panels(2.2)},
        caption="Error of the mean of one read in each of k orderings, in points (root mean square), against the mean"
        " that all orderings of strategy {strategy} would have if each were read infinitely often. Random orderings are"
        " any k. Any pairs are orderings with their reverses.",
        notes="Best orderings and best pairs have the least error in other groups. Usual order is the ordering 1 to n,"
        " alone or with its reverse. Balanced half has each score once in each position. Bars are"
        " {bootstrap[confidence]:.0%} intervals over groups; the dashed line is the target. Where chance is not known"
        " (see the panel's title), the error is an upper bound. Repeats of one ordering average chance out as well.",
    ),
)
