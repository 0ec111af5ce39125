from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Scoring accuracy",
    order=370,
    statistic=Statistic(
        question="Does a condition change the agreement with golden scores?",
        read="correlations, kappa, error and their differences from the base; the floor",
        cannot="whether golden scores are right",
        probes=SCORE_ORDER,
        reads=("items", "golden_scores"),
        settings=("bootstrap/confidence",),
        derived=("bases", "human_scales"),
    ),
    table=Shown(
        block=v.SCORING_ESTIMATES,
        caption="Agreement of scores with golden scores (human: the mean of people's; labels: those that came with the"
        " dataset) under conditions and orders of the prompt: Spearman's ρ, Pearson's r, quadratic kappa, mean absolute"
        " error (MAE) in points.",
        notes="Difference of r: from the study's first condition and strategy on the same items, with"
        " {bootstrap[confidence]:.0%} intervals and p from leaving out {cluster}s (* significant after Holm's"
        " adjustment). Bounds of r: ends if missing scores had any value. Fluctuation: largest size of a difference"
        " over datasets and variants of one kind; in brackets the largest among edits without meaning (the floor), and"
        " how often the fluctuation would exceed the floor if every edit moved scores alike. A correlation is blind to"
        " a shift of all scores, which MAE and kappa see. After Li et al. (2025), Table 3, which has no intervals and"
        " no floor.",
    ),
    figure=Shown(
        block={
            **v.SCORED,
            "dataset": v.DATASET,
            "golden": v.Key(
                "str",
                "human",
                "Golden scores with which judges are compared: those of people (`human`), the `labels` that came with"
                " the dataset, or those of a judge of `statistics/golden_scores`.",
            ),
            "quantity": v.Key("Literal['spearman', 'pearson']", "spearman", "Measure of agreement."),
            "shown": v.Key(
                "Literal['difference', 'correlation']",
                "difference",
                "What is shown: the `difference` between each correlation and that of the study's first condition and"
                " strategy, or the `correlation` itself.",
            ),
            "readout": v.READOUT_OF_MEANS,
            "n": v.N,
            "cluster": v.CLUSTER,
            **v.SIZES,
            "row_height_in": v.ROW,
            "columns": v.COLUMNS,
        },
        caption="Correlation with golden scores ({golden}) under conditions and orders of the prompt (shown: {shown}),"
        " with {bootstrap[confidence]:.0%} intervals from leaving out {cluster}s. If differences are shown, they are"
        " those from the study's first condition and strategy, on the same items; the grey band is the largest size of"
        " such a difference among edits without meaning.",
        notes="If correlations are shown, the dotted line is the first condition's. Overlapping intervals do not show"
        " that two correlations are alike: look at their difference. After Li et al. (2025), Figure 5, which has"
        " neither intervals nor band.",
    ),
)
