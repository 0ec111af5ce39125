from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap", "direction"),
        methods="Whether positions are selected equally often was tested by Pearson's chi-square with the Rao-Scott"
        " correction for reads of one group, and the strength was measured by Cramér's V [@rao1984].",
    ),
    table=Shown(
        ("position_selection", "order_tests"),
        "Position bias",
        "Position selection, table",
        block={**v.ROWS, "strategy": v.IN_EVERY_POSITION_OR_RECORDED, "cluster": v.CLUSTER, "n": v.N},
        caption="Which positions of the prompt are selected. Chi-square against uniform and the shares of the first"
        " and the last position are as in Xu et al. (2026), Table 2. Cramer's V has a"
        " {bootstrap[confidence]:.0%} bootstrap interval that allows for chance making V positive. Column"
        " direction is the direction of bias. Each ordering counts once for each item.",
        notes="Where reads are lost, selections are compared with what the other reads showed. p is from a test"
        " that takes {cluster}s, not reads, as the sample (Rao and Scott). p rotation is from a permutation"
        " test that remains reliable with few {cluster}s; the larger of the two p-values counts. * means a p"
        " of at most 3% after Holm's adjustment for the tests that decide the judge's bias card; tests that"
        " do not decide it have no mark. The CSV file also has Holm's adjustment for all judges, datasets and"
        " scales of the study. Corrected V is V without what chance adds to it. Detectable V is the smallest"
        " V that would have been found with a probability of 80%. The direction comes from simultaneous"
        " intervals of all shares, not from the largest share: near uniform means that all intervals are"
        " within {direction[near_uniform]:.0%} of the uniform share, undetermined that they are too wide to"
        " tell. Where the readout is option probabilities, chi-square is computed from summed probabilities:"
        " it is a description, not a test. What is selected is not what is preferred. V depends on how"
        " decisive the judge is and on the number of levels, and does not show a preference that changes with"
        " the score. So V compares neither judges nor scales (table Position preference does), and scores"
        " can change with the order where V is 0 (see table Effect on scores). Saturated means that the"
        " commonest score takes 95% of the reads, or that 95% of the pairs of reads of an item agree (same"
        " %). The order then has next to nothing to change, selections cannot show a preference, and there is"
        " no detectable V. Where nothing varies there is no interval. The CSV file has every interval, and"
        " bounds that allow for whatever reads without a score could have selected. Few clusters means fewer"
        " than 30 {cluster}s; intervals are then somewhat too short.",
    ),
    figure=Shown(
        ("position_selection",),
        "Position bias",
        "Position selection, figure",
        block=v.BY_POSITION,
        caption="Share of each position of the prompt among the judge's selections, under strategy {strategy} with"
        " {n} score levels. There is one panel for each judge and readout, and one line for each dataset."
        " Bars are {bootstrap[confidence]:.0%} bootstrap intervals over {cluster}s ({bootstrap[resamples]}"
        " resamples), where anything varies; the dotted line is selection of every position equally often.",
        notes="Hollow points are those of a saturated judge. Such a judge nearly always gives one score, or one"
        " score to each item, so the order has next to nothing to change. Equal shares then do not show that"
        " it has no preference. Above the lines stands V with its interval; V is 0 where all positions are"
        " selected equally often. The number of {cluster}s is there or in the legend. How far shares are"
        " apart depends on how decisive a judge is and on the number of levels; to compare judges, see figure"
        " Position preference. After Xu et al. (2026), Figure 4.",
    ),
)
