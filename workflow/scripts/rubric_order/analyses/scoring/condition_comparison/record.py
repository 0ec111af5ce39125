from rubric_order.catalogue import SCORE_ORDER, Result, Statistic

RESULT = Result(
    order=300,
    statistic=Statistic(
        question="What does a condition do to scores and agreement?",
        read="differences in points and in r",
        cannot="why scores change",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "equivalence/points"),
    ),
)
