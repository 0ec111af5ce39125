from rubric_order import vocabulary as v
from rubric_order.catalogue import CRITERION_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Crossed orders",
    order=580,
    statistic=Statistic(
        question="Do the orders of criteria and levels act independently?",
        read="the test of the interaction in log-odds",
        cannot="that they act independently, since the test has little power with few texts",
        probes=CRITERION_ORDER,
    ),
    table=Shown(
        block={**v.CRITERIA, "n": v.N},
        caption="Tests in studies that vary the order of the criteria and the order of the score levels together"
        " (crossed design). Criterion order and level order: p of no effect of each on the score.",
        notes="Act apart: p of the hypothesis that the effects of the two orders add up in log-odds. Same selection: p"
        " of the hypothesis that level positions are selected in the same shares wherever the criterion stands; the"
        " shares can differ even where the orders act apart. V is Cramer's V of the selected level positions where the"
        " criterion stands first and last, with {bootstrap[confidence]:.0%} bootstrap intervals. Groups of texts are"
        " the sample; few clusters: fewer than 30. * significant at 5% after Holm's adjustment for all judges,"
        " profiles, datasets and scales of the study.",
    ),
)
