from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(reads=("published",), settings=()),
    table=Shown(
        ("published_shifts",),
        "Scoring bias",
        "What the published correlations bear",
        caption="Differences of the printed correlations of Li et al. (2025), Table 3, from the printed baseline,"
        " under each perturbation. They are those of both coefficients, in six pairs of dataset and golden"
        " scores. Largest is the paper's fluctuation, with the dataset and golden scores where it is. Rises"
        " is the number of differences above 0.",
        notes="The paper's table has neither Roman numerals nor reference answers. No number in it says how far a"
        " correlation moves under an edit without meaning, and the largest of many differences is not 0 even"
        " for a judge that nothing moves. So a fluctuation is no evidence by itself. The differences of a"
        " judge are not independent of each other, so no test is made of them.",
    ),
)
