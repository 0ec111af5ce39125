from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Position selection",
    order=10,
    statistic=Statistic(
        question="Which positions are selected, and how unequally?",
        read="shares; corrected V; `p_cluster`",
        cannot="how judges or scales compare, since V depends on decisiveness and on the number of levels",
        probes=SCORE_ORDER,
        settings=("bootstrap", "direction"),
        methods="Whether positions are selected equally often was tested by Pearson's chi-square with the Rao-Scott"
        " correction for reads of one group, and unequal selection was measured by Cramér's V [@rao1984].",
    ),
    table=Shown(
        ("position_selection", "order_tests"),
        block={**v.ROWS, "strategy": v.IN_EVERY_POSITION_OR_RECORDED, "cluster": v.CLUSTER, "n": v.N},
        caption="Which positions of the prompt are selected. Chi-square against uniform and the shares of the first and"
        " the last position are as in Xu et al. (2026), Table 2. Cramer's V has a {bootstrap[confidence]:.0%} bootstrap"
        " interval that allows for chance making V positive. Column direction is the direction of bias. Each ordering"
        " counts once for each item.",
        notes="p takes {cluster}s as the sample (Rao and Scott); p rotation is a permutation test for few {cluster}s;"
        " the larger counts. * means a p of at most 3% after Holm's adjustment for the tests that decide the judge's"
        " bias card; other tests have no mark. Corrected V is V without what chance adds to it; detectable V would have"
        " been found with 80% power. Near uniform: all simultaneous intervals of shares are within"
        " {direction[near_uniform]:.0%} of the uniform share; undetermined: they are too wide to tell. V depends on"
        " decisiveness and on the number of levels, so it compares neither judges nor scales (table Position preference"
        " does). Saturated: at least 95% of the reads give one score, or at least 95% of the pairs of reads of an item"
        " agree (same %). The CSV file has every interval, and bounds for reads without a score. Few clusters: fewer"
        " than 30 {cluster}s; intervals are then somewhat too short.",
    ),
    figure=Shown(
        block=v.BY_POSITION,
        caption="Share of each position of the prompt among the judge's selections, under strategy {strategy} with {n}"
        " score levels. There is one panel for each judge and readout, and one line for each dataset. Bars are"
        " {bootstrap[confidence]:.0%} bootstrap intervals over {cluster}s ({bootstrap[resamples]} resamples), where"
        " anything varies; the dotted line is selection of every position equally often.",
        notes="Hollow points are those of a saturated judge, which nearly always gives one score, or one score to each"
        " item: equal shares then do not show that it has no preference. Above the lines stands V with its interval."
        " How far shares are apart depends on how decisive a judge is and on the number of levels; to compare judges,"
        " see figure Position preference. After Xu et al. (2026), Figure 4.",
    ),
)
