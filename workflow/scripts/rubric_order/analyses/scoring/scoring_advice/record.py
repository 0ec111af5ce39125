from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Advice on prompts, tested",
    order=410,
    statistic=Statistic(
        question="Does the advice of Li et al. help?",
        read="the difference for each judge, and the mean",
        cannot="whether an edit without meaning does as much",
        reads=("scoring_accuracy",),
        settings=("bootstrap/confidence",),
    ),
    table=Shown(
        block=v.SEVERAL_STUDIES | {"studies": v.PLAIN_STUDIES},
        caption="What the advice of Li et al. (2025) does to agreement with golden scores: descending order of the"
        " rubric, letters or Roman numerals as score IDs, and a reference answer with the full mark, each against the"
        " study's first condition and strategy on the same items. Rows of one judge have {bootstrap[confidence]:.0%}"
        " intervals from leaving out {cluster}s.",
        notes="Rows of all judges have the mean of a random-effects model with Hartung and Knapp's interval, which"
        " allows for correlated errors of judges. Higher is better for correlations and kappa, lower for the mean"
        " absolute error. * significant after Holm's adjustment. The table of scoring accuracy shows whether an edit"
        " without meaning does as much.",
    ),
)
