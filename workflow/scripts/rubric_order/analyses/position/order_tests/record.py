from rubric_order.catalogue import Result, Statistic

RESULT = Result(
    order=70,
    statistic=Statistic(
        question="Which tests decide the card?",
        read="p adjusted by Holm",
        cannot="anything about tests that do not decide",
        reads=("decisiveness", "position_selection", "position_preference", "score_effects"),
        settings=(),
        methods="An effect of the order counted as found where a test of it had p of at most 3% after Holm's adjustment"
        " for all tests of the judge's bias card. Tests in log-odds used option probabilities where these were known.",
    ),
)
