from rubric_order import vocabulary as v
from rubric_order.catalogue import CRITERION_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Carry-over",
    order=560,
    statistic=Statistic(
        question="Does one score rub off on the next?",
        read="the slope of a score on the text's mean score under the criterion before; the effect of the leading"
        " criterion",
        cannot="the effect of a halo that all criteria share",
        probes=CRITERION_ORDER,
        settings=("bootstrap/confidence",),
    ),
    table=Shown(
        block={**v.CRITERIA, "n": v.N, "readouts": v.READOUTS_OF_SCORES},
        caption="Carry-over: whether a criterion scores higher right after one under which the text scores high, and"
        " which position effects remain when that is taken into account.",
        notes="Slope: points by which a criterion scores higher for each point by which the text scores higher under"
        " the criterion before it; 0 without carry-over. Predecessor and leader: p of no effect of which criterion"
        " comes before, and of which stands first. Position: p of no effect of the position, alone and given the slope."
        " Criteria: number of criteria whose own test of the position is significant. Groups of texts are the sample;"
        " few clusters: fewer than 30. * significant at 5% after Holm's adjustment for all judges, profiles, datasets"
        " and scales of the study.",
    ),
)
