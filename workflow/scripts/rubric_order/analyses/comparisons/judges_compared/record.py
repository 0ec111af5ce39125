from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    order=690,
    statistic=Statistic(
        question="Is one judge more consistent or fairer than another? Does it prefer its own family?",
        read="paired differences; self-preference",
        cannot="why a family wins more often under its own judge: this judge may prefer the family, or the other judge"
        " may like it less or distinguish candidates less well",
        probes=COMPARING,
        settings=("bootstrap/confidence", "position_consistency/forms", "judges_compared"),
        block={
            "families": v.Key(
                "dict[str, Texts]",
                {},
                "Beginnings of the names of the candidates that belong to a judge's own family, by judge."
                " Self-preference is the win rate of these candidates under the judge, less their win rate under other"
                " judges.",
            )
        },
    ),
    table=Shown(
        title="Judges compared by task; self-preference",
        block=v.COMPARING | {"reference": v.REFERENCE_JUDGE},
        caption="Differences between each judge of comparisons and one other judge, over the comparisons that both have"
        " decided in all orders, with {bootstrap[confidence]:.0%} intervals of paired differences over questions. PC is"
        " position consistency, PF preference fairness (above 0: more recency). After Shi et al. (Judging the Judges),"
        " Figure 6.",
        notes="Own family's wins shows self-preference: how much more often the judge's own family wins under this"
        " judge than under the other one, on the same prompts. It also arises where the other judge likes the family"
        " less, or is less able.",
    ),
    figure=Shown(
        ("judges_compared", "position_consistency"),
        title="Judges compared by task, figure",
        block={
            **v.COMPARED,
            "reference": v.REFERENCE_JUDGE,
            **v.SIZES,
            "row_height_in": v.ROW.but(0.13, "Height of a judge's row in inches."),
        },
        caption="Judges that compare answers, task by task. The first map shows the position consistency of each judge"
        " less that of the reference, over the comparisons that both have decided in all orders. The second map shows"
        " preference fairness: above 0 is recency, below 0 is primacy.",
        notes="A star marks a value whose {bootstrap[confidence]:.0%} interval excludes 0, by Student's t over"
        " questions, each cell by itself: at a confidence of 95%, one in twenty cells of a judge that differs in"
        " nothing has a star. Numbers too small to read are left out. After Shi et al. (Judging the Judges), Figure 6,"
        " which tests over cells.",
    ),
)
