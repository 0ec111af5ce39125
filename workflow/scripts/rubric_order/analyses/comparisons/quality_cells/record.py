from rubric_order.catalogue import COMPARING, Result, Statistic

RESULT = Result(statistic=Statistic(probes=COMPARING, settings=("bootstrap/seed", "position_consistency/forms")))
