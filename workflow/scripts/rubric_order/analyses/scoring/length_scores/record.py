from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Length and scores",
    order=720,
    statistic=Statistic(
        question="Do longer texts get higher scores?",
        read="the judge's correlation with length, minus the same correlation of people's scores",
        cannot="whether the judge prefers length, if people's scores are less reliable than the judge's",
        probes=SCORE_ORDER,
        reads=("items",),
        settings=("bootstrap/confidence",),
    ),
    table=Shown(
        block={"cluster": v.CLUSTER},
        caption="Correlation of a text's length (characters) with the mean score that the judge gives it, with"
        " {bootstrap[confidence]:.0%} intervals from leaving out {cluster}s. Longer texts are often better ones, so the"
        " correlation is no bias by itself. People is the same correlation with human scores.",
        notes="Difference is the judge's less people's, on rated items; p tests that there is none (* significant at 5%"
        " after Holm's adjustment for all judges, profiles, datasets and scales of the study). Noise in people's scores"
        " raises the difference. Few clusters: fewer than 30 {cluster}s; intervals are then somewhat too short.",
    ),
)
