from rubric_order import strategies
from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Position selection by dataset, figure",
    order=240,
    figure=Shown(
        ("position_selection",),
        block={
            **v.strategy_rows(v.IN_EVERY_POSITION.but(type=v.one_of(*strategies.fitting("by_dataset")))),
            "readout": v.READOUT,
            "cluster": v.CLUSTER,
            **v.panels(2.2),
        },
        caption="Share of each position of the prompt among the selections of each judge, under strategy {strategy}"
        " with {n} score levels. There is one panel for each dataset, and one line for each judge. Bars are"
        " {bootstrap[confidence]:.0%} bootstrap intervals over {cluster}s, where anything varies; the dotted line is"
        " selection of every position equally often.",
        notes="Hollow points are those of a saturated judge: equal shares do not show that it has no preference. How"
        " far shares are apart depends on how decisive a judge is. After Figure 5 of the earlier version of Xu et al.",
    ),
)
