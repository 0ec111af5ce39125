from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Smallest detectable bias, figure",
    order=80,
    statistic=Statistic(
        question="How small a V could the study have found?",
        read="the V that is found with 80% power",
        cannot="whether the V that was found is real",
        reads=("position_selection",),
        settings=("power",),
        block={
            "n": v.Key("Levels", 5, "Number of positions of the assumed studies."),
            "items": v.Key(
                "Annotated[list[Annotated[int, Ge(2)]], Len(2), Unique]",
                [20, 50, 100, 200, 320, 500, 1000, 2000],
                "Numbers of items of the assumed studies.",
            ),
            "budgets": v.Key(
                "Annotated[list[Count], Len(1), Unique]",
                [1, 2, 5, 10],
                "Numbers of reads of each item in the assumed studies.",
            ),
            "correlations": v.Key(
                "Annotated[list[Probability], Len(1, 4), Unique]",
                [0, 0.5, 1],
                "Correlations between the reads of an item in the assumed studies, from 0 (independent) to 1"
                " (identical). At most four can be given.",
            ),
            "level": v.Key("Share", 0.05, "Level of the test of uniform selection."),
            "power": v.Key("Share", 0.8, "Power: the probability with which a bias should be found."),
        },
    ),
    figure=Shown(
        block={
            "study": v.STUDY.but(description="Study to show beside the assumed studies."),
            "profile": v.PROFILE,
            "condition": v.CONDITION,
            "strategy": v.IN_EVERY_POSITION_OR_RECORDED,
            "cluster": v.CLUSTER,
            **v.SIZES,
            "height_in": v.Key("Inches", 3, "Height in inches."),
            "columns": v.COLUMNS,
        },
        caption="Smallest position bias (Cramér's V over {power[n]} positions) that a test of uniform selection at"
        " {power[level]:.1%} finds with {power[power]:.0%} power, by number of items. Left: each item has K reads, with"
        " correlation ρ. Identical reads (ρ = 1), such as greedy repeats of one prompt, count as one read, however many"
        " there are.",
        notes="Right: each judge and dataset of study {study}. Filled: the smallest V by the design effect of its own"
        " reads over {cluster}s; hollow: the observed V, not corrected for chance; grey lines: independent reads. A"
        " hollow mark below its filled one is a bias that the study was too small to find reliably, or no bias. A judge"
        " that always keeps to its score has no marks.",
    ),
)
