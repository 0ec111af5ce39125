from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    title="Consistency by task, figure",
    order=540,
    statistic=Statistic(
        question="Does the verdict depend on the order of the candidates?",
        read="consistency, fairness, log-odds of the first position, excess over repeats",
        cannot="how much is chance and how much is the order, if each order was read once",
        probes=COMPARING,
        settings=("bootstrap/confidence", "position_consistency"),
        block={
            "forms": v.Key(
                "dict[str, Texts]",
                {},
                "Forms of verdicts that count, by benchmark. An answer in another form is a failure. For a benchmark"
                " that is not listed, all forms that the parser knows count.",
            ),
            "rules": v.Key(
                "Literal['ours', 'shi2025']",
                "ours",
                "Rules by which `position_consistency` is computed: `ours`, or `shi2025`, the rules behind Table 2 of"
                " Shi et al. (first verdict of an answer, fairness over all pairs, other deviations). docs/pairwise.md"
                " lists the differences. Other statistics read verdicts by `forms` under either rules.",
            ),
        },
        methods="Shares of comparisons have Clopper-Pearson intervals for as many independent comparisons as the"
        " jackknife over groups implies; differences have intervals of the jackknife. The log-odds that a position adds"
        " to a candidate were estimated by a conditional logit of pairs of reads with Firth's penalty.",
    ),
    figure=Shown(
        block={
            **v.COMPARED,
            "cluster": v.Key(
                "Literal['group', 'source']",
                "group",
                "Unit of the sample: questions (`group`), or what several questions share, such as a project"
                " (`source`).",
            ),
            "least_comparisons": v.Key(
                "Count",
                10,
                "Number of comparisons that a judge must have decided in all orders of a task. With fewer it has no"
                " point in that task.",
            ),
            **v.SIZES,
            "row_height_in": v.ROW.but(0.3, "Height of a task in inches."),
            "columns": v.COLUMNS.but(3),
        },
        caption="Judges that compare answers, by task: position consistency, preference fairness (above 0: recency) and"
        " beta, which is what the first position adds to a candidate's log-odds over the last (above 0: primacy). Bars"
        " are {bootstrap[confidence]:.0%} intervals over {cluster}s. The dotted line is a judge of pairs without a"
        " preferred position.",
        notes="By arithmetic the size of fairness is at most one less consistency, and it shrinks where a judge is"
        " decisive; beta does not. An arrow means that the interval continues beyond the axis. A point needs"
        " {least_comparisons} comparisons decided in all orders; a beta without a point is not finite. After Shi et al."
        " (Judging the Judges), Figures 2 (a), (b) and 6; the intervals are ours.",
    ),
)
