from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Evidence in the published correlations",
    category="Scoring bias",
    order=460,
    statistic=Statistic(reads=("published",), settings=()),
    table=Shown(
        caption="Differences of the printed correlations of Li et al. (2025), Table 3, from the printed baseline, under"
        " each perturbation. They are those of both coefficients, in six pairs of dataset and golden scores. Largest is"
        " the paper's fluctuation, with the dataset and golden scores where it is. Rises is the number of differences"
        " above 0.",
        notes="The paper's table has neither Roman numerals nor reference answers, and no number for an edit without"
        " meaning. The largest of many differences is not 0 even for a judge that nothing moves, and the differences of"
        " a judge are dependent, so no test is made.",
    ),
)
