from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        reads=("items", "golden_scores"), settings=("bootstrap/confidence",), derived=("human_scales",)
    ),
    table=Shown(
        ("golden_alignment",),
        "Scoring bias",
        "Golden scores beside people's",
        caption="Agreement of golden scores with the mean of people's scores. Source labels is the mean of the"
        " labels that came with the dataset. A judge's golden scores are the vote of its reads (majority; the"
        " median where no score has one).",
        notes="The columns are Spearman's ρ, Pearson's r, quadratic kappa (scores rounded, halves up) and mean"
        " absolute error (MAE) in points, with {bootstrap[confidence]:.0%} intervals from leaving out groups."
        " Reads differ is the share of items whose reads do not all agree; the brackets give the share of"
        " items in which no score has a majority. At temperature 0 the reads of an item are nearly the same,"
        " and a vote says little more than one read. A judge that makes golden scores and is judged by them"
        " agrees with itself. After Li et al. (2025), Table 2, which has correlations alone.",
    ),
)
