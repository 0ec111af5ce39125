from rubric_order import vocabulary as v
from rubric_order.catalogue import CRITERION_ORDER, Result, Shown, Statistic

RESULT = Result(
    order=530,
    statistic=Statistic(
        question="Does the position of a criterion move its score?",
        read="the gap beside the gap by chance; the test over groups",
        cannot="why a score moves, since the criterion before it changes as well",
        probes=CRITERION_ORDER,
    ),
    table=Shown(
        ("criterion_order", "criteria_agreement"),
        title="Position gaps, table",
        block={**v.CRITERIA, "strategy": v.IN_EVERY_POSITION, "n": v.N, "readouts": v.READOUTS_OF_SCORES},
        caption="What the position of a criterion in the prompt does to its score, with the columns of Xu et al."
        " (2026), Table 5. Avg r is the mean over criteria of Pearson's r with people. A gap is a criterion's mean"
        " score in its best position less that in its worst, in points of the scale.",
        notes="Mean gap is the average over criteria, Max gap the greatest. A gap is never 0, so chance shows the gap"
        " when whole groups of texts count with random signs, and p is the share of such draws with a gap as large (*"
        " significant at 5% after Holm's adjustment for all judges, profiles, datasets and scales of the study). Sig.,"
        " groups: number of criteria whose position test is significant with groups as the sample; Sig., texts: the"
        " same for the paper's Friedman test, which takes texts as independent. Both are adjusted by Holm. Few"
        " clusters: fewer than 30 groups.",
    ),
    figure=Shown(
        title="Shift by position, figure",
        block={
            "study": v.STUDY.but("criterion_order"),
            "profile": v.PROFILE,
            "condition": v.CONDITION,
            "strategy": v.IN_EVERY_POSITION,
            "n": v.N,
            "readout": v.READOUT_OF_SCORES,
            "datasets": v.Key(
                "list[str] | None", None, "Ids of the datasets to show; null: all datasets of the study."
            ),
            **v.SIZES,
            "row_height_in": v.ROW.but(0.24, "Height of a row of cells in inches."),
            "columns": v.COLUMNS,
            "names": v.NAMES,
        },
        caption="Difference between each criterion's mean score at each position in the prompt and its mean over"
        " positions (shift), in points of the scale, under strategy {strategy}. Red cells score higher, blue ones"
        " lower.",
        notes="A star marks a shift whose {bootstrap[confidence]:.0%} bootstrap interval over groups does not contain"
        " 0, in a criterion whose position test is significant; a dagger marks a criterion whose test is not"
        " significant (5%, Holm, groups as the sample). After Xu et al. (2026), Figures 10 and 11.",
    ),
)
