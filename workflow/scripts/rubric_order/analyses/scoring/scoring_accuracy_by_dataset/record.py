from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Scoring accuracy by dataset, as Li et al. print it",
    order=400,
    table=Shown(
        ("scoring_accuracy",),
        block={
            "studies": v.STUDIES,
            "profile": v.PROFILE,
            "n": v.N,
            "readout": v.READOUT_OF_MEANS,
            "cluster": v.CLUSTER,
        },
        caption="Correlations of scores with golden scores under conditions and orders of the prompt: Spearman's ρ and"
        " Pearson's r of the items that have a score, with {bootstrap[confidence]:.0%} intervals from leaving out"
        " {cluster}s. Golden scores are human (the mean of people's), labels (those that came with the dataset) or else"
        " the vote of a judge.",
        notes="The layout is that of Li et al. (2025), Table 3, which has no intervals. The table of differences on the"
        " same items shows whether two correlations differ.",
    ),
)
