from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
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
        methods="Effects were called smaller than a margin where two one-sided tests reject that they are as large"
        " [@schuirmann1987].",
    ),
    table=Shown(
        ("equivalence",),
        "Position bias",
        "Shown to be small",
        block={**v.ROWS, "cluster": v.CLUSTER},
        caption="Whether effects are shown to be too small to be worth mention, by two one-sided tests at a level of"
        " {equivalence[level]:.0%} with {cluster}s as the sample. That is, the tests ask whether an interval"
        " of confidence 1 less twice that level lies within the margins. Points: no ordering's mean score is"
        " {equivalence[points]} points or more from the mean over orderings.",
        notes="Usual: the same for the usual ordering alone. Log-odds: no position adds {equivalence[log_odds]} or"
        " more to an option's log-odds. Log-odds by score: no position adds that much more to high scores"
        " than to low ones. r: two strategies agree equally well with human scores, up to {equivalence[r]}."
        " Points and r against another condition: on the items that both conditions have, mean score and"
        " agreement differ by less than these margins. Shown means that the effect is smaller than the"
        " margin, not shown that it is larger, and undecided that the data allow both. Where a row tests"
        " several effects, its interval is that of the effect with the weakest evidence of being small. The"
        " margins are a choice of whoever reads the scores, not a finding. Fewer than 30 {cluster}s (counted"
        " as {cluster}s of equal size) show nothing to be small. A saturated judge has small effects in"
        " points whatever the order does to it; in log-odds it is undecided. Points and log-odds are those of"
        " all datasets together; the CSV file has each dataset.",
    ),
)
