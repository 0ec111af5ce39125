from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Agreement with human scores",
    order=130,
    statistic=Statistic(
        question="How well do mean scores agree with human scores?",
        read="r with its interval; r without rater noise",
        cannot="whether the judge is good for its purpose",
        probes=SCORE_ORDER,
        reads=("items",),
        settings=("bootstrap/confidence",),
        derived=("golds", "human_scales"),
        calibrates=True,
        methods="Agreement with human scores was measured by Pearson's r, Spearman's rho, Kendall's tau-b and weighted"
        " kappa.",
    ),
    table=Shown(
        block={**v.ROWS, "n": v.N, "cluster": v.CLUSTER},
        caption="Agreement of each item's mean score with its human score: Pearson's r, Spearman's rho, Kendall's"
        " tau-b, and kappa with quadratic weights. Kappa compares rounded scores. Intervals are"
        " {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s. The mean of more reads that differ agrees"
        " better, whatever is varied between them.",
        notes="A higher r under another strategy need not be due to the order: table Strategies compared separates the"
        " two. Criterion all pools the items of all criteria. R without rater noise is Pearson's r divided by the root"
        " of the human scores' reliability, for items with several raters; shared errors are not corrected. Raters not"
        " told apart (flag): a rater's severity counts as noise, which makes this r too high if the same raters scored"
        " all items. The CSV file has bounds of r over what missing scores could have been. Few clusters: fewer than 30"
        " {cluster}s; intervals are then somewhat too short.",
    ),
)
