from rubric_order.catalogue import Result, Statistic

RESULT = Result(
    order=70,
    statistic=Statistic(
        question="Which tests decide the card?",
        read="p adjusted by Holm",
        cannot="anything about tests that do not decide",
        reads=("decisiveness", "position_selection", "position_preference", "score_effects"),
        settings=(),
        methods="A bias was called found where a test of the order had p of at most 3% after Holm's adjustment for all"
        " tests of the judge's bias card. Option probabilities decided what is in log-odds where they were known.",
    ),
)
