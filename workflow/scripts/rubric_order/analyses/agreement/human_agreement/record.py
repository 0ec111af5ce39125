from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        reads=("items",),
        settings=("bootstrap/confidence",),
        derived=("golds", "human_scales"),
        calibrates=True,
        methods="Agreement with human scores was measured by Pearson's r, Spearman's rho, Kendall's tau-b and"
        " weighted kappa.",
    ),
    table=Shown(
        ("human_agreement",),
        "Human agreement",
        "Agreement with human scores",
        block={**v.ROWS, "n": v.N, "cluster": v.CLUSTER},
        caption="Agreement of each item's mean score with its human score: Pearson's r, Spearman's rho, Kendall's"
        " tau-b, and kappa with quadratic weights. Kappa compares rounded scores. Intervals are"
        " {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s. The mean of more reads that differ"
        " agrees better, whatever is varied between them.",
        notes="So a higher r under one strategy than under another need not be due to the order (table Strategies"
        " compared separates order from averaging). Criterion all pools the items of all criteria. R without"
        " rater noise is Pearson's r divided by the root of the human scores' reliability, for items with"
        " several raters. Errors that raters share are not corrected. If every item of a criterion has the"
        " same number of scores, each column of scores is taken as one rater, and a rater's constant severity"
        " is not noise. Raters not told apart means that numbers of scores differ between items, or that"
        " columns do not differ. Columns do not differ if raters are equally severe, or stand in another"
        " order in each item. Severity then counts as noise. This is right if each item has raters of its"
        " own, and makes r too high if the same raters scored all items. Means leave out reads without a"
        " score. The CSV file has bounds of r over what these scores could have been. Datasets without human"
        " scores are not shown. Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too"
        " short.",
    ),
)
