from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Golden scores beside people's",
    order=470,
    statistic=Statistic(
        question="Do golden scores agree with people?",
        read="correlations of labels and votes",
        cannot="anything where there are no human scores",
        reads=("items", "golden_scores"),
        settings=("bootstrap/confidence",),
        derived=("human_scales",),
    ),
    table=Shown(
        caption="Agreement of golden scores with the mean of people's scores. Source labels is the mean of the labels"
        " that came with the dataset. A judge's golden scores are the vote of its reads (majority; the median where no"
        " score has one).",
        notes="The columns are Spearman's ρ, Pearson's r, quadratic kappa (scores rounded, halves up) and mean absolute"
        " error (MAE) in points, with {bootstrap[confidence]:.0%} intervals from leaving out groups. Reads differ:"
        " share of items whose reads do not all agree, in brackets the share without a majority. A judge that makes"
        " golden scores agrees with itself. After Li et al. (2025), Table 2, which has correlations alone.",
    ),
)
