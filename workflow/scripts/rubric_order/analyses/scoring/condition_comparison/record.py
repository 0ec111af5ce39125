from rubric_order.catalogue import SCORE_ORDER, Result, Statistic

RESULT = Result(statistic=Statistic(probes=SCORE_ORDER, settings=("bootstrap/confidence", "equivalence/points")))
