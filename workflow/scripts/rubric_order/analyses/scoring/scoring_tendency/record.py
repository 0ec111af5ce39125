from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Scoring tendency",
    order=360,
    statistic=Statistic(
        question="Which scores are given?",
        read="counts of each score and of -1 (no score)",
        cannot="which items are scored wrongly",
        probes=SCORE_ORDER,
        reads=("items", "golden_scores"),
        settings=(),
        derived=("bases", "human_scales"),
    ),
    table=Shown(
        block=v.SCORING_ROWS,
        caption="How many items get each score under conditions and orders of the prompt (first reads), on the items"
        " that are read under all of them. None (-1 in the CSV file) counts answers that give no score.",
        notes="Constrained counts answers that gave a score only when nothing else was allowed. Rows of golden scores"
        " come first: human is the mean of people's scores, labels the mean of those that came with the dataset, both"
        " rounded, halves up. After Li et al. (2025), Equations 3 and 4 and Figure 6.",
    ),
    figure=Shown(
        block={
            "study": v.STUDY.but("scoring_bias"),
            "also": v.ALSO.but(
                description="Further studies whose rows are shown below. If several studies have the same row, that of"
                " the first study is shown."
            ),
            "profile": v.PROFILE,
            "dataset": v.DATASET,
            "n": v.N,
            **v.SIZES,
            "row_height_in": v.ROW,
            "columns": v.COLUMNS,
        },
        caption="Number of items that get each score, or none, under conditions and orders of the prompt, on the items"
        " that are read under all of them. The first rows are golden scores, rounded. The row after them is the one"
        " that all others are compared with. Rows of edits without meaning (neutral) show how much counts move anyway.",
        notes="Rows of further studies come after those of the first. After Li et al. (2025), Figure 6.",
    ),
)
