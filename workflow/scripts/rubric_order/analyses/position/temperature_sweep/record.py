from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Temperature sweep",
    category="Sweeps",
    order=380,
    figure=Shown(
        ("position_selection", "human_agreement"),
        derived=("setting",),
        block=v.SWEEP,
        caption="Cramér's V of position selection and Pearson's r with human scores, by the judges' setting (axis:"
        " {label}), under strategy {strategy}: one row for each dataset, one line for each judge. Bars are"
        " {bootstrap[confidence]:.0%} intervals over {cluster}s, of a bootstrap for V, of a jackknife for r. The axis"
        " of r need not start at 0.",
        notes="After Xu et al. (2026), Figure 6.",
    ),
)
