from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Number of reads",
    order=180,
    statistic=Statistic(
        question="What do more reads bring?",
        read="mean r by number of reads",
        cannot="the gain from more reads than the study has",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "budget_curve"),
        calibrates=True,
        block={
            "subsets_per_size": v.Key(
                "Count",
                252,
                "Largest number of subsets of reads of one size. If there are more, this number is drawn at random."
                " There are 252 subsets of five of ten reads.",
            )
        },
    ),
    table=Shown(
        block={
            "study": v.STUDY,
            "also": v.ALSO,
            "condition": v.CONDITION,
            "statistic": v.CORRELATION,
            "cluster": v.CLUSTER,
        },
        caption="Correlation with human scores ({statistic}) of one read and of the mean of all reads of an item, and"
        " the share of the gain that a few reads reach. Correlations are means over all choices of the reads, or over"
        " {budget_curve[subsets_per_size]} drawn ones if there are more, with {bootstrap[confidence]:.0%} intervals"
        " over {cluster}s.",
        notes="The gain is the correlation of all reads less that of one read. A share is given only where the interval"
        " of the gain lies above 0. By averaging alone, k of K independent reads reach the share (1 - 1/k) / (1 - 1/K)"
        " of a small gain: 74% with 3 of 10 reads and 89% with 5. Xu et al. (2026), Section 5.3, report two thirds and"
        " 85%; such shares are no evidence about orders.",
    ),
    figure=Shown(
        block={
            **v.SHARED,
            "n": v.N,
            "strategies": v.Key(
                f"Annotated[list[{v.ON_CURVE}], Len(1), Unique]", ["balanced", "random", "fixed"], "Strategies to show."
            ),
            "measure": v.CORRELATION.but(description="Correlation to show."),
            "readout": v.READOUT_OF_MEANS,
            "cluster": v.CLUSTER,
            **v.panels(1.75, 3),
        },
        caption="Correlation with human scores when k of an item's reads are averaged. A point is the mean over the"
        " subsets of k reads, for items with a score from every read. Bands contain the middle 95% of the subsets. Bars"
        " at the right end of a curve are {bootstrap[confidence]:.0%} intervals of its last point over {cluster}s.",
        notes="Points that share items vary together, so overlapping bars do not mean that two curves are equal. The"
        " vertical axis need not start at 0. After Xu et al. (2026), Figure 9.",
    ),
)
