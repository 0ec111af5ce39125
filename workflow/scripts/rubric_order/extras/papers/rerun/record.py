from rubric_order.catalogue import SCORE_ORDER, Result, Statistic

RESULT = Result(
    order=710,
    statistic=Statistic(
        question="How far would another run on the same items move an estimate?",
        read="the range of another run",
        cannot="what other items would give",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed"),
    ),
)
