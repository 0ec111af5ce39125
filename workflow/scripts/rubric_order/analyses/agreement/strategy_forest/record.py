from rubric_order import vocabulary as v
from rubric_order.base.readouts import Readout
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Strategies, figure",
    order=310,
    figure=Shown(
        ("human_agreement",),
        block={
            **v.SHARED,
            "n": v.N,
            "quantity": v.Key("Literal['pearson', 'spearman', 'kendall', 'kappa']", "pearson", "Measure of agreement."),
            "cluster": v.CLUSTER_OR_BOTH,
            "readouts": v.READOUTS.but([Readout.HARD.value], v.AVERAGED),
            **v.SIZES,
            "row_height_in": v.ROW.but(0.38),
            "columns": v.COLUMNS,
        },
        gone={
            "interval": "intervals are those of a jackknife over clusters; the BCa bootstrap left out the truth in up"
            " to 22% of studies"
        },
        caption="How well each strategy's mean scores agree with human scores. Each panel is a dataset, and each row a"
        " judge. Bars are {bootstrap[confidence]:.0%} jackknife intervals over the sample ({cluster}). If the sample is"
        " both, thin bars with caps are over groups, and thick bars over items one by one, as the paper draws them.",
        notes="Strategies read the same items, so their difference is known better than these intervals say; it is also"
        " one of averaging. Table Strategies compared has the differences, and the part due to the order. After Xu et"
        " al. (2026), Figure 8.",
    ),
)
