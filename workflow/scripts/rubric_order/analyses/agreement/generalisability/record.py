from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Reliability of means",
    order=270,
    statistic=Statistic(
        question="How reliable is a mean over k orderings with r reads each?",
        read="the coefficient by k and r",
        cannot="whether scores are right",
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
        block={**v.ROWS, "strategy": v.REPEATED, "n": v.N, "cluster": v.CLUSTER},
        caption="Where the variance of a read under strategy {strategy} comes from, and how reliable means of reads"
        " are, without human scores. Item is the variance between items. Shift is what an ordering adds to all items."
        " Interaction is what it adds to each item in its own way. Repetition is the variance between reads of one"
        " ordering.",
        notes="Rest (residual) is interaction and repetition together, where repetition is not known. Percentages are"
        " of the sum of item, shift and rest; small parts can be negative. G of k: predicted correlation of the mean"
        " over k orderings with the mean over k others, with {bootstrap[confidence]:.0%} jackknife intervals over"
        " {cluster}s (coverage 87% to 90% with heavy-tailed items). In parentheses: observed split-half correlation. A"
        " judge can be reliable and wrong. The CSV file also has dependability, which counts shifts as an error.",
    ),
    figure=Shown(
        block={**v.strategy_rows(v.REPEATED), "readout": v.READOUT_OF_MEANS, "cluster": v.CLUSTER, **v.panels(1.75, 3)},
        caption="Predicted correlation over items between the mean of k reads under strategy {strategy} and the mean of"
        " k others (generalisability). One line is for reads in k different orderings. Where repetition is known under"
        " each ordering, another line is for k repeats of one ordering against those of another. Bars are"
        " {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s.",
        notes="Crosses are observed split-half correlations. The dotted line is dependability, which counts what an"
        " ordering adds to all items as an error. No human score is used, and a judge can be reliable and wrong.",
    ),
)
