from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Shown to be small",
    order=330,
    statistic=Statistic(
        question="Is the bias shown to be negligible?",
        read="the verdict against the equivalence margin: shown, not shown, undecided",
        cannot="what another margin would give",
        reads=("score_effects", "position_preference", "strategy_comparison", "condition_comparison"),
        settings=("equivalence",),
        block={
            "level": v.Key(
                "Annotated[float, Numeric(gt=0, lt=0.5)]",
                0.05,
                "Level of each of the two one-sided tests that an effect is smaller than its margin.",
            ),
            "points": v.Key("Positive", 0.1, "Equivalence margin of effects on scores, in points."),
            "log_odds": v.Key("Positive", 0.2, "Equivalence margin of position preference, in log-odds."),
            "r": v.Key("Positive", 0.02, "Equivalence margin of differences between correlations with human scores."),
        },
        methods="Effects were called smaller than a margin where two one-sided tests rejected that they were as large"
        " [@schuirmann1987].",
    ),
    table=Shown(
        block={**v.ROWS, "cluster": v.CLUSTER},
        caption="Whether effects are shown to be smaller than a margin, by two one-sided tests at a level of"
        " {equivalence[level]:.0%} with {cluster}s as the sample. Shown: the effect is smaller; not shown: it is"
        " larger; undecided: the data allow both. A row with several effects has the interval of the weakest evidence.",
        notes="Points: no ordering's mean score is {equivalence[points]} points or more from the mean over orderings;"
        " usual: the usual ordering alone. Log-odds: no position adds {equivalence[log_odds]} or more; by score: none"
        " adds that much more to high scores than to low ones. r: two strategies agree equally well with human scores,"
        " up to {equivalence[r]}. Points and r against another condition are on the items that both have. The margins"
        " are a choice of the user, not a finding. With fewer than 30 effective {cluster}s nothing is shown to be"
        " small. A saturated judge has small effects in points whatever the order does; in log-odds it is undecided."
        " The CSV file has each dataset.",
    ),
)
