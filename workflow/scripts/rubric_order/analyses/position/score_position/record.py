from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Scores by position",
    order=290,
    statistic=Statistic(
        question="At which positions is each score selected?",
        read="the share of each position among the selections of a score",
        cannot="the effect of one position on one score",
        probes=SCORE_ORDER,
    ),
    table=Shown(
        block={**v.ROWS, "strategy": v.OF_LEVELS, "n": v.N, "cluster": v.CLUSTER},
        caption="Share of each position among the selections of each score, in percent, as in the earlier version of Xu"
        " et al., Table 5. Without position bias all shares are equal. * means that the {bootstrap[confidence]:.0%}"
        " bootstrap interval over {cluster}s does not contain the equal share.",
        notes="The CSV file has each dataset, the intervals, and how often each score was selected at each position."
        " Few clusters: fewer than 30 {cluster}s; intervals are then somewhat too short.",
    ),
    figure=Shown(
        block={
            **v.strategy_rows(v.OF_LEVELS),
            "dataset": v.DATASET.but(
                description="Dataset to show. `all` pools the selections in all of the study's datasets."
            ),
            "readout": v.READOUT,
            "cluster": v.CLUSTER,
            **v.panels(columns=3),
        },
        caption="Share of each position among the selections of each score, in percent, under strategy {strategy}."
        " Colours show how far a share is from the equal share: red above, blue below. Bold numbers have a"
        " {bootstrap[confidence]:.0%} bootstrap interval over {cluster}s that does not contain the equal share.",
        notes="At a confidence of 95%, about one in twenty cells of a judge without bias is bold. The quantity is that"
        " of Table 5 of the earlier version of Xu et al.",
    ),
)
