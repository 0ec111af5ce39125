from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Number of score levels, table",
    order=120,
    statistic=Statistic(
        question="Is selection less equal with more levels?",
        read="corrected V by number of levels",
        cannot="whether the preference changes",
        reads=("position_selection",),
        settings=("scales",),
        block={
            "studies": v.Key(
                "SomeTexts",
                ["position_bias"],
                "Studies with the scales to compare. If several studies have the same estimate, that of the first study"
                " is taken.",
            )
        },
    ),
    table=Shown(
        block={
            "profile": v.PROFILE,
            "condition": v.CONDITION,
            "strategy": v.IN_EVERY_POSITION_OR_RECORDED,
            "cluster": v.CLUSTER,
        },
        caption="Corrected Cramer's V of position selection by number of score levels, as in Xu et al. (2026), Table 4."
        " Corrected means without what chance adds to V. Each cell is the mean over datasets; in brackets are their"
        " number and how many of them are saturated, where selections cannot show a preference.",
        notes="The {bootstrap[confidence]:.0%} interval of the mean combines those of the datasets, which are"
        " independent. The same preference gives another V on another number of levels; table Position preference"
        " compares preferences. The CSV file has V of each dataset, with and without what chance adds; the paper's V is"
        " the one with it.",
    ),
)
