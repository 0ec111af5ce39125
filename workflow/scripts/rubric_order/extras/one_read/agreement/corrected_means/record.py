from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Means corrected by people",
    order=210,
    statistic=Statistic(
        question="What is people's mean score over all items, if they scored only a part?",
        read="the corrected mean, difference or pass rate, beside the value from labels alone; the share of labels that"
        " are still needed",
        cannot="single items; anything, if the labelled groups are no random sample",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "corrected_means"),
        derived=("human_scales",),
        block={
            "human_pass": v.Key(
                "Number | None",
                None,
                "Lowest human score that passes, on the scale on which people scored; null: no pass rates are"
                " computed.",
            ),
            "judge_pass": v.Key(
                "Number | None",
                None,
                "Lowest score of the judge that passes, from 1 to the number of levels; null: the score that"
                " corresponds to `human_pass`.",
            ),
            "reference": v.Key(
                "str | None",
                None,
                "Candidate with which the others are compared; null: the candidate of each dataset whose name is first"
                " in alphabetical order.",
            ),
            "margins": v.Key(
                "Annotated[list[Positive], Len(1), Unique]",
                [0.05, 0.1, 0.15, 0.2, 0.3, 0.5],
                "Margins of error for which the number of labelled groups is computed, in points of people's scale, or"
                " as shares of 1 for pass rates.",
            ),
            "groups": v.Key(
                "Annotated[int, Ge(2)] | None",
                None,
                "Number of labelled groups to use, drawn at random; null: all of them. The labels of the other groups"
                " are hidden, to show what so few labels would have given.",
            ),
        },
        methods="Means of human scores over all items were estimated from the labelled items and the judge's scores of"
        " all items by prediction-powered inference, with groups as the sample and the weight of the judge's scores"
        " that gives the least error; pass rates were also estimated from the judge's sensitivity and specificity"
        " [@angelopoulos2023; @rogan1978].",
    ),
    table=Shown(
        block={
            **v.ROWS,
            "n": v.N,
            "margin": v.Key(
                "Positive",
                0.1,
                "Margin of error for which the number of labelled groups is shown. It is one of the statistic's"
                " `margins`.",
            ),
        },
        caption="Estimates of what people would say on average about all items: from their scores of some groups alone"
        " (labels), from the judge alone, and from both (corrected). Intervals are {bootstrap[confidence]:.0%}"
        " intervals over groups. Values are in points of people's scale; pass rates are from 0 to 1. Corrected is PPI++"
        " with groups as the sample.",
        notes="It is right on average whatever the judge is like, if the labelled groups are a random sample. Labelled"
        " less others: the judge's mean over labelled groups less that over the others; far from 0, the sample is not"
        " random, and the row is flagged. The interval of judge alone does not show how far people disagree with the"
        " judge. By errors: pass rate from the judge's rate, sensitivity and specificity (Rogan and Gladen), which must"
        " be the same in groups without labels. Weight: points by which the estimate moves for one point of the judge's"
        " mean. Labels: number of labels that corrected needs, as a share of what labels alone need for the same error."
        " Groups for the margin: labelled groups with which half of an interval is {margin}, for labels alone and"
        " corrected. All labels: the same with the labels that were hidden. Few clusters: fewer than 30 effective"
        " labelled groups.",
    ),
    figure=Shown(
        block={
            **v.strategy_rows(v.OF_SCORES_OR_RECORDED),
            "criterion": v.Key("str", "all", "Criterion to show. `all` shows the criteria together."),
            "target": v.Key(
                "Literal['mean', 'difference', 'pass_rate']",
                "mean",
                "What is shown: mean scores, differences between candidates and the reference candidate, or pass"
                " rates.",
            ),
            "readout": v.READOUT_OF_MEANS,
            **v.SIZES,
            "row_height_in": v.ROW.but(0.3),
        },
        caption="Estimates of what people would say on average about all items (target: {target}), and labelled groups"
        " that a margin of error needs. Left: estimates from the labels of some groups alone, from the judge alone, and"
        " from both (corrected), with {bootstrap[confidence]:.0%} intervals over groups; by errors uses the judge's"
        " rate, sensitivity and specificity.",
        notes="Right: labelled groups with which half of an interval is as small as the margin, for the first row on"
        " the left, by labels alone and with the judge. Beyond the groups that there are (dotted) the judge adds"
        " nothing. If labelled groups are no random sample, labels alone and corrected are wrong.",
    ),
)
