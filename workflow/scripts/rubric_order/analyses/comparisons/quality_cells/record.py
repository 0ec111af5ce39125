from rubric_order.catalogue import COMPARING, Result, Statistic

RESULT = Result(
    order=670, statistic=Statistic(probes=COMPARING, settings=("bootstrap/seed", "position_consistency/forms"))
)
