from rubric_order.catalogue import Result, Statistic

RESULT = Result(
    statistic=Statistic(
        reads=("decisiveness", "position_selection", "position_preference", "score_effects"),
        settings=(),
        methods="A bias was called found where a test of the order had p of at most 3% after Holm's adjustment for"
        " all tests of the judge's bias card. Option probabilities decided what is in log-odds where they"
        " were known.",
    )
)
