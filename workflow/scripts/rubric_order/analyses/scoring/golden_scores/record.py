from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Statistic

RESULT = Result(
    order=450,
    statistic=Statistic(
        reads=("golden",),
        settings=(),
        block={
            "studies": v.Key(
                "Texts",
                [],
                "Studies of probe score_order whose judges give golden scores. The golden score of an item is a vote of"
                " the judge's reads of it. Usually such a study has strategy `fixed` with three reads, under"
                " `reference_5`.",
                reruns="`golden_scores` and what compares with golden scores",
            )
        },
    ),
)
