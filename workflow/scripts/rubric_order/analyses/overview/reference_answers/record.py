from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(reads=("references",), settings=("bootstrap/confidence",)),
    table=Shown(
        ("reference_answers",),
        "Scoring bias",
        "Reference answers that were made",
        caption="Reference answers that judges wrote for each score, by writer, reviewer, score and round. Accepted"
        " in the end is the share of slots (a group, criterion and score) with an accepted text. Texts is the"
        " share of attempts that gave a text.",
        notes="Texts accepted is the share of texts that the reviewer accepted, and unclear the share about which"
        " it gave no clear verdict. For blind scores, the same reviewer scores a text without knowing what"
        " score it was written for. Columns are the share of blind scores that equal that score, of all"
        " texts, of accepted and of rejected ones; and their mean shift in points and quadratic kappa, of all"
        " texts and of accepted ones. If blind scores of accepted texts are as far off as those of rejected"
        " ones, the verdict says nothing about the score. Later rounds contain what was rejected before."
        " Intervals are {bootstrap[confidence]:.0%} intervals with groups as the sample. After Li et al."
        " (2025), Figure 4, who report none of this.",
    ),
)
