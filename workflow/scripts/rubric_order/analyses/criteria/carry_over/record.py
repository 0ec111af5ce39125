from rubric_order import vocabulary as v
from rubric_order.catalogue import CRITERION_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=CRITERION_ORDER, settings=("bootstrap/confidence",)),
    table=Shown(
        ("carry_over",),
        "Criterion order",
        "Carry-over",
        block={**v.CRITERIA, "n": v.N, "readouts": v.READOUTS_OF_SCORES},
        caption="Carry-over: whether a criterion scores higher right after one under which the text scores high, and"
        " which position effects remain when that is taken into account.",
        notes="Slope is the number of points by which a criterion scores higher for each point by which the text"
        " scores higher under the criterion right before it than under an average one; it is 0 without"
        " carry-over. Predecessor: p of the hypothesis that it has no effect which criterion comes right"
        " before. Leader: the same for which criterion stands first. Position: p of no effect of the"
        " position, alone and given the slope. * means significant at 5% after Holm's adjustment for all"
        " judges, profiles, datasets and scales of the study. Criteria: the number of single criteria in"
        " which the same test of the position is significant in this way. All p-values take groups of texts"
        " as the sample; few clusters means fewer than 30 groups. Rotations put each criterion after the same"
        " two neighbours; Williams designs (strategy balanced_williams) put it after each other criterion"
        " equally often.",
    ),
)
