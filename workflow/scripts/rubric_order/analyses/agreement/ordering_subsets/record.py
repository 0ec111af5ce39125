from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
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
                "Number of folds into which the groups are divided. The groups of each fold are scored by the"
                " orderings that are best on the other folds.",
            ),
            "subsets_per_size": v.Key(
                "Count",
                1000,
                "Largest number of sets of orderings of one size from which the best set is chosen. If there are"
                " more, this number is drawn at random. 1000 is enough for all sets of up to twelve orderings.",
            ),
        },
        methods="Errors of scores by few orderings were estimated against the mean over all orderings without the"
        " chance of reads; the best orderings were chosen in other groups than those that their error was"
        " measured in.",
    ),
    table=Shown(
        ("ordering_subsets",),
        "Calibration",
        "Orderings to read, table",
        block={**v.ROWS, "strategy": v.IN_ONE_SET, "n": v.N},
        caption="Error of the mean of one read in each of k orderings, in points (root mean square), against the"
        " mean that all orderings of {strategy} would have if each were read infinitely often. Column reads"
        " is k. Intervals are {bootstrap[confidence]:.0%} intervals over groups.",
        notes="Best are the orderings with the least error in other groups than those in which the error is"
        " measured. Random is any k orderings. Pairs are orderings with their reverses: any pairs, or the"
        " best pairs. Usual is the ordering 1 to n, alone or with its reverse. Balanced has each score once"
        " in each position. Times random is the error divided by that of as many random orderings. Less best"
        " is the error less that of as many best orderings, paired. Within the target is yes if the error is"
        " shown to be at most {ordering_subsets[target_error]:g} points, and no if it is shown to be more."
        " Reads for it is the least k from which on the error is within the target. How much reads vary by"
        " chance is known from repeats of every ordering, or from the probabilities that a score is drawn"
        " from. An expected score does not vary by chance if nothing is written before the answer. Without"
        " such information, chance cannot be told from what an ordering does to single items. The error then"
        " counts both as chance, and is the largest that it can be. Column at least counts neither as chance,"
        " and is the error against the mean of the actual reads. Most of the gain from more reads comes from"
        " averaging over chance, which repeats of one ordering give as well. An error says how near a score"
        " is to this judge's own mean, not whether this mean is right.",
    ),
    figure=Shown(
        ("ordering_subsets",),
        "Calibration",
        "Orderings to read, figure",
        block={**v.by_strategy(v.IN_ONE_SET), "readout": v.READOUT_OF_SCORES, **v.panels(2.2)},
        caption="Error of the mean of one read in each of k orderings, in points (root mean square), against the"
        " mean that all orderings of {strategy} would have if each were read infinitely often. Random"
        " orderings are any k. Any pairs are orderings with their reverses.",
        notes="Best orderings and best pairs are those with the least error in other groups than those in which"
        " the error is measured. Usual order is the ordering 1 to n, alone or with its reverse. Balanced half"
        " has each score once in each position. Bars are {bootstrap[confidence]:.0%} intervals over groups."
        " The dashed line is the target. Where chance is not known (see the panel's title), all differences"
        " between an item's reads count as chance, except what the orderings do to all items. The error is"
        " then the most that it can be. Most of the gain from more reads comes from averaging over chance,"
        " which repeats of one ordering give as well.",
    ),
)
