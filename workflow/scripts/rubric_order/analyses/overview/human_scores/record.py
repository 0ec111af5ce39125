from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Human scores, figure",
    category="Datasets",
    order=90,
    figure=Shown(
        ("datasets",),
        block={**v.SIZES, "panel_height_in": v.PANEL.but(1.6), "columns": v.COLUMNS.but(4), "names": v.NAMES},
        caption="How the human scores of each dataset and criterion are distributed, over all raters. Orange panels"
        " show reference labels that came from another judge. Green panels show levels that texts were written for.",
    ),
)
