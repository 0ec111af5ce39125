from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Data cards, table",
    category="Datasets",
    order=500,
    statistic=Statistic(
        question="What was judged?",
        read="sizes, score distributions, agreement of raters",
        reads=("items", "pairs"),
        derived=("golds",),
        block={
            "datasets": v.Key(
                "Texts | None",
                None,
                "Ids of the datasets to describe; null: those that studies use.",
                reruns="the data cards",
            )
        },
    ),
    table=Shown(
        caption="Size of each dataset, lengths of its responses, and how well its raters agree. Alpha is Krippendorff's"
        " alpha (ordinal) of all raters. One against the rest is Pearson's r of one rater with the mean of the others,"
        " averaged over raters. Both pool the criteria and have {bootstrap[confidence]:.0%} bootstrap intervals over"
        " groups.",
        notes="A rater is a place in an item's list of scores. Reference labels come from another judge; where one"
        " judge gave all of them, their agreement is that of this judge with itself. The CSV file also has a row for"
        " each criterion.",
    ),
)
