from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "generalisability"),
        derived=("temperatures",),
        calibrates=True,
        block={
            "repeats": v.Key(
                "Annotated[list[Count], Len(1), Unique]",
                [1, 2, 3, 5, 10],
                "Numbers of reads under each ordering for which reliability is predicted.",
            )
        },
    ),
    table=Shown(
        ("generalisability",),
        "Human agreement",
        "Reliability of means, table",
        block={**v.ROWS, "strategy": v.REPEATED, "n": v.N, "cluster": v.CLUSTER},
        caption="Where the variance of a read under {strategy} comes from, and how reliable means of reads are,"
        " without human scores. Item is the variance between items. Shift is what an ordering adds to all"
        " items. Interaction is what it adds to each item in its own way. Repetition is the variance between"
        " reads of one ordering.",
        notes="Rest is interaction and repetition together; they are not separated where repetition is not known."
        " Percentages are of the sum of item, shift and rest. Small parts can come out negative. G of k is"
        " the predicted correlation of the mean over k orderings, each read once, with the mean over k"
        " others. Its intervals are {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s; with"
        " items as heavy-tailed as Student's t with 3 degrees of freedom, nominal 95% intervals cover 87% to"
        " 90%. In round brackets is the correlation that means over disjoint sets of the orderings had. The"
        " prediction takes the variance of each set as the mean of all, and is exact if they are equal. If"
        " orderings spread the scores unequally, sets of them correlate better than predicted. A judge can be"
        " reliable and wrong: table Agreement with human scores shows whether it agrees with people."
        " Reliability grows with the differences between the items, so it holds for these datasets alone. The"
        " CSV file also has dependability, which counts shifts as an error.",
    ),
    figure=Shown(
        ("generalisability",),
        "Human agreement",
        "Reliability of means, figure",
        block={**v.by_strategy(v.REPEATED), "readout": v.READOUT_OF_MEANS, "cluster": v.CLUSTER, **v.panels(1.75, 3)},
        caption="Predicted correlation over items between the mean of k reads under {strategy} and the mean of k"
        " others (generalisability). One line is for reads in k different orderings. Where repetition is"
        " known under each ordering, another line is for k repeats of one ordering against those of another."
        " Bars are {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s.",
        notes="Crosses are the correlations that means over disjoint sets of the orderings had. The dotted line is"
        " dependability, which also counts as an error what an ordering adds to all items. If orderings"
        " spread the scores unequally, sets of them correlate better than predicted. No human score is used,"
        " and a judge can be reliable and wrong. The figure Number of reads shows agreement with human"
        " scores.",
    ),
)
