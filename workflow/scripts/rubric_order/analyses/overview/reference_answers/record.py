from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Reference answers that were made",
    category="Scoring bias",
    order=490,
    statistic=Statistic(
        question="Do reference answers have the score they were written for?",
        read="shares accepted; blind scores",
        cannot="errors that writer and reviewer share",
        reads=("references",),
        settings=("bootstrap/confidence",),
    ),
    table=Shown(
        caption="Reference answers that judges wrote for each score, by writer, reviewer, score and round. Accepted in"
        " the end is the share of slots (a group, criterion and score) with an accepted text. Texts is the share of"
        " attempts that gave a text.",
        notes="Texts accepted and unclear: shares of texts that the reviewer accepted, and about which it gave no clear"
        " verdict. Blind scores are given by the same reviewer without knowing the intended score: share that equals it"
        " (all, accepted and rejected texts), mean shift in points and quadratic kappa (all and accepted). If blind"
        " scores of accepted and rejected texts are equally far off, the verdict says nothing about the score."
        " Intervals are {bootstrap[confidence]:.0%} intervals over groups. After Li et al. (2025), Figure 4, who report"
        " none of this.",
    ),
)
