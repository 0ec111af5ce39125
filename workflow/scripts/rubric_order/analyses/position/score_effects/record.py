from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Effect on scores",
    order=30,
    statistic=Statistic(
        question="By how many points does the order move the mean score?",
        read="the mean score in the usual ordering minus the mean over all orderings; the largest gap between two"
        " orderings, beside the gap that chance makes",
        cannot="which position is preferred; effects that cancel over groups",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "score_effects", "equivalence/points"),
        block={
            "sign_changes": v.Key(
                "Resamples",
                1999,
                "Number of random draws in which whole clusters change their sign. The draws show what order effects on"
                " mean scores arise by chance.",
            )
        },
        methods="Effects on scores in points were estimated by least squares with an intercept for each item; in the"
        " test of any effect of the order, whole groups changed their signs at random.",
    ),
    table=Shown(
        ("score_effects", "order_tests"),
        block=v.EFFECTS,
        caption="By how many points the order of the score levels moves the mean score of the same items. Usual less"
        " balanced is the mean score under the usual ordering (1 to n) less that over all orderings of the strategy."
        " Ascending less descending is the mean score under 1 to n less that under n to 1.",
        notes="{bootstrap[confidence]:.0%} intervals use Student's t over {cluster}s. Largest gap: between the mean"
        " scores of two orderings, with the mean gap by chance in brackets. Column p tests whether the order moves the"
        " mean score at all (signs of {cluster}s' shifts changed {score_effects[sign_changes]} times); column p, usual,"
        " whether the usual ordering does. * means a p of at most 3% after Holm's adjustment for the tests that decide"
        " the judge's bias card; other tests have no mark. Effects that cancel over {cluster}s are not seen. A"
        " saturated judge gives one score nearly always. Strategies without one set of orderings for all items have the"
        " test alone. Datasets are pooled here and listed separately in the CSV file, which also has Holm's adjustment"
        " for the whole study.",
    ),
    figure=Shown(
        block={
            **v.strategy_rows(v.IN_EVERY_POSITION_OR_RECORDED),
            "dataset": v.DATASET.but(
                description="Dataset to show. `all` pools the items of all of the study's datasets."
            ),
            "readouts": v.READOUTS_OF_SCORES,
            "cluster": v.CLUSTER,
            **v.SIZES,
            "row_height_in": v.ROW,
            "columns": v.COLUMNS.but(3),
        },
        caption="Mean score of the same items under each ordering of the score levels, less the mean over all orderings"
        " of strategy {strategy}, in points, with {bootstrap[confidence]:.0%} intervals by Student's t over {cluster}s."
        " The point of the usual ordering is filled. Orderings are written as they stand in the prompt, first level"
        " first.",
        notes="Without an effect, one interval in twenty misses 0 at a confidence of 95%; the test of all orderings"
        " together is in table Effect on scores. A saturated judge gives one score nearly always, so points at 0 say"
        " nothing about the order.",
    ),
)
