from rubric_order.catalogue import SCORE_ORDER, Result, Statistic

RESULT = Result(
    order=170,
    statistic=Statistic(
        question="Has the judge changed since an earlier run?",
        read="the comparison of the runs' values by `check --baseline` ([gate](gate.md))",
        cannot="which of two versions is better",
        probes=SCORE_ORDER,
        settings=(),
    ),
)
