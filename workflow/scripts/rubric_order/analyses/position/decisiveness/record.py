from rubric_order.catalogue import SCORE_ORDER, Result, Statistic

RESULT = Result(
    order=20,
    statistic=Statistic(
        question="How decisive is the judge, and what was read?",
        read="the share of the commonest score; the share of pairs of reads that differ; the design",
        cannot="whether a decisive judge is right",
        probes=SCORE_ORDER,
        settings=(),
    ),
)
